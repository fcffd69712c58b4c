/**
 * The contract of docs/onchain-provider.md, as the gateway's own adapter meets it: the sandbox and
 * the wallet, each on its own kind of chain, answer alike.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Address } from 'viem';
import { amount } from '../../src/domain/money';
import type {
  Checkout,
  CheckoutOrder,
  PayoutOrder,
  Provider,
} from '../../src/adapters/providers/port';
import { checkProvider, type ProviderUnderTest } from '../../src/rails/onchain-api/conformance';
import { describeWithChain, startChain } from '../support/wallet/chain';
import {
  buildCheckout,
  buildOrder,
  type CallbackReceiver,
  control,
  startCallbackReceiver,
  startSandboxWorld,
} from '../support/servers/sandbox';
import { createWalletDatabase } from '../support/servers/database';
import {
  createTestSigner,
  fillFloat,
  startTestWallet,
  testNetwork,
  WALLET_KEYS,
} from '../support/wallet/wallet';
import { waitThroughFaults } from '../support/wait-for';

const RECEIVER = '0x52908400098527886E0F7030069857D2E4169EE7';
const OTHER_RECEIVER = '0x8ba1f109551bD432803012645Ac136ddd64DBA72';

interface Implementation {
  /** Base URL of the API, and the key of test mode. */
  url: string;
  apiKey: string;
  provider: Provider;
  receiver: CallbackReceiver;
  /** Somebody pays this much to the checkout; it becomes final in time. */
  pay: (reference: string, amountText: string) => Promise<void>;
  /** Lets the chain go on. */
  advance: () => Promise<void>;
  stop: () => Promise<void>;
}

async function startSandboxImplementation(): Promise<Implementation> {
  const { sandbox, credentials, patient, receiver, stop } = await startSandboxWorld();
  return {
    url: sandbox.onchainUrl,
    apiKey: credentials.onchain_provider.test?.apiKey ?? '',
    provider: patient.get('onchain_provider', 'test'),
    receiver,
    pay: async (reference, amountText) => {
      const which = { provider: 'onchain_provider', mode: 'test', client_reference: reference };
      const status = await control(sandbox.url, 'checkouts/pay', { ...which, amount: amountText });
      expect(status).toBe(200);
    },
    advance: () => Promise.resolve(),
    stop,
  };
}

async function startWalletImplementation(): Promise<Implementation> {
  const [chain, database, receiver] = await Promise.all([
    startChain(),
    createWalletDatabase(),
    startCallbackReceiver(),
  ]);
  const signer = createTestSigner();
  await fillFloat(chain, signer.address);
  const { wallet, provider, stop } = await startTestWallet({
    ...{ networks: [testNetwork(chain)], signer, database, callbackBaseUrl: receiver.url },
  });
  const addressOf = async (reference: string): Promise<Address> => {
    const response = await fetch(`${wallet.url}/v1/checkouts/${reference}`, {
      headers: { authorization: `Bearer ${WALLET_KEYS.apiKey}` },
    });
    const { checkout } = (await response.json()) as {
      checkout: { deposit_address: { address: Address } };
    };
    return checkout.deposit_address.address;
  };
  return {
    ...{ url: wallet.url, apiKey: WALLET_KEYS.apiKey, provider, receiver },
    pay: async (reference, amountText) => {
      const units = BigInt(amountText.replace('.', '')) / 100n;
      const [, payer] = chain.accounts;
      await chain.mint(chain.tokens.USDC, payer!, units);
      const to = await addressOf(reference);
      await chain.transferToken(chain.tokens.USDC, payer!, to, units);
    },
    advance: () => chain.mine(),
    stop: async () => {
      await stop();
      await Promise.all([chain.stop(), database.drop(), receiver.stop()]);
    },
  };
}

function transferOrder(changes: Partial<PayoutOrder> = {}): PayoutOrder {
  const destination = { type: 'crypto_address' as const, value: RECEIVER, memo: null };
  return buildOrder('onchain_provider', {
    ...{ currency: 'USDC', network: 'ethereum', destination },
    ...changes,
  });
}

function checkoutOrder(changes: Partial<CheckoutOrder> = {}): CheckoutOrder {
  const onEthereum = { currency: 'USDC', network: 'ethereum' };
  return buildCheckout('onchain_provider', { ...onEthereum, ...changes });
}

function underTest({ url, apiKey }: Pick<Implementation, 'url' | 'apiKey'>): ProviderUnderTest {
  const amounts = { asset: 'USDC', network: 'ethereum', amount: '5.00000000' };
  return { url, apiKey, ...amounts, address: RECEIVER, waitMs: 60_000 };
}

