/**
 * Objection models of the tables that are read and written as objects: thin, without relations or
 * hooks. Values are in camel case; columns named in a query are the table's own.
 */
import knex from 'knex';
import { Model } from 'objection';
import type { Payment } from '../domain/payment';
import type { Payout } from '../domain/payout';
import { COLUMN_NAMES } from './column-names';

/** Composes queries and has no connection: `Queries.query` sends them. */
class Composer extends Model {}
Composer.knex(knex({ client: 'pg' }));

/** Rows of `payouts`. */
export class PayoutModel extends Composer implements Payout {
  static override tableName = 'payouts';
  static override columnNameMappers = COLUMN_NAMES;
  static override jsonAttributes = ['feeTerms', 'metadata'];

  declare id: Payout['id'];
  declare accountId: Payout['accountId'];
  declare mode: Payout['mode'];
  declare reference: Payout['reference'];
  declare status: Payout['status'];
  declare provider: Payout['provider'];
  declare amount: Payout['amount'];
  declare currency: Payout['currency'];
  declare network: Payout['network'];
  declare destinationType: Payout['destinationType'];
  declare destinationValue: Payout['destinationValue'];
  declare destinationMemo: Payout['destinationMemo'];
  declare serviceFee: Payout['serviceFee'];
  declare networkFee: Payout['networkFee'];
  declare totalDebit: Payout['totalDebit'];
  declare feeTerms: Payout['feeTerms'];
  declare description: Payout['description'];
  declare metadata: Payout['metadata'];
  declare apiKeyId: Payout['apiKeyId'];
  declare reviewReasons: Payout['reviewReasons'];
  declare decidedBy: Payout['decidedBy'];
  declare txHash: Payout['txHash'];
  declare failureReason: Payout['failureReason'];
  declare rejectionReason: Payout['rejectionReason'];
  declare providerTransferId: Payout['providerTransferId'];
  declare submissionStartedAt: Payout['submissionStartedAt'];
  declare inDoubtSince: Payout['inDoubtSince'];
  declare processingSince: Payout['processingSince'];
  declare attentionLevel: Payout['attentionLevel'];
  declare batchId: Payout['batchId'];
  declare batchRow: Payout['batchRow'];
  declare awaitsBatch: Payout['awaitsBatch'];
  declare recipientId: Payout['recipientId'];
  declare awaitsRelease: Payout['awaitsRelease'];
  declare releaseExpiresAt: Payout['releaseExpiresAt'];
  declare releasedAt: Payout['releasedAt'];
  declare releaseExpiredAt: Payout['releaseExpiredAt'];
  /** Only for payouts that a pause holds; see payout-submissions.ts. */
  declare wakeAfter: Date | null;
  declare sequence: Payout['sequence'];
  declare createdAt: Payout['createdAt'];
  declare updatedAt: Payout['updatedAt'];
}

/** Rows of `payments`. */
export class PaymentModel extends Composer implements Payment {
  static override tableName = 'payments';
  static override columnNameMappers = COLUMN_NAMES;
  static override jsonAttributes = ['feeTerms', 'metadata'];

  declare id: Payment['id'];
  declare accountId: Payment['accountId'];
  declare mode: Payment['mode'];
  declare reference: Payment['reference'];
  declare status: Payment['status'];
  declare provider: Payment['provider'];
  declare amount: Payment['amount'];
  declare currency: Payment['currency'];
  declare network: Payment['network'];
  declare receivedAmount: Payment['receivedAmount'];
  declare unconfirmedAmount: Payment['unconfirmedAmount'];
  declare creditedAmount: Payment['creditedAmount'];
  declare serviceFee: Payment['serviceFee'];
  declare refundedAmount: Payment['refundedAmount'];
  declare reversedAmount: Payment['reversedAmount'];
  declare reversedFee: Payment['reversedFee'];
  declare feeTerms: Payment['feeTerms'];
  declare exceptions: Payment['exceptions'];
  declare txHash: Payment['txHash'];
  declare checkoutUrl: Payment['checkoutUrl'];
  declare successUrl: Payment['successUrl'];
  declare cancelUrl: Payment['cancelUrl'];
  declare description: Payment['description'];
  declare customerEmail: Payment['customerEmail'];
  declare metadata: Payment['metadata'];
  declare failureReason: Payment['failureReason'];
  declare apiKeyId: Payment['apiKeyId'];
  declare providerCheckoutId: Payment['providerCheckoutId'];
  declare sequence: Payment['sequence'];
  declare createdAt: Payment['createdAt'];
  declare updatedAt: Payment['updatedAt'];
  declare expiresAt: Payment['expiresAt'];
  declare completedAt: Payment['completedAt'];
}
