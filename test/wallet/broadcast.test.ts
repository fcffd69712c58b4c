/** Signed transactions go to every node: one that refuses, forgets or hangs holds up nothing. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Address } from 'viem';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import { createTestSigner, fillFloat, testNetwork } from '../support/wallet/wallet';
import { type PayoutsWorld, startPayoutsWorld } from './payouts-world';

type Behaviour = 'refuses' | 'forgets' | 'hangs';
interface Call {
  id: number;
  method: string;
}

const HASH = `0x${'ab'.repeat(32)}`;

/** A node that answers everything as the chain does, except for signed transactions. */
async function startNode(chain: TestChain, behaviour: Behaviour): Promise<Server> {
  const answer = ({ id }: Call): object =>
    behaviour === 'forgets'
      ? { jsonrpc: '2.0', id, result: HASH }
      : { jsonrpc: '2.0', id, error: { code: -32000, message: 'rejected by policy' } };
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const asked = JSON.parse(body) as Call | Call[];
      const [first] = [asked].flat();
      if (first?.method !== 'eth_sendRawTransaction') {
        const headers = { 'content-type': 'application/json' };
        const relayed = await fetch(chain.url, { method: 'POST', headers, body });
        response.end(await relayed.text());
      } else if (behaviour !== 'hangs') {
        response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describeWithChain('a broadcast', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let world: PayoutsWorld;
  let node: Server;
  let receiver: Address;

  beforeAll(async () => {
    chain = await startChain();
  });
  afterAll(() => chain.stop());
  beforeEach(async () => {
    database = await createWalletDatabase();
    receiver = createTestSigner().address;
  });
  afterEach(async () => {
    await world.wallet.stop();
    node.closeAllConnections();
    node.close();
    await database.drop();
  });

  it.each(['refuses', 'forgets', 'hangs'] as const)(
    'reaches the second node when the first one %s it',
    async (behaviour) => {
      const signer = createTestSigner();
      await fillFloat(chain, signer.address);
      node = await startNode(chain, behaviour);
      const { port } = node.address() as AddressInfo;
      const rpcUrls = [`http://127.0.0.1:${String(port)}`, chain.url];
      const network = testNetwork(chain, { rpcUrls, rpcTimeoutMs: 60_000 });
      world = await startPayoutsWorld(chain, receiver, { network, signer, database });
      await world.pay('po_1');
      expect(await world.ended('po_1')).toMatchObject({ status: 'sent' });
      expect(await world.received()).toBe(5_000_000n);
      await world.noAlarm('broadcast_refused');
    },
  );
});
