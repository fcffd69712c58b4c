/** The same work on a large database and on an almost empty one. */
import { LocalCalls } from '../../../activities/local-calls';
import { randomBytes } from 'node:crypto';
import { createSecretBox } from '../../../src/platform/lib/secret-box';
import { reservePayout } from '../../../activities/payout/reserve';
import { connect } from '../../../src/db/connect';
import { claimKey } from '../../../src/db/idempotency';
import { storeEntries } from '../../../src/db/books/provider-statements';
import { amount } from '../../../src/domain/money';
import type { PayoutRequest } from '../../../src/domain/payout';
import { newId } from '../../../src/platform/lib/new-id';
import { connectProviders, makeCredentials } from '../../support/servers/sandbox';
import { clients, closedLoop } from '../load';
import type { Measured, Row, Side } from '../row';
import { idOf } from '../volume';
import { type Installation, startInstallation } from './reads';

/** Each has eight entries. */
const PAYOUTS = { full: 1_000_000, quick: 20_000 };
const FEW_PAYOUTS = 1_000;
const CONNECTIONS = 32;
const CLIENTS = 8;
const STATEMENT_PAGE = 100;

const notSmaller = { atLeast: 0.9 };

export const GROWTH_ROW: Row = {
  name: 'growth',
  description: '1,000,000 payouts and 8,000,000 entries; the same on 1,000 payouts',
  needsTemporal: false,
  figures: [
    { name: 'reads/s', ratio: notSmaller },
    { name: 'lists/s', ratio: notSmaller },
    { name: 'reservations/s', ratio: notSmaller },
    { name: 'statement entries/s', ratio: notSmaller },
  ],
  prepare: async ({ isQuick, log }) => {
    const count = PAYOUTS[isQuick ? 'quick' : 'full'];
    log(`growth: inserting ${count.toLocaleString('en')} payouts`);
    const large = await startInstallation(count);
    await prepareDatabase(large, count);
    const small = await startInstallation(FEW_PAYOUTS);
    await prepareDatabase(small, FEW_PAYOUTS);
    const [gateway, bare] = [sideOf(large, count), sideOf(small, FEW_PAYOUTS)];
    return {
      gateway,
      bare,
      stop: async () => {
        await Promise.all([gateway.stop(), bare.stop()]);
        await Promise.all([large.stop(), small.stop()]);
      },
    };
  },
};

function sideOf(
  { origin, keys, accountId, apiKeyId, database }: Installation,
  payouts: number,
): Side & { stop(): Promise<void> } {
  const db = connect({ url: database.appUrl, size: CLIENTS, applicationName: 'bench' });
  const addresses = { onchainUrl: origin, exchangePayUrl: origin };
  const providers = connectProviders(addresses, makeCredentials());
  const deps = {
    db,
    providers,
    consoleUrl: null,
    dashboardUrl: 'https://pay.example.com',
    screeningService: null,
    decimalsOf: () => Promise.resolve(null),
    localCalls: new LocalCalls([]),
    webhookDeliveryStarter: { start: () => undefined, lookFor: () => undefined },
    payoutWorkflows: { wake: () => Promise.resolve() },
    paymentWorkflows: { sendProviderUpdate: () => Promise.resolve({ kind: 'sent' } as const) },
    secretBox: createSecretBox('the sealing key of the bench', []),
  };
  const get = (ms: number, path: (n: number) => string) =>
    closedLoop({
      origin,
      connections: CONNECTIONS,
      ms,
      request: (n) => ({
        path: `/api/v1${path(n)}`,
        headers: { authorization: `Bearer ${keys[n % keys.length] ?? ''}` },
      }),
    });
  // A stride that visits all of them.
  const anyPayout = (n: number) => idOf('po', (n * 7_919) % payouts);
  return {
    measure: async (ms): Promise<Measured> => ({
      'reads/s': await get(ms / 2, (n) => `/payouts/${anyPayout(n)}`),
      'lists/s': await get(ms / 2, () => '/payouts'),
      'reservations/s': await clients(CLIENTS, ms / 2, async () => {
        const payoutId = newId('payout');
        const claim = { accountId, mode: 'test', key: payoutId } as const;
        const claimed = { apiKeyId, request: { ...REQUEST, reference: payoutId }, route: ROUTE };
        await claimKey(db, claim, { objectId: payoutId, bodyHashes: [randomBytes(32)], claimed });
        const result = await reservePayout(deps, { payoutId });
        if (result.kind !== 'reserved') throw new Error(JSON.stringify(result));
      }),
      'statement entries/s':
        STATEMENT_PAGE *
        (await clients(CLIENTS, ms / 2, async (n) => {
          // A page holds what changed at about the same time.
          const first = n * STATEMENT_PAGE;
          const entries = Array.from({ length: STATEMENT_PAGE }, (_, line) =>
            entryOf(idOf('po', (first + line) % payouts)),
          );
          await storeEntries(db, STATEMENT, new Date(), entries);
        })),
    }),
    stop: async () => {
      await Promise.all([db.destroy(), providers.close()]);
    },
  };
}

const REQUEST: Omit<PayoutRequest, 'reference'> = {
  amount: amount('0.01'),
  currency: 'USDT',
  destination: {
    type: 'crypto_address',
    value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    memo: null,
  },
  network: 'tron',
  provider: null,
  description: null,
  metadata: {},
};
const ROUTE = {
  provider: 'onchain_provider',
  network: 'tron',
  networkFee: amount('0.01'),
} as const;

const STATEMENT = { provider: 'onchain_provider', mode: 'test' } as const;

function entryOf(reference: string) {
  return {
    kind: 'payout' as const,
    reference,
    id: `otr_${reference}`,
    amount: amount('10'),
    currency: 'USDT',
    state: 'done' as const,
    held: false,
    changedAt: new Date(),
  };
}

/** A maximum for a day that is not reached, so that the usage is counted, and a copy of the provider's statement with an entry for each payout. */
async function prepareDatabase({ database }: Installation, payouts: number): Promise<void> {
  const owner = connect({ url: database.ownerUrl, size: 1, applicationName: 'bench' });
  await owner.query('UPDATE payout_policies SET daily_max = 1e12');
  await owner.transaction(async (tx) => {
    await tx.query('SET LOCAL statement_timeout = 0');
    await tx.query(
      `INSERT INTO provider_entries
       SELECT ?, ?, 'payout', id, 'otr_' || id, 10, 'USDT', 'done', false, now(), now()
         FROM (SELECT 'po_' || lpad(n::text, 26, '0') AS id FROM generate_series(0, ? - 1) n) p`,
      [STATEMENT.provider, STATEMENT.mode, payouts],
    );
  });
  await owner.query('VACUUM ANALYZE provider_entries');
  // What loading has left to write is not part of the measurement.
  await owner.query('CHECKPOINT');
  await owner.destroy();
}