const CONFLICT = {
  kind: 'unknown',
  reason: 'The provider has a different order under this reference.',
};

/** @param decimals of USDC */
function itKeepsTheContract(start: () => Promise<Implementation>, decimals: number): void {
  let world: Implementation;
  beforeAll(async () => {
    world = await start();
  });
  afterAll(() => world.stop());

  const findCheckout = async (reference: string): Promise<Checkout> => {
    const result = await world.provider.findCheckout(reference);
    if (result.kind !== 'found') throw new Error(JSON.stringify(result));
    return result.checkout;
  };
  const until = <T>(what: string, look: () => Promise<T | undefined>): Promise<T> =>
    waitThroughFaults(what, async () => {
      await world.advance();
      return look();
    });
  const paid = async (order: CheckoutOrder): Promise<Checkout> => {
    await world.provider.openCheckout(order);
    await world.pay(order.reference, order.amount);
    return until('the confirmation', async () => {
      const checkout = await findCheckout(order.reference);
      return checkout.transfers[0]?.status === 'confirmed' ? checkout : undefined;
    });
  };

  it('keeps the promises that any provider is tested for', async () => {
    const mining = setInterval(() => void world.advance().catch(() => undefined), 200);
    const results = await checkProvider(underTest(world));
    clearInterval(mining);
    expect(results.filter(({ failure }) => failure !== null)).toEqual([]);
    expect(results.length).toBeGreaterThan(8);
  });

  it('estimates the network fee in the asset of the transfer', async () => {
    const estimate = await world.provider.estimateNetworkFee('USDC', 'ethereum');
    const fee: unknown = expect.stringMatching(/^\d+\.\d{8}$/);
    expect(estimate).toEqual({ kind: 'estimate', fee, decimals });
  });

  it('sends once for twenty submissions at the same time, and calls back when it is final', async () => {
    const order = transferOrder();
    const results = await Promise.all(
      Array.from({ length: 20 }, () => world.provider.submitPayout(order)),
    );
    const ids = results.map((one) => (one.kind === 'accepted' ? one.transfer.providerId : one));
    expect(new Set(ids).size).toBe(1);
    const sent = await until('the transfer', async () => {
      const found = await world.provider.findPayout(order.reference);
      return found.kind === 'found' && found.transfer.status === 'sent'
        ? found.transfer
        : undefined;
    });
    expect(sent).toMatchObject({ amount: order.amount, currency: 'USDC', failureReason: null });
    expect(sent.txHash).toMatch(/^0x[0-9a-f]{64}$/);
    const hint = await until('the callback', async () =>
      world.receiver.received.find(({ rawBody }) => rawBody.includes(order.reference)),
    );
    expect(hint.path).toBe('/provider-callbacks/onchain_provider/test');
    expect(world.provider.readCallback(hint.headers, hint.rawBody)).toEqual({
      object: 'payout',
      reference: order.reference,
    });
    expect(world.provider.readCallback(hint.headers, Buffer.from('{}'))).toBeNull();
  });

  it.each<[string, Partial<PayoutOrder>]>([
    ['amount', { amount: amount('10.6') }],
    ['currency', { currency: 'USDT' }],
    ['destination', { destination: { type: 'crypto_address', value: OTHER_RECEIVER, memo: null } }],
  ])('leaves in doubt the same reference with another %s', async (_what, change) => {
    const order = transferOrder();
    expect((await world.provider.submitPayout(order)).kind).toBe('accepted');
    expect(await world.provider.submitPayout({ ...order, ...change })).toEqual(CONFLICT);
    const found = await world.provider.findPayout(order.reference);
    expect(found).toMatchObject({
      kind: 'found',
      transfer: { amount: order.amount, currency: order.currency },
    });
  });

  it('refuses a currency that it does not send, and does not find what it never took', async () => {
    const order = transferOrder({ currency: 'DOGE' });
    expect((await world.provider.submitPayout(order)).kind).toBe('refused');
    expect((await world.provider.submitPayout(order)).kind).toBe('refused');
    expect(await world.provider.findPayout('po_never')).toEqual({ kind: 'not_found' });
  });

  it('refuses an amount with more decimals than the asset has, in a transfer and in a checkout', async () => {
    // USDC has 6 decimals on a chain; the sandbox knows the last four as a magic code.
    const tooFine = { amount: amount('10.00009101') };
    const reason = expect.stringContaining('more decimals') as string;
    const order = transferOrder(tooFine);
    for (let times = 0; times < 2; times += 1) {
      const refused = await world.provider.submitPayout(order);
      expect(refused).toMatchObject({ kind: 'refused', reason });
    }
    const opened = await world.provider.openCheckout(checkoutOrder(tooFine));
    expect(opened).toMatchObject({ kind: 'refused', reason });
  });

  it('opens one checkout for a reference, and knows a different order', async () => {
    const order = checkoutOrder();
    const results = await Promise.all([1, 2, 3].map(() => world.provider.openCheckout(order)));
    const ids = results.map((one) => (one.kind === 'found' ? one.checkout.providerId : one));
    expect(new Set(ids).size).toBe(1);
    const other = { ...order, amount: amount('26') };
    expect(await world.provider.openCheckout(other)).toEqual(CONFLICT);
    expect(await findCheckout(order.reference)).toMatchObject({
      ...{ amount: '25.00000000', currency: 'USDC', network: 'ethereum' },
      ...{ state: 'open', onHold: false, transfers: [], refunds: [], failureReason: null },
    });
    const refused = checkoutOrder({ currency: 'DOGE' });
    expect((await world.provider.openCheckout(refused)).kind).toBe('refused');
  });

  it('confirms what was paid, under one id, and calls back', async () => {
    const order = checkoutOrder();
    const checkout = await paid(order);
    expect(checkout).toMatchObject({ state: 'started', amount: order.amount });
    const [transfer] = checkout.transfers;
    expect(checkout.transfers).toHaveLength(1);
    expect(transfer).toMatchObject({ amount: order.amount });
    expect(transfer!.confirmedAt!.getTime()).toBeGreaterThanOrEqual(transfer!.seenAt.getTime());
    await until('the callback', async () =>
      world.receiver.received.find(({ rawBody }) => rawBody.includes(order.reference)),
    );
    expect((await findCheckout(order.reference)).transfers).toEqual(checkout.transfers);
  });

  it('cancels what nobody has paid, and only that', async () => {
    const order = checkoutOrder();
    await world.provider.openCheckout(order);
    for (let times = 0; times < 2; times += 1) {
      const result = await world.provider.cancelCheckout(order.reference);
      expect(result).toMatchObject({ kind: 'found', checkout: { state: 'cancelled' } });
    }
    const { reference } = await paid(checkoutOrder());
    const late = await world.provider.cancelCheckout(reference);
    expect(late).toMatchObject({ kind: 'found', checkout: { state: 'started' } });
  });

  it('refuses a decision about no hold, and a refund: the chain does not say who paid', async () => {
    const { reference } = await paid(checkoutOrder());
    expect((await world.provider.releaseHold(reference, 'release')).kind).toBe('refused');
    const refund = await world.provider.refundCheckout(reference, 're_1', amount('5'));
    expect(refund.kind).toBe('refused');
  });

  it.each(['listPayouts', 'listCheckouts'] as const)(
    'lists every change once, the oldest first (%s)',
    async (list) => {
      const references: string[] = [];
      const times: number[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<Provider[typeof list]>> = await world.provider[list]({
          changedFrom: null,
          cursor,
        });
        if (page.kind !== 'page') throw new Error(page.reason);
        references.push(...page.entries.map(({ entry }) => entry.reference));
        times.push(...page.entries.map(({ changedAt }) => changedAt.getTime()));
        cursor = page.cursor;
      } while (cursor !== null);
      expect(references.length).toBeGreaterThan(2);
      expect(new Set(references).size).toBe(references.length);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      const later = { changedFrom: new Date(Date.now() + 60_000), cursor: null };
      expect(await world.provider[list](later)).toMatchObject({ kind: 'page', entries: [] });
    },
  );
}

test('a provider that takes each submission for a new order is found out', async () => {
  let orders = 0;
  const server = createServer((request, response) => {
    request.resume();
    const isAllowed = request.headers.authorization === 'Bearer key';
    const isOrder = isAllowed && request.method === 'POST';
    response.statusCode = isOrder ? 201 : isAllowed ? 404 : 401;
    const error = { code: isAllowed ? 'transfer_not_found' : 'unauthorized', message: '' };
    orders += 1;
    response.end(JSON.stringify(isOrder ? { transfer: { id: String(orders) } } : { error }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}`;
  const results = await checkProvider(underTest({ url, apiKey: 'key' }));
  server.close();
  const kept = results.filter(({ failure }) => failure === null).map(({ promise }) => promise);
  expect(kept).toEqual(['a wrong key is answered with 401']);
  expect(results.find(({ promise }) => promise.includes('transfer, which'))?.failure).toContain(
    '[201,201,201,201,201]',
  );
});

describe('the sandbox as the on-chain provider', () => {
  // The magic codes are the last of 8 decimals.
  itKeepsTheContract(startSandboxImplementation, 8);
});

describeWithChain('the wallet as the on-chain provider', () => {
  itKeepsTheContract(startWalletImplementation, 6);
});
