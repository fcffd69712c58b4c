/**
 * What operators decide about payouts in the console. A decision is stored for the signed-in operator
 * and applied by the payout's workflow; this module reads the outcome and never writes a payout.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { listConditions } from '../../db/payouts/payout-conditions';
import { type Case, listCasesPage } from '../../db/cases/cases';
import { findPayout } from '../../db/payouts/payouts';
import {
  findDecision,
  insertDecision,
  listDecisions,
  readDecider,
  readFourEyes,
  type DeciderFacts,
} from '../../db/payouts/payout-decisions';
import {
  findReviewed,
  listInDoubt,
  listReviewQueue,
  type PayoutContext,
  type QueueRequest,
  readPayoutContext,
  type ReviewedPayout,
} from '../../db/payouts/review-queue';
import { type HistoryEvent, listHistory } from '../../db/object-history';
import {
  listConsolePayouts,
  listEscalations,
  type PayoutEscalation,
} from '../../db/payouts/console-payouts';
import { listTransactions } from '../../db/books/transactions';
import type { Db } from '../../db/transaction';
import type { MerchantTransaction } from '../../domain/ledger';
import { isId } from '../../domain/ids';
import type { Mode } from '../../domain/mode';
import { type Amount, add, ZERO } from '../../domain/money';
import { isWaitingForConditions, type Payout, payoutStatusesBefore } from '../../domain/payout';
import type { Condition } from '../../domain/payout-condition';
import type { DecisionKind, PayoutDecision } from '../../domain/payout-decision';
import { newId } from '../../platform/lib/new-id';
import type { ProviderRegistry } from '../../adapters/providers/registry';
import { payoutStart, type PayoutWorkflows } from '../../temporal/payout-workflows';
import { readSteps, type WorkflowStep } from '../../temporal/steps';
import { checkText } from '../../kit/service/checks';
import { AdminRefusal } from '../../kit/service/refusal';
import { listNotes, type Note } from '../audit/notes';
import type { SignedIn } from '../../kit/service/sessions';

export type { WorkflowStep } from '../../temporal/steps';
export {
  type DoubtfulPayout,
  QUEUE_ORDERS,
  type ReviewedPayout,
} from '../../db/payouts/review-queue';
export {
  type ConsolePayout,
  type ConsolePayoutFilters,
  PAYOUT_WAITS,
} from '../../db/payouts/console-payouts';

/** The same limit as that of the signal `reject`. */
export const REASON_LENGTH_MAX = 500;
/** An operator's decision can wait for a worker that starts; a page cannot wait longer. */
const DECIDE_DEADLINE_MS = 8_000;
/** The page is shown without the steps of the workflow after this time. */
const STEPS_DEADLINE_MS = 1_500;
const CASES_SHOWN = 20;
/** The time limit for all providers' answers of one page together. */
const PROVIDER_DEADLINE_MS = 4_000;
/** The payouts of one page, so that a page asks a provider about few payouts at once. */
export const IN_DOUBT_PER_PAGE = 10;
export const SELECTION_MAX = 25;
/** Decisions of a selection that are under way at the same time. */
const AT_ONCE = 5;

export type Operator = Pick<SignedIn, 'userId' | 'isRecent'>;

export interface DecisionOrder {
  /** The id is made with the form, so that a form that is sent twice decides once. */
  id: string;
  payoutId: string;
  kind: DecisionKind;
  /** Required for `reject`; the merchant reads it. */
  reason: string;
}

export type DecisionResult =
  /** With its outcome; without one, Temporal did not answer in time and it may still be applied. */
  | { kind: 'stored'; decision: PayoutDecision }
  /** Nothing was stored: the payout can no longer be decided. */
  | { kind: 'too_late' }
  /** Nothing was stored: the payout is live or two must approve it, and the sign-in is not recent. */
  | { kind: 'sign_in_again' };

