/**
 * What the rows about payouts, payments and deliveries drive: the gateway, and the bare limit that does
 * the same steps. Each has a database, a namespace, a sandbox and merchants of its own.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { Pool } from 'undici';
import { connect } from '../../src/db/connect';
import { withClient } from '../../src/db/provision';
import type { Db } from '../../src/db/transaction';
import { startSandbox } from '../../src/rails/sandbox/server';
import { createTestDatabase } from '../support/servers/database';
import { createNamespace, startGateway, type OwnGateway } from '../support/servers/gateway';
import { runAdmin } from '../support/servers/gateway-admin';
import { createMerchant, fund, type Merchant } from '../support/merchant/merchant';
import { buildPayout, randomKey } from '../support/merchant/merchant-client';
import { buildPayment } from '../support/payment/payment-steps';
import { control, makeCredentials } from '../support/servers/sandbox';
import { FLOW_SQL } from './bare/flow-activities';
import { startBareProgram } from './bare-program';

export type Kind = 'payout' | 'payment';

export interface Flows {
  db: Db;
  /** Null: refused with 503. */
  create(kind: Kind): Promise<string | null>;
  approve(payoutId: string): Promise<void>;
  pay(paymentId: string): Promise<void>;
  stop(): Promise<void>;
}

/** Its endpoints may use http. */
const MODE = 'test';
/** A key has at most 1,200 requests a minute. */
const MERCHANTS = 8;
const FUNDS = '1000000000';
/** From the provider's acceptance to the outcome. */
const SETTLE_MS = 50;

export interface GatewayFlows extends Flows {
  gateway: OwnGateway;
}

export interface GatewayFlowOptions {
  /** A signal approves the payouts (default); otherwise they are approved automatically after 2 s. */
  isReviewed?: boolean;
  /** Every merchant has an endpoint for each. */
  endpoints?: readonly string[];
  /** Instead of starting one; it is not stopped. */
  gateway?: OwnGateway;
  env?: Record<string, string>;
  /** The addresses of the API processes, used in turns; each ends in /api/v1. */
  baseUrls?: readonly string[];
}

export async function startGatewayFlows(options: GatewayFlowOptions = {}): Promise<GatewayFlows> {
  const { isReviewed = true, endpoints = [], env = {} } = options;
  const gateway =
    options.gateway ?? (await startGateway({ sandbox: { settleMs: SETTLE_MS }, env }));
  const merchants = await createMerchants(gateway.db, gateway.pepper, isReviewed);
  for (const { accountId } of endpoints.length === 0 ? [] : merchants) {
    for (const url of endpoints) {
      const endpoint = ['--account', accountId, '--mode', MODE, '--url', url];
      await runAdmin(gateway, 'webhooks', 'create', ...endpoint);
    }
  }
  const apis = (options.baseUrls ?? [gateway.baseUrl]).map(httpClient);
  let sent = 0;
  return {
    gateway,
    db: gateway.db,
    create: async (kind) => {
      const number = sent++;
      const merchant = merchants[number % MERCHANTS];
      const post = apis[number % apis.length];
      const body = kind === 'payout' ? buildPayout() : buildPayment();
      const headers = {
        authorization: `Bearer ${merchant?.testKey ?? ''}`,
        'idempotency-key': randomKey(),
      };
      return (await post?.post(`/api/v1/${kind}s`, body, headers)) ?? null;
    },
    ...messagesOf(gateway.temporal, gateway.sandbox.url),
    stop: async () => {
      await Promise.all(apis.map((api) => api.close()));
      if (options.gateway === undefined) await gateway.stop();
    },
  };
}

export interface BareFlows extends Flows {
  /** The id of its only process. */
  pid: number;
  /** Starts deliveries that carry the id. */
  deliver(url: string, count: number, id: string): Promise<void>;
}

export interface BareFlowOptions {
  /** Its workflow: with provider calls as local activities (default) or as regular ones. */
  payout?: 'leanPayout' | 'regularPayout';
  /** Each event of a payout is delivered there; nowhere by default. */
  eventsUrl?: string;
}

