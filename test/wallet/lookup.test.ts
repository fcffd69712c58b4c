/** The look-up of transactions by nonce at nodes that tell only what is in their blocks. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { findTransactions } from '../../src/rails/wallet/sender/lookup';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { type NodeProxy, startNodeProxy } from '../support/wallet/node-proxy';
import { testNetwork } from '../support/wallet/wallet';

const BLOCKS = 400;

describeWithChain('a look-up of transactions in blocks', () => {
  let chain: TestChain;
  let node: NodeProxy;

  beforeAll(async () => {
    chain = await startChain();
    node = await startNodeProxy(chain.url, ({ method }) =>
      /^txpool_|BySenderAndNonce$/.test(method)
        ? { error: { code: -32601, message: 'the method does not exist' } }
        : null,
    );
  });
  afterAll(async () => {
    await node.stop();
    await chain.stop();
  });

  it('does not read the blocks again with the next poll when nothing was found', async () => {
    const sender = chain.accounts[3]!;
    const receiver = chain.accounts[4]!;
    await chain.send(receiver, 1n, sender);
    const hidden = await chain.blockNumber();
    await chain.mine(BLOCKS);
    const walletChain = createChain(testNetwork(chain, { rpcUrls: [node.url] }));
    const look = async (): Promise<number> => {
      node.asked.splice(0);
      const found = await findTransactions(walletChain, sender, [0n]);
      expect(found).toEqual([]);
      return node.asked.filter(({ method }) => method === 'eth_getBlockByNumber').length;
    };
    const honest = node.alter;
    // The node has pruned what the signer sent.
    node.alter = ({ method, params: [at] }, result) =>
      method === 'eth_getBlockByNumber' && Number(at) === hidden
        ? { ...(result as object), transactions: [] }
        : result;
    expect(await look()).toBeGreaterThan(BLOCKS);
    expect(await look()).toBe(0);
    node.alter = honest;
    await chain.send(receiver, 2n, sender);
    const [found] = await findTransactions(walletChain, sender, [1n]);
    expect(found).toMatchObject({ nonce: 1n, valueWei: 2n });
  });

  it('does not begin again at once when the node does not answer about all blocks', async () => {
    const sender = chain.accounts[6]!;
    await chain.send(chain.accounts[4]!, 1n, sender);
    await chain.mine(BLOCKS);
    const walletChain = createChain(testNetwork(chain, { rpcUrls: [node.url] }));
    const answer = node.answer;
    node.answer = (call) =>
      call.method === 'eth_getBlockByNumber' &&
      call.params[1] === true &&
      call.params[0] !== 'pending'
        ? { status: 429 }
        : answer(call);
    const asked = async (): Promise<number> => {
      node.asked.splice(0);
      await findTransactions(walletChain, sender, [0n]);
      return node.asked.filter(({ method }) => method === 'eth_getBlockByNumber').length;
    };
    expect(await asked()).toBeGreaterThan(1);
    // Requests that were under way when the node refused one still arrive.
    await sleep(1_000);
    expect(await asked()).toBe(0);
    node.answer = answer;
  });
});