export interface PayoutReview {
  payout: ReviewedPayout;
  /** What it waits for before it is sent; empty if it has no conditions. */
  conditions: Condition[];
  context: PayoutContext;
  events: HistoryEvent[];
  transactions: MerchantTransaction[];
  /** The decisions made in the console, oldest first. */
  decisions: PayoutDecision[];
  /** The escalations of its wait for the provider, newest first. */
  escalations: PayoutEscalation[];
  /** What its workflow did, newest first; null if Temporal did not answer. */
  steps: WorkflowStep[] | null;
  /** The cases about it, the newest first. */
  cases: Case[];
  /** What operators wrote down for each other, newest first. */
  notes: Note[];
  /** The facts that say whether this operator may decide. */
  decider: DeciderFacts;
}

/** Why a payout of a selection has to be decided on its own page. */
export type LeftOut = 'decided' | 'four_eyes' | 'screening' | 'new_destination';

export interface Selection {
  approvable: ReviewedPayout[];
  /** The payouts that are still under review. */
  rejectable: ReviewedPayout[];
  totals: { mode: Mode; currency: string; count: number; amount: Amount }[];
  leftOut: { payout: ReviewedPayout; why: LeftOut }[];
}

/** What the provider says about a payout at this moment. */
export type ProviderState =
  | { kind: 'found'; status: string; amount: Amount; currency: string; transferId: string }
  | { kind: 'not_found' | 'no_answer' | 'not_enabled' }
  | { kind: 'unknown'; reason: string };

export interface PayoutReviewsDeps {
  db: Db;
  temporal: Client;
  providers: ProviderRegistry;
  payoutWorkflows: PayoutWorkflows;
}

export type PayoutReviews = ReturnType<typeof createPayoutReviews>;

export function createPayoutReviews(deps: PayoutReviewsDeps) {
  const { db } = deps;
  return {
    /** Payouts in every status, newest first. */
    list: (request: Parameters<typeof listConsolePayouts>[1]) => listConsolePayouts(db, request),
    queue: (request: QueueRequest) => listReviewQueue(db, request),
    /** @throws AdminRefusal */
    review: (payoutId: string, operator: Operator) => review(deps, payoutId, operator),
    /** The account of a payout. @throws AdminRefusal */
    accountOf: async (payoutId: string) => (await requirePayout(db, payoutId)).accountId,
    /** @throws AdminRefusal, InvalidInput */
    decide: (order: DecisionOrder, operator: Operator) => decide(deps, order, operator),
    select: async (ids: readonly string[]) =>
      selectionOf(await findReviewed(db, ids.slice(0, SELECTION_MAX))),
    /** Approves what is still approvable; each has an outcome of its own. */
    approveSelection: (orders: Parameters<typeof approveSelection>[1], operator: Operator) =>
      approveSelection(deps, orders, operator),
    /** Rejects what is still under review, for one reason. @throws InvalidInput for the field `reason` */
    rejectSelection: (
      orders: Parameters<typeof rejectSelection>[1],
      reason: string,
      operator: Operator,
    ) => rejectSelection(deps, orders, reason, operator),
    /** What waits the longest, but for one payout; null if nothing else waits. */
    nextInQueue: async (payoutId: string) => {
      const { items } = await listReviewQueue(db, { limit: 2, after: null, filters: {} });
      return items.find(({ id }) => id !== payoutId)?.id ?? null;
    },
    payouts: (ids: readonly string[]) => findReviewed(db, ids.slice(0, SELECTION_MAX)),
    /** The decisions of an operator with these ids. */
    decisions: async (ids: readonly string[], { userId }: Operator) => {
      const found = await Promise.all(
        ids.slice(0, SELECTION_MAX).map((id) => findDecision(db, id)),
      );
      return found.flatMap((one) => (one?.userId === userId ? [one] : []));
    },
    inDoubt: async ({ after, mode }: { after: QueueRequest['after']; mode: Mode | null }) => {
      const { items, next } = await listInDoubt(db, { limit: IN_DOUBT_PER_PAGE, after, mode });
      const states = await Promise.all(items.map((payout) => askNow(deps, payout)));
      return {
        items: items.map((payout, index) => ({
          ...payout,
          providerState: states[index] ?? { kind: 'no_answer' as const },
        })),
        next,
      };
    },
    /** Makes the workflow ask the provider now. @returns false if Temporal did not answer @throws AdminRefusal */
    askProvider: async (payoutId: string) => {
      const payout = await requirePayout(db, payoutId);
      const sent = await deps.payoutWorkflows.sendProviderUpdate(payoutStart(payout));
      return sent.kind !== 'no_answer';
    },
  };
}