export async function startBareFlows({
  payout = 'leanPayout',
  eventsUrl = '',
}: BareFlowOptions = {}): Promise<BareFlows> {
  const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const namespace = `bare-${randomBytes(6).toString('hex')}`;
  const credentials = makeCredentials();
  const [database, connection, sandbox] = await Promise.all([
    createTestDatabase(),
    createNamespace(address, namespace),
    startSandbox({ settleMs: SETTLE_MS, credentials }),
  ]);
  await withClient(database.ownerUrl, (client) => client.query(FLOW_SQL));
  const db = connect({ url: database.ownerUrl, size: 4, applicationName: 'bench' });
  const merchants = await createMerchants(db, randomBytes(32).toString('hex'), true);
  const program = await startBareProgram('flows', {
    DATABASE_URL: database.ownerUrl,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    PROVIDER_URL: sandbox.onchainUrl,
    PROVIDER_KEY: credentials.onchain_provider[MODE]?.apiKey ?? '',
    BARE_PAYOUT: payout,
    EVENTS_URL: eventsUrl,
    PORT: '0',
  });
  const baseUrl = `http://127.0.0.1:${Number(program.ready)}`;
  sandbox.setCallbackBaseUrl(baseUrl);
  const api = httpClient(baseUrl);
  let sent = 0;
  return {
    db,
    pid: program.child.pid ?? 0,
    create: (kind) => {
      const accountId = merchants[sent++ % MERCHANTS]?.accountId;
      return api.post(`/${kind}s`, { accountId });
    },
    deliver: async (url, count, id) => {
      await api.post('/deliveries', { url, count, id });
    },
    ...messagesOf(new Client({ connection, namespace }), sandbox.url),
    stop: async () => {
      await Promise.all([api.close(), program.stop()]);
      await sandbox.stop();
      await Promise.all([connection.close(), db.destroy()]);
      await database.drop();
    },
  };
}

async function createMerchants(
  db: Db,
  pepper: string,
  rehearseReview: boolean,
): Promise<Merchant[]> {
  const merchants: Merchant[] = [];
  for (let number = 0; number < MERCHANTS; number++) {
    const merchant = await createMerchant(db, pepper, { rehearseReview });
    await fund(db, merchant.accountId, MODE, 'USDT', FUNDS);
    merchants.push(merchant);
  }
  // The day's maximum ends a long run.
  await db.query('UPDATE payout_policies SET daily_max = NULL');
  return merchants;
}

function messagesOf(temporal: Client, sandboxUrl: string) {
  return {
    approve: (id: string) => temporal.workflow.getHandle(id).signal('approve', { by: 'bench' }),
    pay: async (id: string) => {
      const provider = 'onchain_provider';
      const paid = { provider, mode: MODE, client_reference: id, amount: '100' };
      const status = await control(sandboxUrl, 'checkouts/pay', paid);
      if (status !== 200) throw new Error(`the payment ${id} was not paid: ${status}`);
    },
  };
}

const UNAVAILABLE = 503;

/** Kept-alive connections without a limit: the load decides how many requests are open. */
function httpClient(baseUrl: string) {
  const pool = new Pool(new URL(baseUrl).origin);
  return {
    post: async (path: string, body: object, headers: Record<string, string> = {}) => {
      const response = await pool.request({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      const text = await response.body.text();
      if (response.statusCode === UNAVAILABLE) return null;
      if (response.statusCode !== 201) throw new Error(`${path}: ${response.statusCode} ${text}`);
      return (JSON.parse(text) as { data: { id: string } }).data.id;
    },
    close: () => pool.destroy(),
  };
}

const POLL_MS = 50;

/** Waits until objects are completed; one query for all that wait. */
export class Completions {
  readonly #waiting = new Map<string, () => void>();
  #isPolling = false;

  constructor(
    readonly db: Db,
    readonly kind: Kind,
  ) {}

  /** Resolves when the object is completed. */
  of(id: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, resolve);
      if (this.#isPolling) return;
      this.#isPolling = true;
      this.#poll().catch(reject);
    });
  }

  async #poll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const done = await this.db.query<{ id: string }>(
        `SELECT id FROM ${this.kind}s WHERE id = ANY (?) AND status = 'completed'`,
        [[...this.#waiting.keys()]],
      );
      for (const { id } of done) {
        this.#waiting.get(id)?.();
        this.#waiting.delete(id);
      }
      await sleep(POLL_MS);
    }
    this.#isPolling = false;
  }
}

const AT_ONCE = 20;
/** A few lifecycles take longer than a short round. */
export const COUNTED_MS_MIN = 5_000;

export interface Lifecycles {
  perSecond: number;
  completed: number;
}

/**
 * Objects from POST to `completed`, a fixed number at a time. The first quarter of the time fills the
 * pipeline and is not counted; what is open at the end is completed before it returns.
 */
export async function runLifecycles(flows: Flows, kind: Kind, ms: number): Promise<Lifecycles> {
  const completions = new Completions(flows.db, kind);
  const countedMs = Math.max(ms, COUNTED_MS_MIN);
  const start = performance.now() + countedMs / 4;
  const end = start + countedMs;
  let counted = 0;
  let completed = 0;
  const oneAfterTheOther = async (): Promise<void> => {
    while (performance.now() < end) {
      const id = await flows.create(kind);
      if (id === null) {
        await sleep(100);
        continue;
      }
      if (kind === 'payout') await flows.approve(id);
      else await flows.pay(id);
      await completions.of(id);
      const now = performance.now();
      completed += 1;
      if (now >= start && now < end) counted += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, oneAfterTheOther));
  return { perSecond: (counted * 1_000) / countedMs, completed };
}
