/**
 * Batches of payouts. Creating one checks every row, claims the idempotency key and starts the batch's
 * workflow, whose reservation decides about all rows together. A dry run makes the same checks and
 * stores nothing.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readBatchFacts } from '../../db/payout-batches/batch-facts';
import { listPayoutRoutes } from '../../db/accounts/currency-routes';
import type { ClaimedRoutes } from '../../db/idempotency';
import {
  listBatchRows,
  listRowsToReview,
  readBatchLedger,
  readBatchProgress,
} from '../../db/payout-batches/payout-batch-rows';
import {
  findBatchByReference,
  findPayoutBatch,
  listPayoutBatches,
} from '../../db/payout-batches/payout-batches';
import { readRecipients } from '../../db/recipients/recipients';
import { onOneSnapshot, type Db } from '../../db/transaction';
import {
  batchTermsInSteps,
  type BatchTerms,
  type RoutedRow,
  type RowFault,
  rowsRefused,
} from '../../domain/batch-terms';
import { ApiError, validationFailed } from '../../domain/errors';
import type { PayoutOrder, SentPayoutOrder } from '../../domain/payout';
import type {
  PayoutBatch,
  PayoutBatchProgress,
  PayoutBatchRequest,
} from '../../domain/payout-batch';
import { mayLeaveOutRows, payoutBatchStatusesBefore } from '../../domain/payout-batch';
import { addressed, type Addressed } from '../../domain/recipient';
import { duplicateReference } from '../../domain/terms';
import { beneficiaryOwnerOfRow, sealBeneficiary } from '../../platform/lib/beneficiary-seal';
import { newId } from '../../platform/lib/new-id';
import type { SecretBox } from '../../platform/lib/secret-box';
import type { PayoutBatchWorkflows } from '../../temporal/payout-batch-workflows';
import { type ClaimDeps, readAnswer, runClaimed } from '../../kit/service/idempotency';
import { choosePayout, type ChoosingDeps } from '../payouts/payouts';
import type { Caller, ListPosition, Page, StoredResponse } from '../../kit/service/services';

/** The dependencies of the check of rows. */
export interface CheckingDeps extends ChoosingDeps {
  db: Db;
}

export interface PayoutBatchesDeps extends ClaimDeps, ChoosingDeps {
  payoutBatchWorkflows: PayoutBatchWorkflows;
  secretBox: SecretBox;
}

/** On whose behalf rows are checked. */
type Requester = Omit<Caller, 'scopes'>;

/** A row as it was sent: a request, or what is wrong with it. */
export type BatchRow = SentPayoutOrder | RowFault;

export interface BatchInput {
  reference: string;
  description: string | null;
  rows: readonly BatchRow[];
}

/** What a batch would cost, and which of its rows would be refused. */
export type BatchCheck = Pick<
  BatchTerms,
  'faults' | 'rows' | 'totals' | 'shortage' | 'reviewReasons' | 'needsSecondPerson'
> & {
  /** The rows that have a route, in the order of `rows`. */
  routed: RoutedRow[];
  /** The names of the recipients that rows name, by id. */
  recipientNames: ReadonlyMap<string, string>;
};

export interface BatchWithProgress {
  batch: PayoutBatch;
  progress: PayoutBatchProgress;
}

/** The time limit is below the lease of the claim, so that the claim can still be released after it. */
const RESERVE_DEADLINE_MS = 25_000;
const CHANGE_DEADLINE_MS = 10_000;
/** The rows that a page offers to leave out; rows with review reasons come first. */
const ROWS_TO_REVIEW = 100;
/** The rows that are checked in one turn of the event loop; other requests are answered in between. */
const ROWS_IN_A_TURN = 100;

export type PayoutBatches = ReturnType<typeof createPayoutBatches>;