/** @throws AdminRefusal */
export async function requirePayout(db: Db, id: string): Promise<Payout> {
  const payout = await findPayout(db, id);
  if (payout === null) throw new AdminRefusal({ code: 'not_found', object: 'payout', id });
  return payout;
}

async function review(
  { db, temporal }: PayoutReviewsDeps,
  id: string,
  { userId }: Operator,
): Promise<PayoutReview> {
  const [payout] = await findReviewed(db, [id]);
  if (payout === undefined) throw new AdminRefusal({ code: 'not_found', object: 'payout', id });
  const { accountId, mode } = payout;
  const list = { accountId, mode, limit: 100, after: null, filters: { sourceId: id } };
  const [conditions, context, events, page, decisions, escalations, decider, ...story] =
    await Promise.all([
      payout.awaitsRelease === null ? [] : listConditions(db, id),
      readPayoutContext(db, id),
      listHistory(db, id),
      listTransactions(db, list),
      listDecisions(db, id),
      listEscalations(db, id),
      readDecider(db, id, userId),
      readSteps(temporal, id, STEPS_DEADLINE_MS),
      listCasesPage(db, { limit: CASES_SHOWN, after: null, filters: { objectId: id } }),
      listNotes(db, { object: 'payout', id }),
    ]);
  const [steps, { items: cases }, notes] = story;
  const seen = { payout, conditions, context, events, decisions, escalations, decider };
  return { ...seen, transactions: page.items, steps, cases, notes };
}

async function decide(
  { db, payoutWorkflows }: PayoutReviewsDeps,
  order: DecisionOrder,
  operator: Operator,
): Promise<DecisionResult> {
  const { id, payoutId, kind } = order;
  const { userId } = operator;
  const payout = await requirePayout(db, payoutId);
  if (!isId('decision', id)) throw new AdminRefusal({ code: 'not_found', object: 'payout', id });
  const reason = checkReason(order);
  const stored = await findDecision(db, id);
  if (stored === null) {
    // A workflow that has ended would be started again only to say so.
    const isOpen = payoutStatusesBefore(kind).includes(payout.status);
    const isClosed = kind === 'approve' && isWaitingForConditions(payout);
    if (!isOpen || isClosed || payout.awaitsBatch) return { kind: 'too_late' };
    if (kind === 'approve' && !operator.isRecent) {
      const isGuarded = payout.mode === 'live' || (await readFourEyes(db, payoutId)) !== null;
      if (isGuarded) return { kind: 'sign_in_again' };
    }
    await insertDecision(db, { id, payoutId, kind, userId, reason });
  }
  if ((stored?.outcome ?? null) === null) {
    await payoutWorkflows.decide(payoutStart(payout), id, DECIDE_DEADLINE_MS);
  }
  // The row shows the outcome, even if the answer was lost.
  const decision = await findDecision(db, id);
  // The id of somebody else's decision, or of another payout's.
  if (decision?.userId !== userId || decision.payoutId !== payoutId || decision.kind !== kind) {
    throw new AdminRefusal({ code: 'not_found', object: 'payout', id });
  }
  return { kind: 'stored', decision };
}

/** @throws InvalidInput */
function checkReason({ kind, reason }: DecisionOrder): string | null {
  if (kind === 'approve' && reason.trim() === '') return null;
  return checkText('reason', reason, REASON_LENGTH_MAX);
}

function selectionOf(payouts: readonly ReviewedPayout[]): Selection {
  const sorted = payouts.map((payout) => ({ payout, why: whyLeftOut(payout) }));
  const approvable = sorted.flatMap(({ payout, why }) => (why === null ? [payout] : []));
  const leftOut = sorted.flatMap(({ payout, why }) => (why === null ? [] : [{ payout, why }]));
  const rejectable = payouts.filter(({ status }) => status === 'under_review');
  return { approvable, rejectable, leftOut, totals: totalsOf(approvable) };
}

