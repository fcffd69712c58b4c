/**
 * What the sandbox tests share: the two sides on real ports (sandbox and adapters), a real
 * receiver for callbacks, and keys made at run time.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { amount } from '../../../src/domain/money';
import type { Mode } from '../../../src/domain/mode';
import type { ProviderCode } from '../../../src/domain/provider-codes';
import type {
  CheckoutOrder,
  PayoutOrder,
  ProviderModeConfig,
} from '../../../src/adapters/providers/port';
import {
  createProviders,
  type ProviderConfig,
  type ProviderRegistry,
} from '../../../src/adapters/providers/registry';
import type { CredentialsTable } from '../../../src/rails/sandbox/config';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../src/rails/sandbox/server';

export const PATIENT_MS = 8_000;
/** For calls that hang on purpose: as short as a busy machine allows. */
export const IMPATIENT_MS = 1_000;

export function makeCredentials(): CredentialsTable {
  const pair = (): { apiKey: string; callbackSecret: string } => ({
    apiKey: randomBytes(24).toString('hex'),
    callbackSecret: randomBytes(24).toString('hex'),
  });
  return {
    onchain_provider: { test: pair(), live: pair() },
    exchange_pay: { test: pair(), live: pair() },
  };
}

export function connectProviders(
  sandbox: Pick<Sandbox, 'onchainUrl' | 'exchangePayUrl'>,
  credentials: CredentialsTable,
  timeoutMs = PATIENT_MS,
): ProviderRegistry {
  const connect = (code: ProviderCode, mode: Mode): ProviderModeConfig | null => {
    const own = credentials[code][mode];
    const baseUrl = code === 'onchain_provider' ? sandbox.onchainUrl : sandbox.exchangePayUrl;
    return own === null ? null : { ...own, baseUrl, timeoutMs };
  };
  const config: ProviderConfig = {
    onchain_provider: {
      test: connect('onchain_provider', 'test'),
      live: connect('onchain_provider', 'live'),
    },
    exchange_pay: { test: connect('exchange_pay', 'test'), live: connect('exchange_pay', 'live') },
  };
  return createProviders(config);
}

export interface SandboxWorld {
  sandbox: Sandbox;
  credentials: CredentialsTable;
  patient: ProviderRegistry;
  impatient: ProviderRegistry;
  receiver: CallbackReceiver;
  stop(): Promise<void>;
}

export async function startSandboxWorld(
  options: Omit<Partial<SandboxOptions>, 'credentials'> = {},
): Promise<SandboxWorld> {
  const credentials = makeCredentials();
  const receiver = await startCallbackReceiver();
  const sandbox = await startSandbox({
    callbackBaseUrl: receiver.url,
    settleMs: 50,
    slowMs: 300,
    callbackRetryMs: [50, 50, 50],
    ...options,
    credentials,
  });
  const patient = connectProviders(sandbox, credentials);
  const impatient = connectProviders(sandbox, credentials, IMPATIENT_MS);
  return {
    sandbox,
    credentials,
    patient,
    impatient,
    receiver,
    stop: async () => {
      await Promise.all([patient.close(), impatient.close()]);
      await sandbox.stop();
      await receiver.stop();
    },
  };
}

export interface ReceivedCallback {
  path: string;
  headers: IncomingHttpHeaders;
  rawBody: Buffer;
}

export interface CallbackReceiver {
  url: string;
  received: ReceivedCallback[];
  /** Answers to give before 200 is given to everything. */
  answersBefore200: number[];
  stop(): Promise<void>;
}

export async function startCallbackReceiver(): Promise<CallbackReceiver> {
  const received: ReceivedCallback[] = [];
  const answersBefore200: number[] = [];
  const server = await startHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const rawBody = Buffer.concat(chunks);
      received.push({ path: request.url ?? '', headers: request.headers, rawBody });
      response.writeHead(answersBefore200.shift() ?? 200).end();
    });
  });
  return { ...server, received, answersBefore200 };
}

export async function startHttpServer(
  listener: RequestListener,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export function newReference(): string {
  return `po_${randomBytes(12).toString('hex')}`;
}

/** An order that the provider would simply send. */
export function buildOrder(code: ProviderCode, overrides: Partial<PayoutOrder> = {}): PayoutOrder {
  const onchain = code === 'onchain_provider';
  return {
    reference: newReference(),
    amount: amount('10.5'),
    currency: 'USDT',
    network: onchain ? 'tron' : null,
    destination: onchain
      ? { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', memo: null }
      : { type: 'exchange_id', value: '123456789', memo: null },
    ...overrides,
  };
}

/** A checkout that lives an hour and plays nothing by itself. */
export function buildCheckout(
  code: ProviderCode,
  overrides: Partial<CheckoutOrder> = {},
): CheckoutOrder {
  return {
    reference: `pay_${randomBytes(12).toString('hex')}`,
    amount: amount('25'),
    currency: 'USDT',
    network: code === 'onchain_provider' ? 'tron' : null,
    expiresAt: new Date(Date.now() + 3_600_000),
    successUrl: 'https://shop.example/thanks?order=7',
    cancelUrl: 'https://shop.example/cart',
    description: 'Order 7',
    scenario: null,
    ...overrides,
  };
}

export interface CheckoutEntry {
  provider: string;
  mode: string;
  client_reference: string;
  id: string;
  state: string;
  on_hold: boolean;
  scenario: string | null;
  amount: string;
  pay_to: string;
  pay_to_memo: string | null;
  transfers: {
    id: string;
    amount: string;
    status: string;
    seen_at: string;
    confirmed_at: string | null;
  }[];
  refunds: { id: string; refund_reference: string; amount: string }[];
  planned: { due: string; step: string }[];
  version: number;
  acknowledged_version: number;
}

export async function readCheckoutEntry(
  url: string,
  reference: string,
): Promise<CheckoutEntry | undefined> {
  const response = await fetch(`${url}/sandbox/book`);
  const { checkouts } = (await response.json()) as { checkouts: CheckoutEntry[] };
  return checkouts.find((one) => one.client_reference === reference);
}

export interface BookEntry {
  provider: string;
  mode: string;
  client_reference: string;
  status: string;
  scenario: string;
  amount: string;
  currency: string;
  network: string | null;
  beneficiary?: unknown;
  tx_hash: string | null;
  submissions: number;
  times_sent: number;
  acknowledged_status: string | null;
}

export async function readBook(
  url: string,
  query = '',
): Promise<{ transfers: BookEntry[]; unaccepted: { client_reference: string }[] }> {
  const response = await fetch(`${url}/sandbox/book${query}`);
  const { transfers, unaccepted } = (await response.json()) as Awaited<ReturnType<typeof readBook>>;
  return { transfers, unaccepted };
}

export async function readBookEntry(
  url: string,
  reference: string,
): Promise<BookEntry | undefined> {
  const { transfers } = await readBook(url);
  return transfers.find((one) => one.client_reference === reference);
}

export async function control(
  url: string,
  path: string,
  body: Record<string, unknown>,
): Promise<number> {
  const response = await fetch(`${url}/sandbox/control/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Null: the provider answers again. */
export type Outage = 'answer_429' | 'answer_503' | 'hang' | 'lose_answer' | 'refuse' | null;

export async function setOutage(
  { sandbox }: { sandbox: { url: string } },
  provider: ProviderCode,
  mode: Mode,
  kind: Outage,
): Promise<void> {
  const status = await control(sandbox.url, 'outage', { provider, mode, kind });
  if (status !== 200) throw new Error(`the outage was answered with ${status}`);
}