export function createPayoutBatches(deps: PayoutBatchesDeps) {
  return {
    /** Stores nothing. */
    check: (caller: Caller, input: BatchInput): Promise<BatchCheck> => check(deps, caller, input),

    /** @throws ApiError rows_refused, insufficient_balance, duplicate_reference, idempotency's */
    create: (
      caller: Caller,
      input: BatchInput & { idempotencyKey: string },
    ): Promise<StoredResponse> => create(deps, caller, input),

    list: async (
      caller: Caller,
      query: { limit: number; after: ListPosition | null },
    ): Promise<Page<BatchWithProgress>> => {
      const { items, next } = await listPayoutBatches(deps.db, { ...caller, ...query });
      return { items: await Promise.all(items.map((batch) => withProgress(deps.db, batch))), next };
    },

    /** @throws ApiError not_found */
    get: async (caller: Caller, id: string): Promise<BatchWithProgress> =>
      withProgress(deps.db, await getOwn(deps.db, caller, id)),

    /** The batch with its rows, in their order, and what the ledger has. @throws ApiError not_found */
    proof: async (caller: Caller, id: string) => {
      const batch = await getOwn(deps.db, caller, id);
      return onOneSnapshot(deps.db, async (tx) => ({
        batch,
        payouts: await listBatchRows(tx, id),
        ledger: await readBatchLedger(tx, id),
      }));
    },

    /** @throws ApiError not_found, invalid_state, service_unavailable */
    stop: (caller: Caller, id: string): Promise<BatchWithProgress> => stop(deps, caller, id),

    /** Makes the workflow look for the second person's approval. @throws ApiError not_found */
    lookAgain: async (caller: Caller, id: string): Promise<void> => {
      const batch = await getOwn(deps.db, caller, id);
      // Without an answer, the schedule `restart-missing` wakes it.
      await deps.payoutBatchWorkflows.wake(batch).catch(() => undefined);
    },

    /** The first rows to look at before the approval. @throws ApiError not_found */
    rowsToReview: async (caller: Caller, id: string) => {
      await getOwn(deps.db, caller, id);
      return listRowsToReview(deps.db, id, ROWS_TO_REVIEW);
    },

    /**
     * @param rowNumbers counted from 1; rows that were left out before stay so
     * @throws ApiError not_found, validation_failed, invalid_state, service_unavailable
     */
    leaveOut: (
      caller: Caller,
      id: string,
      rowNumbers: readonly number[],
    ): Promise<BatchWithProgress> => leaveOut(deps, caller, id, rowNumbers),
  };
}

async function check(
  deps: PayoutBatchesDeps,
  caller: Caller,
  { reference, rows }: BatchInput,
): Promise<BatchCheck> {
  const existingId = await findBatchByReference(deps.db, { ...caller, reference });
  if (existingId !== null) throw new ApiError(duplicateReference('payout_batch', existingId));
  return checkRows(deps, caller, rows);
}

/** Stores nothing. */
export async function checkRows(
  deps: CheckingDeps,
  caller: Requester,
  rows: readonly BatchRow[],
): Promise<BatchCheck> {
  const { routed, faults, recipientNames } = await routeRows(deps, caller, rows);
  const terms = await termsOf(deps, caller, routed);
  const all = [...faults, ...terms.faults].sort((one, other) => one.row - other.row);
  return { ...terms, routed, recipientNames, faults: all };
}

async function create(
  deps: PayoutBatchesDeps,
  caller: Caller,
  { idempotencyKey, reference, description, rows }: BatchInput & { idempotencyKey: string },
): Promise<StoredResponse> {
  const sent = rows.filter((row): row is SentPayoutOrder => !('refusal' in row));
  if (sent.length < rows.length) {
    const { faults } = await check(deps, caller, { reference, description, rows });
    throw new ApiError(rowsRefused(faults));
  }
  const { secretBox } = deps;
  const payouts = sent.map(orderOf);
  const request: PayoutBatchRequest = { reference, description, payouts };
  const beneficiaries = sent.map(({ beneficiary }) => beneficiary ?? null);
  const isPersonal = beneficiaries.some((beneficiary) => beneficiary !== null);
  const id = newId('payoutBatch');
  return runClaimed<PayoutBatchRequest, ClaimedRoutes>(deps, {
    caller,
    objectId: id,
    endpoint: '/payout_batches',
    idempotencyKey,
    request,
    ...(isPersonal ? { personal: { data: beneficiaries, box: secretBox } } : {}),
    prepare: async () => {
      const { routed, faults, shortage } = await check(deps, caller, {
        reference,
        description,
        rows: payouts,
      });
      if (faults.length > 0) throw new ApiError(rowsRefused(faults));
      if (shortage !== null) throw new ApiError(shortage);
      const sealed = (row: number) => {
        const beneficiary = beneficiaries[row - 1] ?? null;
        if (beneficiary === null) return {};
        const owner = beneficiaryOwnerOfRow(id, row);
        return { beneficiary: sealBeneficiary(secretBox, beneficiary, owner) };
      };
      return { rows: routed.map(({ row, route }) => ({ ...route, ...sealed(row) })) };
    },
    create: async () => {
      const start = { id, ...caller, rowCount: payouts.length };
      const outcome = await deps.payoutBatchWorkflows.reserve(start, RESERVE_DEADLINE_MS);
      if (outcome.kind === 'refused') throw new ApiError(outcome.refusal);
      return readAnswer(deps.db, id);
    },
  });
}

function orderOf({ beneficiary: _, ...order }: SentPayoutOrder): PayoutOrder {
  return order;
}

