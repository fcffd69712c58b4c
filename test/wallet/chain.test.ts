/** The local chain of the wallet's tests: what its helpers promise. */
import type { Hex } from 'viem';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';

describeWithChain('the local chain', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await startChain();
  });
  afterAll(() => chain.stop());

  const receipt = (hash: Hex) =>
    chain.rpc<{ status: Hex; logs: unknown[] } | null>('eth_getTransactionReceipt', [hash]);
  const statusOf = async (sending: Promise<Hex>) => (await receipt(await sending))?.status;

  it('moves coins and tokens, and safe and finalized follow the head', async () => {
    const [, payer, shop] = chain.accounts;
    await chain.mint(chain.tokens.USDC, payer!, 5_000_000n);
    await chain.transferToken(chain.tokens.USDC, payer!, shop!, 2_000_000n);
    expect(await chain.balanceOf(chain.tokens.USDC, shop!)).toBe(2_000_000n);
    const before = await chain.balanceOf(null, shop!);
    await chain.send(shop!, 7n, payer);
    expect((await chain.balanceOf(null, shop!)) - before).toBe(7n);
    const head = await chain.blockNumber();
    await chain.finalize();
    expect(await chain.blockNumber('finalized')).toBe(head);
    expect(await chain.blockNumber('safe')).toBe(head + 4);
  });

  it('has a token that keeps a fee, pauses and blocks, and one that returns false', async () => {
    const { USDT, FALSE } = chain.tokens;
    const [, payer, shop, third] = chain.accounts;
    await chain.mint(USDT, payer!, 1_000_000n);
    await chain.call('TetherLikeToken', USDT.address, 'setFee', [100n]);
    await chain.transferToken(USDT, payer!, shop!, 1_000n);
    expect(await chain.balanceOf(USDT, shop!)).toBe(990n);
    await chain.call('TetherLikeToken', USDT.address, 'setPaused', [true]);
    expect(await statusOf(chain.transferToken(USDT, payer!, third!, 1n))).toBe('0x0');
    await chain.call('TetherLikeToken', USDT.address, 'setPaused', [false]);
    await chain.call('TetherLikeToken', USDT.address, 'setBlackListed', [payer, true]);
    expect(await statusOf(chain.transferToken(USDT, payer!, third!, 1n))).toBe('0x0');

    await chain.mint(FALSE, payer!, 10n);
    const sent = await receipt(await chain.transferToken(FALSE, payer!, shop!, 10n));
    expect(sent).toMatchObject({ status: '0x1', logs: [] });
    expect(await chain.balanceOf(FALSE, payer!)).toBe(10n);
  });

  it('has a receiver that refuses coins, and a contract that forwards them', async () => {
    const { awkwardReceiver, forwarder, accounts } = chain;
    expect(await statusOf(chain.send(awkwardReceiver, 5n))).toBe('0x0');
    await chain.call('AwkwardReceiver', awkwardReceiver, 'setRefusing', [false]);
    await chain.call('Forwarder', forwarder, 'forward', [awkwardReceiver], { value: 5n });
    expect(await chain.balanceOf(null, awkwardReceiver)).toBe(5n);
    const twice = [accounts[3], accounts[3]];
    await chain.mint(chain.tokens.DAI, forwarder, 8n);
    const hash = await chain.call('Forwarder', forwarder, 'splitToken', [
      chain.tokens.DAI.address,
      twice,
      4n,
    ]);
    expect((await receipt(hash))?.logs).toHaveLength(2);
  });

  it('plays reorganizations, dropped transactions and a base fee', async () => {
    const [, payer, shop] = chain.accounts;
    const lost = await chain.send(shop!, 1n, payer);
    const kept = { from: payer, to: shop, value: '0x2' };
    await chain.reorg(1, [{ transaction: kept, block: 0 }]);
    expect(await receipt(lost)).toBeNull();
    const head = await chain.blockNumber();
    await chain.rollback(1);
    expect(await chain.blockNumber()).toBe(head - 1);

    await chain.setAutomine(false);
    const dropped = await chain.send(shop!, 3n, payer);
    await chain.drop(dropped);
    await chain.setNextBaseFee(9_000_000_000n);
    await chain.mine();
    await chain.setAutomine(true);
    expect(await receipt(dropped)).toBeNull();
    const block = await chain.rpc<{ baseFeePerGas: Hex }>('eth_getBlockByNumber', [
      'latest',
      false,
    ]);
    expect(BigInt(block.baseFeePerGas)).toBe(9_000_000_000n);
  });

  it('can be suspended: it accepts connections and answers after it is resumed', async () => {
    await chain.suspend();
    const signal = AbortSignal.timeout(200);
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';
    const headers = { 'content-type': 'application/json' };
    await expect(fetch(chain.url, { method: 'POST', headers, body, signal })).rejects.toMatchObject(
      { name: 'TimeoutError' },
    );
    chain.resume();
    expect(await chain.blockNumber()).toBeGreaterThan(0);
  });
});
