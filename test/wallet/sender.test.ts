/** Payouts of the wallet on a real chain, ordered and read by the gateway's own adapter. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Address, Hex } from 'viem';
import { amount } from '../../src/domain/money';
import type { PayoutOrder, ProviderTransfer } from '../../src/adapters/providers/port';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import {
  createTestSigner,
  fillFloat,
  startTestWallet,
  testNetwork,
  type TestWallet,
} from '../support/wallet/wallet';
import { waitThroughFaults } from '../support/wait-for';

const RECEIVER: Address = '0x52908400098527886E0F7030069857D2E4169EE7';

function order(changes: Partial<PayoutOrder> = {}): PayoutOrder {
  return {
    reference: 'po_1',
    amount: amount('12.5'),
    currency: 'USDC',
    network: 'ethereum',
    destination: { type: 'crypto_address', value: RECEIVER, memo: null },
    ...changes,
  };
}

describeWithChain('payouts of the wallet', () => {
  let chain: TestChain;
  let database: WalletDatabase;
  let wallet: TestWallet;
  const signer = createTestSigner();
  const callbacks: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const gateway = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/provider-callbacks/onchain_provider/test') {
        callbacks.push({ headers: request.headers, body: Buffer.concat(chunks) });
      }
      response.end();
    });
  });

  beforeAll(async () => {
    [chain, database] = await Promise.all([startChain(), createWalletDatabase()]);
    await fillFloat(chain, signer.address);
    gateway.listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    const { port } = gateway.address() as AddressInfo;
    wallet = await startTestWallet({
      ...{ networks: [testNetwork(chain)], signer, database },
      callbackBaseUrl: `http://127.0.0.1:${String(port)}`,
    });
  });
  afterAll(async () => {
    await wallet.stop();
    await Promise.all([chain.stop(), database.drop()]);
    gateway.close();
  });

  const statusOf = async (reference: string): Promise<ProviderTransfer | undefined> => {
    const found = await wallet.provider.findPayout(reference);
    return found.kind === 'found' ? found.transfer : undefined;
  };
  const waitForEnd = (reference: string): Promise<ProviderTransfer> =>
    waitThroughFaults(`the end of ${reference}`, async () => {
      await chain.finalize();
      const transfer = await statusOf(reference);
      return transfer?.status === 'pending' ? undefined : transfer;
    });

  it('sends a token, stays pending until the block is final, and calls back', async () => {
    const before = await chain.balanceOf(chain.tokens.USDC, RECEIVER);
    const submitted = await wallet.provider.submitPayout(order());
    expect(submitted).toMatchObject({
      kind: 'accepted',
      transfer: { status: 'pending', reference: 'po_1', amount: '12.50000000', txHash: null },
    });
    const arrived = (expected: bigint): Promise<bigint> =>
      waitThroughFaults('the tokens', async () => {
        const units = (await chain.balanceOf(chain.tokens.USDC, RECEIVER)) - before;
        return units === expected ? units : undefined;
      });
    await arrived(12_500_000n);
    // Before the wallet sends the next one, it looks for what has become final.
    await wallet.provider.submitPayout(order({ reference: 'po_next' }));
    await arrived(25_000_000n);
    expect(await statusOf('po_1')).toMatchObject({ status: 'pending' });
    await chain.finalize();
    const transfer = await waitForEnd('po_1');
    expect(transfer).toMatchObject({ status: 'sent', failureReason: null });
    const receipt = await chain.rpc<{ status: Hex }>('eth_getTransactionReceipt', [
      transfer.txHash,
    ]);
    expect(receipt.status).toBe('0x1');
    // Both payouts are final by now, and their callbacks come in any order.
    await waitThroughFaults('the callback', () =>
      callbacks.find(({ headers, body }) => {
        const hint = wallet.provider.readCallback(headers, body);
        return hint?.object === 'payout' && hint.reference === 'po_1';
      }),
    );
  });

  it('answers a repeated order with the same transfer, and a different one with a conflict', async () => {
    const again = await wallet.provider.submitPayout(order());
    expect(again).toMatchObject({ kind: 'accepted', transfer: { status: 'sent' } });
    const other = await wallet.provider.submitPayout(order({ amount: amount('13') }));
    expect(other).toMatchObject({ kind: 'unknown', reason: expect.stringContaining('different') });
  });

  it('sends coins', async () => {
    const before = await chain.balanceOf(null, RECEIVER);
    await wallet.provider.submitPayout(
      order({ reference: 'po_coins', currency: 'ETH', amount: amount('0.25') }),
    );
    expect(await waitForEnd('po_coins')).toMatchObject({ status: 'sent' });
    expect((await chain.balanceOf(null, RECEIVER)) - before).toBe(25n * 10n ** 16n);
  });

  const refused: [string, Partial<PayoutOrder>][] = [
    ['an amount with more decimals than the token', { amount: amount('1.0000001') }],
    ['a currency that the network does not have', { currency: 'BTC' }],
    ['a network that is not configured', { network: 'base' }],
    ['the zero address', { destination: destination(`0x${'0'.repeat(40)}`) }],
    ['the wallet’s own address', { destination: destination(signer.address) }],
    ['an address with a wrong checksum', { destination: destination(RECEIVER.replace('E', 'e')) }],
  ];
  it.each(refused)('refuses %s, now and when it is asked again', async (what, changes) => {
    const reference = `po_${what.replace(/[^a-z]/g, '').slice(0, 40)}`;
    for (let time = 1; time <= 2; time++) {
      const result = await wallet.provider.submitPayout(order({ reference, ...changes }));
      expect(result).toMatchObject({ kind: 'refused' });
    }
    expect(await statusOf(reference)).toMatchObject({ status: 'failed' });
  });

  it('lists changes page by page, the oldest first', async () => {
    const all = await wallet.provider.listPayouts({ changedFrom: null, cursor: null });
    if (all.kind !== 'page') throw new Error(all.reason);
    const times = all.entries.map(({ changedAt }) => changedAt.getTime());
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(all.entries.map(({ entry }) => entry.reference)).toContain('po_coins');
    const half = times[Math.floor(times.length / 2)] ?? 0;
    const later = await wallet.provider.listPayouts({ changedFrom: new Date(half), cursor: null });
    if (later.kind !== 'page') throw new Error(later.reason);
    expect(later.entries).toHaveLength(times.filter((time) => time >= half).length);
  });

  it('estimates fees in the coin and, with a price, in a token', async () => {
    for (const currency of ['ETH', 'USDC']) {
      const estimate = await wallet.provider.estimateNetworkFee(currency, 'ethereum');
      expect(estimate).toMatchObject({ kind: 'estimate' });
      expect(Number((estimate as { fee: string }).fee)).toBeGreaterThan(0);
    }
    expect(await wallet.provider.estimateNetworkFee('DAI', 'ethereum')).toMatchObject({
      kind: 'unknown',
    });
  });

  it('reports what the hot wallet has, in coins and tokens', async () => {
    const answer = await wallet.provider.listWallets();
    if (answer.kind !== 'wallets') throw new Error(answer.reason);
    const own = { network: 'ethereum', address: signer.address.toLowerCase() };
    expect(answer.wallets).toContainEqual(
      expect.objectContaining({ ...own, asset: 'ETH', paysFees: true }),
    );
    const tokens = answer.wallets.filter(({ paysFees }) => !paysFees);
    expect(tokens.map(({ asset }) => asset)).toContain('USDC');
    for (const { balance } of answer.wallets) expect(balance).toMatch(/^\d+\.\d{8}$/);
  });

  it('says that a reference is unknown', async () => {
    expect(await wallet.provider.findPayout('po_none')).toEqual({ kind: 'not_found' });
  });
});

function destination(value: string): PayoutOrder['destination'] {
  return { type: 'crypto_address', value, memo: null };
}
