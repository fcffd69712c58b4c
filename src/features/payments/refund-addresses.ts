/**
 * The page on which a customer names the address of a refund (decisions/payments#refunds-to-address).
 * Whoever has the link may, once; the merchant never has it. What is named is stored before the workflow is
 * told, because histories are widely readable.
 */
import { createHash, randomBytes } from 'node:crypto';
import { findPayment } from '../../db/payments/payments';
import { findRefund } from '../../db/payments/payment-refunds';
import {
  findLinkMail,
  findNamingRequest,
  type LinkMail,
  nameDestination,
  type NamingRequest,
  replaceLink,
} from '../../db/payments/refund-links';
import type { Db } from '../../db/transaction';
import { destinationFault } from '../../adapters/destinations';
import { memoFault, memoShape } from '../../domain/networks';
import { awaitsAddress } from '../../domain/refund';
import { newId } from '../../platform/lib/new-id';
import { paymentStart, type PaymentWorkflows } from '../../temporal/payment-workflows';
import type { Payment } from '../../domain/payment';
import type { Refund } from '../../domain/refund';
import { type ChangedBy, makeChange } from '../../kit/service/audit';
import { AdminRefusal } from '../../kit/service/refusal';

export type { NamingRequest };

/** The time limit is that of refunds by API. */
const DEADLINE_MS = 12_000;

export interface NamedAddress {
  value: string;
  /** Empty if none was typed. */
  memo: string;
}

export type Naming =
  | { kind: 'accepted' }
  /** The link is not valid any more. */
  | { kind: 'gone' }
  | { kind: 'invalid'; field: 'value' | 'memo'; message: string }
  /** The rules of the account do not let it pass now. Only the merchant may learn which. */
  | { kind: 'not_now' }
  /** The workflow has not answered. */
  | { kind: 'unclear' };

export interface RefundAddressesDeps {
  db: Db;
  paymentWorkflows: Pick<PaymentWorkflows, 'payRefund'>;
}

export type RefundAddresses = ReturnType<typeof createRefundAddresses>;

export function createRefundAddresses({ db, paymentWorkflows }: RefundAddressesDeps) {
  return {
    /** Null if the link is unknown, used, replaced or expired. */
    find: (token: string): Promise<NamingRequest | null> => findNamingRequest(db, hashOf(token)),

    name: async (token: string, named: NamedAddress): Promise<Naming> => {
      const request = await findNamingRequest(db, hashOf(token));
      const payment = request === null ? null : await findPayment(db, request.paymentId);
      if (request === null || payment === null) return { kind: 'gone' };
      const fault = faultOf(request, named);
      if (fault !== null) return fault;
      const { value, memo } = named;
      const destination = {
        type: 'crypto_address',
        value,
        memo: memo === '' ? null : memo,
      } as const;
      await nameDestination(db, hashOf(token), destination);
      const outcome = await paymentWorkflows.payRefund(
        paymentStart(payment),
        request.refundId,
        newId('request'),
        DEADLINE_MS,
      );
      if (outcome.kind === 'reserved') return { kind: 'accepted' };
      if (outcome.kind === 'abandoned') return { kind: 'gone' };
      return { kind: outcome.kind === 'refused' ? 'not_now' : 'unclear' };
    },
  };
}

function faultOf({ network }: NamingRequest, { value, memo }: NamedAddress): Naming | null {
  const message = destinationFault(network, value);
  if (message !== null) return { kind: 'invalid', field: 'value', message };
  const fault = memoFault(network, memo === '' ? null : memo);
  if (fault === null) return null;
  const what =
    fault === 'memo_not_supported'
      ? 'This network has no memo. Leave it empty.'
      : `It must be ${memoShape(network)}.`;
  return { kind: 'invalid', field: 'memo', message: what };
}

/**
 * A new link for an operator to hand to the customer; an earlier one works no more.
 * @returns the token, which is stored nowhere
 * @throws AdminRefusal
 */
export async function makeRefundLink(
  db: Db,
  by: ChangedBy,
  refundId: string,
): Promise<{ token: string; until: Date }> {
  const refund = await findRefund(db, refundId);
  if (refund === null)
    throw new AdminRefusal({ code: 'not_found', object: 'refund', id: refundId });
  const until = refund.addressUntil;
  if (until === null || !awaitsAddress(refund)) {
    throw new AdminRefusal({ code: 'refund_awaits_no_address', id: refundId });
  }
  const token = randomBytes(32).toString('base64url');
  return makeChange(db, by, async (tx) => {
    await replaceLink(tx, { refundId, tokenHash: hashOf(token), madeBy: by.actor });
    const audit = {
      action: 'refund.link',
      object: 'refund',
      objectId: refundId,
      accountId: refund.accountId,
      before: null,
      after: null,
    };
    return { result: { token, until }, audit };
  });
}

/** The mail with the link, and where it went. */
export type RefundMail = LinkMail & { email: string };

/** What became of the mail to the customer; null if none was written. */
export async function readRefundMail(
  db: Db,
  { id }: Pick<Refund, 'id'>,
  { customerEmail: email }: Pick<Payment, 'customerEmail'>,
): Promise<RefundMail | null> {
  const mail = email === null ? null : await findLinkMail(db, id, email);
  return mail === null || email === null ? null : { ...mail, email };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