/** Chooses the provider, the network and the network fee of each row. */
async function routeRows(
  deps: CheckingDeps,
  caller: Requester,
  rows: readonly BatchRow[],
): Promise<Pick<BatchCheck, 'routed' | 'faults' | 'recipientNames'>> {
  const routed: RoutedRow[] = [];
  const faults: RowFault[] = [];
  const orders = rows.flatMap((row) => ('refusal' in row ? [] : [orderOf(row)]));
  const recipients = await readRecipients(deps.db, caller, orders);
  const routesOf = remember((currency: string) => listPayoutRoutes(deps.db, currency));
  for (const [index, row] of rows.entries()) {
    if (index % ROWS_IN_A_TURN === 0) await nextTurn();
    if ('refusal' in row) {
      faults.push(row);
      continue;
    }
    try {
      const { recipientSince, ...sent } = addressedOrThrow(orderOf(row), recipients);
      const wish = { caller, request: sent.request };
      const { route, networkFee } = await choosePayout(deps, wish, await routesOf(row.currency));
      const since = recipientSince === undefined ? {} : { recipientSince };
      routed.push({ row: index + 1, ...sent, route: { ...route, networkFee, ...since } });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      faults.push({ row: index + 1, reference: row.reference, refusal: error.refusal });
    }
  }
  const named = [...recipients].map(([id, { name }]) => [id, name] as const);
  return { routed, faults, recipientNames: new Map(named) };
}

/** @throws ApiError */
function addressedOrThrow(...order: Parameters<typeof addressed>): Addressed {
  const sent = addressed(...order);
  if ('refusal' in sent) throw new ApiError(sent.refusal);
  return sent;
}

function remember<Value>(read: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const known = new Map<string, Promise<Value>>();
  return (key) => {
    const value = known.get(key) ?? read(key);
    known.set(key, value);
    return value;
  };
}

async function termsOf(
  { db }: CheckingDeps,
  caller: Requester,
  routed: readonly RoutedRow[],
): Promise<BatchTerms> {
  const steps = batchTermsInSteps(caller.mode, routed, await readBatchFacts(db, caller, routed));
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await nextTurn();
  }
}

async function withProgress(db: Db, batch: PayoutBatch): Promise<BatchWithProgress> {
  return { batch, progress: batch.closedProgress ?? (await readBatchProgress(db, batch.id)) };
}

/** A batch of another account or mode gets the same error as one that does not exist. */
async function getOwn(db: Db, { accountId, mode }: Caller, id: string): Promise<PayoutBatch> {
  const batch = await findPayoutBatch(db, id);
  if (batch?.accountId === accountId && batch.mode === mode) return batch;
  throw new ApiError({ code: 'not_found', details: { resource: 'payout_batch' } });
}

async function stop(
  deps: PayoutBatchesDeps,
  caller: Caller,
  id: string,
): Promise<BatchWithProgress> {
  const batch = await getOwn(deps.db, caller, id);
  const isOpen = payoutBatchStatusesBefore('stop').includes(batch.status);
  if (!isOpen || batch.ending === 'reject') throw invalidState(batch);
  if (batch.ending === null) {
    const by = newId('request');
    const outcome = await deps.payoutBatchWorkflows.stop(batch, by, CHANGE_DEADLINE_MS);
    const now = await getOwn(deps.db, caller, id);
    if (now.ending !== 'stop') {
      if (outcome.kind !== 'no_answer') throw invalidState(now);
      throw noAnswer();
    }
  }
  return withProgress(deps.db, await getOwn(deps.db, caller, id));
}

async function leaveOut(
  deps: PayoutBatchesDeps,
  caller: Caller,
  id: string,
  rowNumbers: readonly number[],
): Promise<BatchWithProgress> {
  const batch = await getOwn(deps.db, caller, id);
  const unknown = rowNumbers.find((row) => row < 1 || row > batch.rowCount);
  if (unknown !== undefined) {
    throw rowsFault(`Use row numbers from 1 to ${batch.rowCount}, the number of rows.`);
  }
  if (rowNumbers.every((row) => batch.leftOutRows.includes(row))) {
    return withProgress(deps.db, batch);
  }
  if (!mayLeaveOutRows(batch)) throw alreadyDecided(batch);
  const by = newId('request');
  const outcome = await deps.payoutBatchWorkflows.leaveOut(
    batch,
    by,
    rowNumbers,
    CHANGE_DEADLINE_MS,
  );
  if (outcome.kind === 'none_left') {
    throw rowsFault('At least one row must remain. To return all of them, stop the batch.');
  }
  const now = await getOwn(deps.db, caller, id);
  if (!rowNumbers.every((row) => now.leftOutRows.includes(row))) {
    throw outcome.kind === 'no_answer' ? noAnswer() : alreadyDecided(now);
  }
  return withProgress(deps.db, now);
}

function rowsFault(message: string): ApiError {
  return validationFailed([{ field: 'rows', rule: 'unsupported', message }]);
}

function noAnswer(): ApiError {
  const details = { reason: 'workflow_engine_unavailable' } as const;
  return new ApiError({ code: 'service_unavailable', details });
}

function invalidState({ status, ending }: PayoutBatch): ApiError {
  const message =
    ending === 'reject'
      ? 'This batch was rejected. Its rows are being returned.'
      : `This batch is ${status}. Only a batch that is open can be stopped.`;
  return new ApiError({ code: 'invalid_state', details: { status }, message });
}

function alreadyDecided({ status }: PayoutBatch): ApiError {
  const message =
    'The batch was approved or ended. Rows can be left out before the approval only; ' +
    'afterwards, stop the batch.';
  return new ApiError({ code: 'invalid_state', details: { status }, message });
}
