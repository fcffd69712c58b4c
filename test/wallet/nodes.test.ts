/** Nodes that hang: another node takes over, and other chains of the wallet do not notice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Address } from 'viem';
import { amount } from '../../src/domain/money';
import { Rpc } from '../../src/rails/wallet/chain/rpc';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { type NodeAnswer, startNodeProxy } from '../support/wallet/node-proxy';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import {
  createTestSigner,
  fillFloat,
  startTestWallet,
  testNetwork,
  type TestWallet,
} from '../support/wallet/wallet';
import { buildOrder, foundCheckout, pay, when } from './deposits-world';

/** A second way to a chain's node, in a process that can be stopped by SIGSTOP. */
const RELAY = `
  const { connect, createServer } = require('node:net');
  const server = createServer((client) => {
    const node = connect(Number(process.argv[1]), '127.0.0.1');
    for (const socket of [client, node]) socket.on('error', () => { client.destroy(); node.destroy(); });
    client.pipe(node).pipe(client);
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(String(server.address().port)));
`;

async function startRelay(chain: TestChain): Promise<{ process: ChildProcess; url: string }> {
  const { port } = new URL(chain.url);
  const relay = spawn(process.execPath, ['-e', RELAY, port], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [own] = (await once(relay.stdout, 'data')) as [Buffer];
  return { process: relay, url: `http://127.0.0.1:${own.toString()}` };
}

describeWithChain('a wallet whose nodes hang', () => {
  let chains: [TestChain, TestChain];
  let database: WalletDatabase;
  let wallet: TestWallet | undefined;
  const signer = createTestSigner();

  beforeAll(async () => {
    chains = await Promise.all([startChain(), startChain({ chainId: 31_338 })]);
    for (const chain of chains) {
      await fillFloat(chain, signer.address);
      await chain.finalize();
    }
    // One for all: a new one would give out the same addresses again.
    database = await createWalletDatabase();
  });
  afterEach(async () => {
    await wallet?.stop();
    wallet = undefined;
  });
  afterAll(() => Promise.all([database.drop(), ...chains.map((chain) => chain.stop())]));

  const open = async (network: string): Promise<{ reference: string; address: Address }> => {
    const order = buildOrder({ network, amount: amount('5') });
    const { reference } = foundCheckout(await wallet!.provider.openCheckout(order));
    const [row] = await wallet!.db.query<{ address: Address }>(
      'SELECT address FROM wallet.checkout WHERE client_reference = $1',
      [reference],
    );
    return { reference, address: row!.address };
  };
  const confirmed = (chain: TestChain, reference: string): Promise<true> =>
    when('the confirmed deposit', async () => {
      await chain.mine();
      const { transfers } = foundCheckout(await wallet!.provider.findCheckout(reference));
      return transfers[0]?.status === 'confirmed' ? true : null;
    });
  const sent = (chain: TestChain, reference: string): Promise<true> =>
    when('the payout', async () => {
      await chain.mine();
      const found = await wallet!.provider.findPayout(reference);
      return found.kind === 'found' && found.transfer.status === 'sent' ? true : null;
    });
  const submit = async (network: string, reference: string): Promise<void> => {
    const destination = {
      type: 'crypto_address',
      value: createTestSigner().address,
      memo: null,
    } as const;
    const order = { reference, amount: amount('2'), currency: 'USDC', network, destination };
    expect(await wallet!.provider.submitPayout(order)).toMatchObject({ kind: 'accepted' });
  };
  const openAlarms = async (): Promise<string[]> => {
    const rows = await wallet!.db.query<{ kind: string }>(
      'SELECT kind FROM wallet.alarm WHERE cleared_at IS NULL',
    );
    return rows.map(({ kind }) => kind);
  };

  it('asks the second node when the first one stops answering: deposits and payouts go on', async () => {
    const [chain] = chains;
    const relay = await startRelay(chain);
    // Two nodes must show a deposit, so a third one takes the place of the one that hangs.
    const rpcUrls = [relay.url, chain.url, `${chain.url}/?third`];
    const network = testNetwork(chain, { rpcUrls, rpcTimeoutMs: 500 });
    wallet = await startTestWallet({ networks: [network], signer, database });
    const first = await open('ethereum');
    await pay(chain, chain.tokens.USDC, first.address, 5_000_000n);
    await confirmed(chain, first.reference);

    relay.process.kill('SIGSTOP');
    const second = await open('ethereum');
    await pay(chain, chain.tokens.USDC, second.address, 5_000_000n);
    await submit('ethereum', 'po_failover');
    await confirmed(chain, second.reference);
    await sent(chain, 'po_failover');
    expect(await openAlarms()).toEqual([]);
    relay.process.kill('SIGKILL');
  });

  it('gets thousands of questions in batches, a few at a time and in their order', async () => {
    const [chain] = chains;
    const node = await startNodeProxy(chain.url, async ({ method, params }) => {
      // An answer takes a moment, so that requests meet.
      await sleep(20);
      return { result: method === 'eth_chainId' ? '0x1' : params[0] };
    });
    const calls = Array.from({ length: 3_001 }, (_, index) => ({
      method: 'eth_getBalance',
      params: [`0x${index.toString(16)}`],
    }));
    const rpc = new Rpc(1, [node.url]);
    const answers = await rpc.batches(calls).finally(() => node.stop());
    expect(answers).toEqual(calls.map(({ params: [result] }) => ({ result })));
    expect(node.mostAtOnce()).toBeLessThanOrEqual(4);
    // The chain is asked once; it is not a question of the batch.
    expect(node.calls.get('eth_getBalance')).toBe(3_001);
  });

  const refusal = (code: number, message: string): NodeAnswer => ({ error: { code, message } });
  it.each<[string, NodeAnswer]>([
    ['status 401', { status: 401 }],
    ['status 403', { status: 403 }],
    ['-32016', refusal(-32016, 'over rate limit')],
    ['-32007', refusal(-32007, '50/second request limit reached')],
    ['a limit of the day', refusal(-32000, 'daily request count exceeded')],
    ['429 in the body', refusal(429, 'slow down')],
    ['an empty object', { result: {} }],
    ['a method that it lacks', refusal(-32601, 'the method does not exist')],
    ['words that nobody knows', refusal(-32000, 'no luck today')],
  ])('asks the next node at once after %s', async (_what, answer) => {
    const [{ chainId, url }] = chains;
    const node = await startNodeProxy(url, ({ method }) =>
      method === 'eth_chainId' ? null : answer,
    );
    const rpc = new Rpc(chainId, [node.url, url]);
    const found = await rpc.call('eth_getBlockByNumber', ['0x0', false]).finally(() => node.stop());
    expect(found).toMatchObject({ number: '0x0' });
    expect(node.calls.get('eth_getBlockByNumber')).toBe(1);
  });

  it('asks a node for its chain again after a fault', async () => {
    const [{ chainId, url }, other] = chains;
    let target = url;
    let isDown = false;
    const node = await startNodeProxy(
      () => target,
      () => (isDown ? { status: 503 } : null),
    );
    const rpc = new Rpc(chainId, [node.url], { avoidMs: 0 });
    await rpc.call('eth_blockNumber');
    isDown = true;
    await expect(rpc.call('eth_blockNumber')).rejects.toThrow(/status 503/);
    isDown = false;
    target = other.url;
    await expect(rpc.call('eth_blockNumber').finally(() => node.stop())).rejects.toThrow(
      /serves the chain 31338/,
    );
  });

  it('does not read an answer that never ends', async () => {
    const [{ chainId, url }] = chains;
    const endless = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(1_048_576, ' ')));
      };
      response.on('drain', write);
      write();
    });
    await once(endless.listen(0, '127.0.0.1'), 'listening');
    const { port } = endless.address() as AddressInfo;
    const rpc = new Rpc(chainId, [`http://127.0.0.1:${String(port)}`, url]);
    expect(await rpc.call('eth_chainId')).toBe('0x7a69');
    endless.closeAllConnections();
    endless.close();
  });

  it('does not believe a node of another chain', async () => {
    const [{ chainId, url }, other] = chains;
    const wrong = new Rpc(chainId, [other.url]);
    await expect(wrong.call('eth_blockNumber')).rejects.toThrow(/serves the chain 31338/);
    expect(await new Rpc(chainId, [other.url, url]).call('eth_chainId')).toBe('0x7a69');
  });

  it('keeps one chain going while the only node of another hangs, which catches up afterwards', async () => {
    const [healthy, hanging] = chains;
    const networks = [
      testNetwork(healthy, { rpcTimeoutMs: 500 }),
      testNetwork(hanging, { name: 'base', rpcTimeoutMs: 500 }),
    ];
    wallet = await startTestWallet({ networks, signer, database });
    const late = await open('base');
    await pay(hanging, hanging.tokens.USDC, late.address, 5_000_000n);
    await confirmed(hanging, late.reference);
    const waiting = await open('base');
    await pay(hanging, hanging.tokens.USDC, waiting.address, 5_000_000n);
    await hanging.suspend();
    await submit('base', 'po_hanging');
    const { reference, address } = await open('ethereum');
    await pay(healthy, healthy.tokens.USDC, address, 5_000_000n);
    await submit('ethereum', 'po_healthy');
    await confirmed(healthy, reference);
    await sent(healthy, 'po_healthy');
    const alarms = await when('the alarm', async () => {
      const open = await openAlarms();
      return open.length > 0 ? open : null;
    });
    expect(alarms).toEqual(['chain_unavailable']);
    hanging.resume();
    await confirmed(hanging, waiting.reference);
    await sent(hanging, 'po_hanging');
  });
});
