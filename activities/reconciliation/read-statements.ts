/**
 * Copies the changes in a provider's statements, so that they can be compared with the ledger. It
 * continues where the last reading ended; the next run retries a provider that did not answer.
 */
import {
  databaseTime,
  findChangedUntil,
  noteReading,
  storeEntries,
  voidVanished,
  type StatementKey,
  type ProviderEntry,
} from '../../src/db/books/provider-statements';
import type { Db } from '../../src/db/transaction';
import { MODES } from '../../src/domain/mode';
import type {
  Checkout,
  Limited,
  Provider,
  ProviderTransfer,
  StatementPage,
  Unknown,
} from '../../src/adapters/providers/port';
import type { ProviderRegistry } from '../../src/adapters/providers/registry';
import type { StatementPosition, StatementReading } from '../../workflows/messages';

export interface ReconciliationDeps {
  db: Db;
  providers: ProviderRegistry;
}

/**
 * This period is read again each time, because a provider may add entries to its statement a little
 * late.
 */
const OVERLAP_MS = 10 * 60 * 1000;

/** The limit of one activity, so that even a slow provider does not exceed its timeout. */
const PAGES = 20;

/** All statements of the enabled providers. */
export function listStatements({ providers }: ReconciliationDeps): StatementKey[] {
  return MODES.flatMap((mode) =>
    providers
      .list(mode)
      .flatMap(({ code, capabilities }) => [
        ...(capabilities.pay_out ? [{ provider: code, mode, kind: 'payouts' } as const] : []),
        ...(capabilities.pay_in ? [{ provider: code, mode, kind: 'payments' } as const] : []),
      ]),
  );
}

/** @param position where the previous activity stopped; null at the start of a reading */
export async function readStatement(
  { db, providers }: ReconciliationDeps,
  key: StatementKey,
  position: StatementPosition | null,
): Promise<StatementReading> {
  const provider = providers.list(key.mode).find(({ code }) => code === key.provider);
  if (provider === undefined) return { kind: 'trouble', reason: 'The provider is not enabled.' };
  const { begunAt, changedFrom, ...start } = position ?? (await begin(db, key));
  let { cursor } = start;
  for (let pages = 0; pages < PAGES; pages += 1) {
    const readAt = await databaseTime(db);
    const query = { changedFrom: changedFrom === null ? null : new Date(changedFrom), cursor };
    const page = await readPage(provider, key.kind, query);
    if (page.kind !== 'page') {
      await noteReading(db, key, { changedUntil: null, readAt: null, trouble: page.reason });
      return page.kind === 'limited'
        ? { ...page, place: { cursor, begunAt, changedFrom } }
        : { kind: 'trouble', reason: page.reason };
    }
    await store(db, key, readAt, { ...page, begunAt: new Date(begunAt) });
    if (page.cursor === null) return { kind: 'read' };
    cursor = page.cursor;
  }
  return { kind: 'more', place: { cursor, begunAt, changedFrom } };
}

async function begin(db: Db, key: StatementKey): Promise<StatementPosition> {
  const changedUntil = await findChangedUntil(db, key);
  const changedFrom =
    changedUntil === null ? null : new Date(changedUntil.getTime() - OVERLAP_MS).toISOString();
  return { cursor: null, begunAt: (await databaseTime(db)).toISOString(), changedFrom };
}

/** A page in the form of the copy. */
interface Page {
  entries: ProviderEntry[];
  /** The checkouts whose transfers and refunds are all in `entries`. */
  checkouts: string[];
  changedUntil: Date | null;
  cursor: string | null;
}

async function readPage(
  provider: Provider,
  kind: StatementKey['kind'],
  query: Parameters<Provider['listPayouts']>[0],
): Promise<({ kind: 'page' } & Page) | Limited | Unknown> {
  if (kind === 'payouts') {
    const page = await provider.listPayouts(query);
    return page.kind === 'page' ? { ...pageOf(page, payoutEntries), checkouts: [] } : page;
  }
  const page = await provider.listCheckouts(query);
  if (page.kind !== 'page') return page;
  const checkouts = page.entries.map(({ entry }) => entry.reference);
  return { ...pageOf(page, checkoutEntries), checkouts };
}

function pageOf<Entry>(
  { entries, changedUntil, cursor }: StatementPage<Entry> & { kind: 'page' },
  toEntries: (entry: Entry, changedAt: Date) => ProviderEntry[],
) {
  return {
    kind: 'page' as const,
    entries: entries.flatMap(({ entry, changedAt }) => toEntries(entry, changedAt)),
    changedUntil,
    cursor,
  };
}

async function store(
  db: Db,
  key: StatementKey,
  readAt: Date,
  { entries, checkouts, changedUntil, cursor, begunAt }: Page & { begunAt: Date },
): Promise<void> {
  await db.transaction(async (tx) => {
    await storeEntries(tx, key, readAt, entries);
    await voidVanished(tx, key, readAt, checkouts);
    await noteReading(tx, key, {
      // A provider's clock that is ahead must not make the next reading skip entries.
      changedUntil: changedUntil !== null && changedUntil > readAt ? readAt : changedUntil,
      readAt: cursor === null ? begunAt : null,
      trouble: null,
    });
  });
}

const TRANSFER_STATES = { pending: 'pending', sent: 'done', failed: 'void' } as const;

export function payoutEntries(
  { providerId: id, reference, amount, currency, status }: ProviderTransfer,
  changedAt: Date,
): ProviderEntry[] {
  const state = TRANSFER_STATES[status];
  return [{ kind: 'payout', reference, id, amount, currency, state, held: false, changedAt }];
}

const RECEIVED_STATES = { seen: 'pending', confirmed: 'done', dropped: 'void' } as const;

export function checkoutEntries(
  { reference, currency, onHold: held, transfers, refunds }: Checkout,
  changedAt: Date,
): ProviderEntry[] {
  const common = { reference, currency, held, changedAt };
  return [
    ...transfers.map(({ id, amount, status }) => {
      return { ...common, kind: 'payin' as const, id, amount, state: RECEIVED_STATES[status] };
    }),
    ...refunds.map(({ id, amount }) => {
      return { ...common, kind: 'refund' as const, id, amount, state: 'done' as const };
    }),
  ];
}