/** Null if it can be approved in a selection. */
export function whyLeftOut(payout: ReviewedPayout): LeftOut | null {
  if (payout.status !== 'under_review') return 'decided';
  if (payout.fourEyesThreshold !== null) return 'four_eyes';
  if (payout.screening === 'block' || payout.screening === 'review') return 'screening';
  return payout.destinationPaidBefore ? null : 'new_destination';
}

function totalsOf(payouts: readonly ReviewedPayout[]): Selection['totals'] {
  const totals = new Map<string, Selection['totals'][number]>();
  for (const { mode, currency, amount } of payouts) {
    const key = `${mode} ${currency}`;
    const before = totals.get(key) ?? { mode, currency, count: 0, amount: ZERO };
    totals.set(key, { ...before, count: before.count + 1, amount: add(before.amount, amount) });
  }
  return [...totals.values()];
}

async function approveSelection(
  deps: PayoutReviewsDeps,
  orders: readonly Pick<DecisionOrder, 'id' | 'payoutId'>[],
  operator: Operator,
): Promise<'done' | 'sign_in_again'> {
  const ids = orders.slice(0, SELECTION_MAX).map(({ payoutId }) => payoutId);
  const payouts = await findReviewed(deps.db, ids);
  const isGuarded = payouts.some(
    ({ mode, fourEyesThreshold }) => mode === 'live' || fourEyesThreshold !== null,
  );
  if (isGuarded && !operator.isRecent) return 'sign_in_again';
  const { approvable } = selectionOf(payouts);
  const waiting = orders.filter(({ payoutId }) => approvable.some(({ id }) => id === payoutId));
  await decideEach(deps, waiting, { kind: 'approve', reason: '' }, operator);
  return 'done';
}

async function rejectSelection(
  deps: PayoutReviewsDeps,
  orders: readonly Pick<DecisionOrder, 'id' | 'payoutId'>[],
  reason: string,
  operator: Operator,
): Promise<void> {
  const checked = checkText('reason', reason, REASON_LENGTH_MAX);
  const ids = orders.slice(0, SELECTION_MAX).map(({ payoutId }) => payoutId);
  const { rejectable } = selectionOf(await findReviewed(deps.db, ids));
  const waiting = orders.filter(({ payoutId }) => rejectable.some(({ id }) => id === payoutId));
  await decideEach(deps, waiting, { kind: 'reject', reason: checked }, operator);
}

async function decideEach(
  deps: PayoutReviewsDeps,
  orders: readonly Pick<DecisionOrder, 'id' | 'payoutId'>[],
  decision: Pick<DecisionOrder, 'kind' | 'reason'>,
  operator: Operator,
): Promise<void> {
  for (let at = 0; at < orders.length; at += AT_ONCE) {
    const some = orders.slice(at, at + AT_ONCE);
    await Promise.all(some.map((order) => decide(deps, { ...order, ...decision }, operator)));
  }
}

/** One call to the provider, which gives up early. */
async function askNow({ providers }: PayoutReviewsDeps, payout: Payout): Promise<ProviderState> {
  const provider = providers.list(payout.mode).find(({ code }) => code === payout.provider);
  if (provider === undefined) return { kind: 'not_enabled' };
  const late = sleep(PROVIDER_DEADLINE_MS, null, { ref: false });
  const answer = await Promise.race([provider.findPayout(payout.id, payout.network), late]);
  if (answer === null) return { kind: 'no_answer' };
  switch (answer.kind) {
    case 'found': {
      const { status, amount, currency, providerId } = answer.transfer;
      return { kind: 'found', status, amount, currency, transferId: providerId };
    }
    case 'not_found':
      return { kind: 'not_found' };
    case 'limited':
    case 'unknown':
      return { kind: 'unknown', reason: answer.reason };
  }
}

/** The id of a decision, made with its form (see DecisionOrder). */
export function newDecisionId(): string {
  return newId('decision');
}
