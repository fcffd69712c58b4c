/** A new payout as its row, and the last check of its recipient. */
import { destinationFault } from '../../src/adapters/destinations';
import type { SealedBeneficiary } from '../../src/domain/beneficiary';
import type { Refusal } from '../../src/domain/errors';
import type { Owner } from '../../src/domain/mode';
import type { Amount } from '../../src/domain/money';
import { type Payout, type PayoutRequest, requestedFields } from '../../src/domain/payout';
import {
  type Condition,
  type NewCondition,
  requestedConditions,
} from '../../src/domain/payout-condition';
import { type ChosenRoute, INTERNAL_NETWORK } from '../../src/domain/route';
import { secondPersonUntil } from '../../src/domain/second-person';
import type { PayoutTerms } from '../../src/domain/terms';

/** An order, with the route and the network fee that the API chose. */
export interface PricedOrder extends Owner {
  payoutId: string;
  apiKeyId: string;
  request: PayoutRequest;
  route: ChosenRoute;
  networkFee: Amount;
  /** Encrypted for the payout. */
  beneficiary?: SealedBeneficiary | undefined;
  /** The person whose line it exceeds, who is not the one that approves it. */
  maker?: string | null;
  /** The condition of the recipient, if the payout waits for it. */
  condition?: NewCondition;
  now: Date;
}

export function buildPayout(order: PricedOrder, terms: PayoutTerms): Payout {
  const { request, route, now } = order;
  const conditions = conditionsOf(order, terms);
  return {
    id: order.payoutId,
    accountId: order.accountId,
    mode: order.mode,
    ...requestedFields(request),
    status: terms.reviewReasons.length === 0 ? 'requested' : 'under_review',
    provider: route.provider,
    network: route.network,
    destinationType: request.destination.type,
    destinationValue: request.destination.value,
    destinationMemo: request.destination.memo ?? null,
    serviceFee: terms.serviceFee,
    networkFee: order.networkFee,
    totalDebit: terms.totalDebit,
    feeTerms: terms.feeTerms,
    apiKeyId: order.apiKeyId,
    reviewReasons: terms.reviewReasons,
    decidedBy: null,
    txHash: null,
    failureReason: null,
    rejectionReason: null,
    providerTransferId: null,
    submissionStartedAt: null,
    inDoubtSince: null,
    processingSince: null,
    attentionLevel: 0,
    batchId: null,
    batchRow: null,
    awaitsBatch: false,
    recipientId: request.recipient ?? null,
    awaitsRelease: conditions === null ? null : true,
    releaseExpiresAt: expiryOf(order, terms),
    releasedAt: null,
    releaseExpiredAt: null,
    conditions,
    beneficiary: order.beneficiary ?? null,
    sequence: 1,
    createdAt: now,
    updatedAt: now,
  };
}

/** What the payout waits for; null if it has no conditions. */
function conditionsOf(
  { request: { release }, apiKeyId, maker, condition }: PricedOrder,
  { needsSecondPerson }: PayoutTerms,
): Condition[] | null {
  const conditions = release === undefined ? [] : requestedConditions(release);
  if (condition !== undefined) conditions.push(condition);
  if (needsSecondPerson) {
    conditions.push({ kind: 'second_person', parameters: { maker: maker ?? apiKeyId } });
  }
  return conditions.length === 0 ? null : conditions.map((one) => ({ ...one, metAt: null }));
}

function expiryOf({ request, now }: PricedOrder, { needsSecondPerson }: PayoutTerms): Date | null {
  const asked = toDate(request.release?.expiresAt ?? null);
  if (!needsSecondPerson) return asked;
  const latest = secondPersonUntil(now);
  return asked !== null && asked < latest ? asked : latest;
}

function toDate(time: string | null): Date | null {
  return time === null ? null : new Date(time);
}

/** Funds are reserved only for an address of the network that they are sent on. */
export function recipientFault(request: PayoutRequest, { network }: ChosenRoute): Refusal | null {
  const { destination } = request;
  if (request.network !== null && request.network !== (network ?? INTERNAL_NETWORK)) {
    throw new Error(`the route is on ${network ?? INTERNAL_NETWORK}, not on ${request.network}`);
  }
  if (destination.type !== 'crypto_address') return null;
  const message = destinationFault(network, destination.value);
  if (message === null) return null;
  const fields = [{ field: 'destination.value', rule: 'format' as const, message }];
  return { code: 'validation_failed', details: { fields } };
}
