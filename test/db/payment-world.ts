/**
 * Payments over a real database and the sandbox over HTTP, without workflows: the test itself calls
 * the activities, in any order, and says which of their calls go wrong.
 */
import { createSecretBox } from '../../src/platform/lib/secret-box';
import { LocalCalls } from '../../activities/local-calls';
import type { Deps } from '../../activities/deps';
import { connect } from '../../src/db/connect';
import type { Db } from '../../src/db/transaction';
import type { Mode } from '../../src/domain/mode';
import { amount, ZERO } from '../../src/domain/money';
import type { ProviderCode } from '../../src/domain/provider-codes';
import { newId } from '../../src/platform/lib/new-id';
import type { Provider } from '../../src/adapters/providers/port';
import { createNetworkFees } from '../../src/kit/service/network-fees';
import { startSandbox } from '../../src/rails/sandbox/server';
import { connectProviders, control, makeCredentials } from '../support/servers/sandbox';
import { compose, createTestDatabase } from '../support/servers/database';

/** Nobody subscribes to webhooks here. */
const localCalls = new LocalCalls([]);
const nobody = (): void => undefined;
const webhookDeliveryStarter = { start: nobody, lookFor: nobody };

export interface PaymentWorld extends Deps {
  db: Db;
  sandboxUrl: string;
  stop: () => Promise<void>;
}

export async function startPaymentWorld(): Promise<PaymentWorld> {
  const credentials = makeCredentials();
  const database = await createTestDatabase();
  // With the owner's rights: tests move the end of the window, too.
  const db = connect({ url: database.ownerUrl, size: 6, applicationName: 'test' });
  const sandbox = await startSandbox({ settleMs: 3_600_000, credentials });
  const providers = connectProviders(sandbox, credentials);
  const stop = async (): Promise<void> => {
    await providers.close();
    await sandbox.stop();
    await db.destroy();
    await database.drop();
  };
  const parts = {
    webhookDeliveryStarter,
    payoutWorkflows,
    paymentWorkflows,
    consoleUrl: null,
    dashboardUrl: 'https://pay.example.com',
    localCalls,
    screeningService: null,
    decimalsOf: createNetworkFees(providers).decimals,
    secretBox: createSecretBox('the sealing key of the tests', []),
  };
  return { ...parts, db, providers, sandboxUrl: sandbox.url, stop };
}

/** No payout of these tests waits for a payment. */
const payoutWorkflows = { wake: () => Promise.resolve() };
/** And none is of a link. */
const paymentWorkflows = { sendProviderUpdate: () => Promise.resolve({ kind: 'sent' } as const) };

export interface OpenedPayment {
  id: string;
  accountId: string;
  expiresAt: Date;
}

/** Where a payment is: the provider knows who paid, unless it is the chain. */
export interface PaymentPlace {
  provider: ProviderCode;
  network: string | null;
  mode: Mode;
}

const KNOWS_WHO_PAID: PaymentPlace = { provider: 'exchange_pay', network: null, mode: 'test' };
export const ON_CHAIN: PaymentPlace = {
  provider: 'onchain_provider',
  network: 'tron',
  mode: 'live',
};

/** 100 USDT with a fee of 1 percent, of a merchant of its own, whose window is an hour. */
export async function openPayment(
  { db, providers }: PaymentWorld,
  { provider, network, mode } = KNOWS_WHO_PAID,
): Promise<OpenedPayment> {
  const id = newId('payment');
  const accountId = newId('account');
  const expiresAt = new Date(Date.now() + 3_600_000);
  await db.query('INSERT INTO accounts (id, name) VALUES (?, ?)', [accountId, accountId]);
  const opened = await providers.get(provider, mode).openCheckout({
    reference: id,
    amount: amount('100'),
    currency: 'USDT',
    network,
    expiresAt,
    successUrl: null,
    cancelUrl: null,
    description: null,
    scenario: null,
  });
  if (opened.kind !== 'found') throw new Error(JSON.stringify(opened));
  await db.query(
    compose('payments').insert({
      id,
      account_id: accountId,
      mode,
      reference: id,
      status: 'created',
      provider,
      amount: '100',
      currency: 'USDT',
      network,
      fee_terms: { percentage: '1.0000', fixedAmount: ZERO, minFee: null, maxFee: null },
      checkout_url: opened.checkout.checkoutUrl,
      api_key_id: 'key_tests',
      provider_checkout_id: opened.checkout.providerId,
      expires_at: expiresAt,
    }),
  );
  await db.query(
    `INSERT INTO events (id, account_id, mode, type, object_id, sequence, body)
     VALUES (?, ?, ?, 'payment.created', ?, 1, ?)`,
    [newId('event'), accountId, mode, id, Buffer.from('{"data":{"status":"created"}}')],
  );
  return { id, accountId, expiresAt };
}

/** @returns the sandbox's answer: 409 when that is not possible there now, and changes nothing */
export async function atProvider(
  { sandboxUrl }: PaymentWorld,
  id: string,
  verb: string,
  members: Record<string, unknown> = {},
  { provider, mode } = KNOWS_WHO_PAID,
): Promise<number> {
  const key = { provider, mode, client_reference: id };
  return control(sandboxUrl, `checkouts/${verb}`, { ...key, ...members });
}

export type Wrap = <T>(call: () => Promise<T>) => Promise<T>;

export interface Faults {
  /** Around each call that tells the provider something. */
  tell?: Wrap;
  /** Around each call that asks it how things stand. */
  read?: Wrap;
  /** Around each transaction. */
  commit?: Wrap;
}

const asItIs: Wrap = (call) => call();

export function withFaults(
  { db, providers }: PaymentWorld,
  { tell = asItIs, read = asItIs, commit = asItIs }: Faults,
): Deps {
  const real = providers.get(KNOWS_WHO_PAID.provider, 'test');
  const provider: Provider = {
    ...real,
    findCheckout: (...args) => read(() => real.findCheckout(...args)),
    cancelCheckout: (...args) => tell(() => real.cancelCheckout(...args)),
    releaseHold: (...args) => tell(() => real.releaseHold(...args)),
    refundCheckout: (...args) => tell(() => real.refundCheckout(...args)),
  };
  const wrapped = new Proxy(db, {
    get: (target, name: keyof Db) =>
      name === 'transaction'
        ? (work: Parameters<Db['transaction']>[0]) => commit(() => target.transaction(work))
        : target[name].bind(target),
  });
  const parts = {
    webhookDeliveryStarter,
    payoutWorkflows,
    paymentWorkflows,
    consoleUrl: null,
    dashboardUrl: 'https://pay.example.com',
    localCalls,
    screeningService: null,
    decimalsOf: createNetworkFees(providers).decimals,
    secretBox: createSecretBox('the sealing key of the tests', []),
  };
  return { db: wrapped, providers: { ...providers, get: () => provider }, ...parts };
}

const UNKNOWN = { kind: 'unknown', reason: 'No answer.' } as never;

/** The call does not arrive. */
export const lost: Wrap = () => Promise.resolve(UNKNOWN);

/** The call arrives, and what it is answered does not. */
export const answerLost: Wrap = async (call) => {
  await call();
  return UNKNOWN;
};
