/**
 * What must be true of all payouts when a test is over, whatever was killed in it: each ended
 * once, and the ledger, the sandbox's book and Temporal's histories agree about it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { verifyLedger } from '../../../src/db/ledger/ledger-verify';
import type { Db } from '../../../src/db/transaction';
import type { Mode } from '../../../src/domain/mode';
import { type BookEntry, readBook } from '../servers/sandbox';
import { PATIENCE_MS } from '../wait-for';

/** The parts of a gateway that are compared. */
export interface Audited {
  db: Db;
  temporal: Client;
  sandbox: { url: string };
  /** What the provider sent, if it is not the sandbox. */
  readTransfers?: () => Promise<Transfer[]>;
  /** Which failures of workflow tasks the test itself has caused; none unless it is given. */
  isExcused?: (failure: TaskFailure) => boolean;
}

/** A workflow task that failed, as the history tells it. */
export interface TaskFailure {
  message: string;
  /** `<pid>@<host>` of the worker. */
  identity: string;
  at: Date;
}

export type Transfer = Pick<BookEntry, 'client_reference' | 'times_sent' | 'scenario'>;

interface PayoutRow {
  id: string;
  status: string;
  sequence: number;
  events: number[] | null;
  batchId: string | null;
}

const FINAL = ['completed', 'failed', 'rejected', 'cancelled'];
/** Histories that are read from Temporal at the same time. */
const HISTORIES_AT_ONCE = 100;
const ENDED_BY_A_PERSON = ['rejected', 'cancelled'];

/**
 * A workflow ends some time after its payout's row, when its worker was killed in between.
 * @param open ids of payouts that are meant to be under way still
 * @param expected what the test has made wrong
 * @returns a sentence for everything that is wrong; none in a sound gateway
 */
export async function auditPayouts(
  audited: Audited,
  open: string[] = [],
  expected: string[] = [],
): Promise<string[]> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const faults = await audit(audited, open);
    if (isDeepStrictEqual(faults, expected) || Date.now() > giveUpAt) return faults;
    await sleep(500);
  }
}

async function audit(audited: Audited, open: string[]): Promise<string[]> {
  const payouts = await readPayouts(audited);
  const ended = payouts.filter((row) => !open.includes(row.id) && !isReturnedRow(row));
  const faults = await auditMoney(audited, open);
  for (let first = 0; first < ended.length; first += HISTORIES_AT_ONCE) {
    const some = ended.slice(first, first + HISTORIES_AT_ONCE);
    faults.push(...(await Promise.all(some.map((row) => faultsOfWorkflow(audited, row)))).flat());
  }
  return faults;
}

function readPayouts({ db }: Pick<Audited, 'db'>): Promise<PayoutRow[]> {
  return db.query<PayoutRow>(`SELECT p.id, p.status, p.sequence, p.batch_id, array_agg(e.sequence ORDER BY e.sequence) AS events
       FROM payouts p LEFT JOIN events e ON e.object_id = p.id GROUP BY p.id`);
}

/** The same without Temporal, which may have lost what it knew. */
export async function auditMoney(
  audited: Omit<Audited, 'temporal'>,
  open: string[] = [],
): Promise<string[]> {
  const payouts = await readPayouts(audited);
  const broken = (await verifyLedger(audited.db)).filter((invariant) => invariant.broken > 0);
  const ended = payouts.filter(({ id }) => !open.includes(id));
  return [
    ...broken.map((invariant) => JSON.stringify(invariant)),
    ...payouts.flatMap(faultsOfRow),
    ...ended.filter(({ status }) => !FINAL.includes(status)).map((row) => `${say(row)}, not ended`),
    ...faultsOfTransfers(await readTransfers(audited), payouts),
  ];
}

async function readTransfers({ sandbox, readTransfers: read }: Omit<Audited, 'temporal'>) {
  return read === undefined ? (await readBook(sandbox.url)).transfers : read();
}

/** A row that its batch returned without having released it has no workflow. */
function isReturnedRow({ batchId, status }: PayoutRow): boolean {
  return batchId !== null && ENDED_BY_A_PERSON.includes(status);
}

function say({ id, status }: PayoutRow): string {
  return `${id} is ${status}`;
}

/** One event for each status change. */
function faultsOfRow(row: PayoutRow): string[] {
  const expected = Array.from({ length: row.sequence }, (_, index) => index + 1);
  return String(row.events) === String(expected)
    ? []
    : [`${say(row)} with events ${String(row.events)}`];
}

/** The provider was asked under the payout's id only, and sent what completed and nothing else. */
function faultsOfTransfers(transfers: Transfer[], payouts: PayoutRow[]): string[] {
  const transfersOf = new Map(payouts.map(({ id }) => [id, [] as Transfer[]]));
  const faults: string[] = [];
  for (const transfer of transfers) {
    const own = transfersOf.get(transfer.client_reference);
    if (own !== undefined) own.push(transfer);
    else faults.push(`the provider has ${transfer.client_reference}, which we do not know`);
  }
  for (const payout of payouts) {
    const own = transfersOf.get(payout.id) ?? [];
    const sent = own.reduce((sum, { times_sent }) => sum + times_sent, 0);
    const lateSuccess = own.some(({ scenario }) => scenario === 'success_after_failure');
    const mayBeSent = payout.status === 'completed' || payout.status === 'processing';
    if (payout.status === 'completed' && sent !== 1) faults.push(`${say(payout)}, sent ${sent} ×`);
    if (!mayBeSent && !lateSuccess && sent > 0) faults.push(`${say(payout)}, sent ${sent} ×`);
    if (ENDED_BY_A_PERSON.includes(payout.status) && own.length > 0) {
      faults.push(`${say(payout)}, but the provider was asked`);
    }
  }
  return faults;
}

/** The workflow completed with the row's status, and its code never failed on the way. */
async function faultsOfWorkflow(
  { temporal, isExcused = () => false }: Audited,
  payout: PayoutRow,
): Promise<string[]> {
  const handle = temporal.workflow.getHandle(payout.id);
  const { status } = await handle.describe();
  if (status.name !== 'COMPLETED') return [`${say(payout)}, its workflow ${status.name}`];
  const result: unknown = await handle.result();
  const { events } = await handle.fetchHistory();
  const failures = (events ?? [])
    .filter(
      ({ workflowTaskFailedEventAttributes: failed }) => failed && !isOrdinary(failed.failure),
    )
    .map(taskFailure)
    .filter((failure) => !isExcused(failure))
    .map(({ message }) => `the workflow of ${payout.id} failed: ${message}`);
  return result === payout.status
    ? failures
    : [...failures, `${say(payout)}, not ${String(result)}`];
}

/** Temporal also calls a reset a failure, and a task that a message came in between: no fault. */
function isOrdinary(failure: FailureOfTask | null | undefined): boolean {
  if (failure == null) return true;
  return failure.resetWorkflowFailureInfo != null || failure.message === 'UnhandledCommand';
}

type HistoryEvent = NonNullable<
  Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']
>[number];
type FailureOfTask = NonNullable<
  NonNullable<HistoryEvent['workflowTaskFailedEventAttributes']>['failure']
>;

function taskFailure({ eventTime, workflowTaskFailedEventAttributes }: HistoryEvent): TaskFailure {
  return {
    message: workflowTaskFailedEventAttributes?.failure?.message ?? '',
    identity: workflowTaskFailedEventAttributes?.identity ?? '',
    at: new Date(Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1_000_000),
  };
}

export interface Balance {
  available: string;
  reserved: string;
}

/**
 * What should be left of `funds`: completed payouts took their total_debit, ended ones nothing.
 * @param mode where the account has funds in both
 */
export async function expectedBalance(
  db: Db,
  accountId: string,
  funds: string,
  mode: Mode | null = null,
  currency = 'USDT',
): Promise<Balance> {
  const [balance] = await db.query<Balance>(
    `SELECT (?::numeric(38,8) - coalesce(sum(total_debit) FILTER
              (WHERE status NOT IN ('failed', 'rejected', 'cancelled')), 0))::text AS available,
            coalesce(sum(total_debit) FILTER
              (WHERE status IN ('requested', 'under_review', 'approved', 'processing')), 0
            )::numeric(38,8)::text AS reserved
       FROM payouts WHERE account_id = ? AND currency = ?
        AND mode = coalesce(?, mode)`,
    [funds, accountId, currency, mode],
  );
  return balance!;
}
