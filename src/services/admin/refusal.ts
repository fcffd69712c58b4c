/**
 * The two kinds of errors of an operator's request, as codes with data. src/cli/sentences.ts turns
 * them into messages. They are not in domain/errors.ts because merchants never receive them.
 */
import type { CatalogueRoute, RouteScope } from '../../db/repositories/currency-routes';
import type { FeeScope } from '../../db/repositories/fee-rules';
import type { ThresholdProposal } from '../../db/repositories/four-eyes';
import type { Direction } from '../../domain/fees';
import type { Mode } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { PaymentDecisionKind } from '../../domain/payment';
import type { UserKind } from '../../domain/users';
import type { WebhookDeliveryStatus } from '../../domain/webhook-delivery';

export type NotFoundObject =
  | 'account'
  | 'api_key'
  | 'case'
  | 'invitation'
  | 'passkey'
  | 'payment'
  | 'payout'
  | 'payout_batch'
  | 'request'
  | 'user'
  | 'webhook_endpoint'
  | 'webhook_delivery';

export interface PostedAmount {
  accountId: string;
  mode: Mode;
  currency: string;
  direction: 'in' | 'out';
  amount: Amount;
  reason: string;
}

/** What a fee rule is for. */
export type RouteOfFee = Pick<CatalogueRoute, 'provider' | 'direction' | 'currency'>;

/** The request is valid, but the current state does not allow it. */
export type Refusal =
  | { code: 'not_found'; object: NotFoundObject; id: string }
  | { code: 'account_already_verified'; id: string; verifiedAt: Date }
  | { code: 'account_already_suspended'; id: string }
  | { code: 'account_not_suspended'; id: string }
  | { code: 'account_not_verified'; id: string }
  | { code: 'too_many_keys'; accountId: string; mode: Mode; max: number }
  | { code: 'api_key_revoked'; id: string; revokedAt: Date }
  | { code: 'api_key_expired'; id: string }
  | { code: 'case_already_resolved'; id: string }
  | { code: 'case_changed'; id: string }
  | { code: 'no_fee_rule_in_force'; scope: FeeScope; at: Date }
  | { code: 'fee_rule_planned'; startsAt: Date }
  | { code: 'route_without_fee' | 'fee_rule_in_use'; route: RouteOfFee }
  | {
      code: 'insufficient_balance';
      accountId: string;
      mode: Mode;
      currency: string;
      amount: Amount;
      available: Amount;
      reserved: Amount;
    }
  | { code: 'operation_id_taken'; id: string; earlier: PostedAmount }
  | { code: 'payouts_already_paused' }
  | { code: 'pause_not_found'; id: string }
  | { code: 'no_threshold_proposed'; currency: string }
  | { code: 'other_threshold_proposed'; currency: string; proposal: ThresholdProposal }
  | { code: 'own_proposal'; actor: string }
  | { code: 'related_operator'; other: string }
  | { code: 'operator_was_removed'; email: string }
  | { code: 'nothing_to_change' | 'proposal_ended' | 'proposal_outdated' }
  | { code: 'payment_decision_refused'; kind: PaymentDecisionKind; explanation: string }
  | { code: 'email_taken'; kind: UserKind; email: string }
  | { code: 'last_manager'; role: 'owner' | 'admin' }
  | { code: 'already_vouched'; email: string }
  | { code: 'too_many_invitations'; max: number }
  | { code: 'endpoint_deleted'; id: string; deletedAt: Date }
  | { code: 'endpoint_already_enabled' | 'endpoint_already_disabled'; id: string }
  | { code: 'endpoint_disabled'; id: string }
  | { code: 'too_many_endpoints'; accountId: string; mode: Mode; max: number }
  | { code: 'delivery_body_deleted'; id: string; keptDays: number }
  | { code: 'delivery_already_ended'; id: string; status: WebhookDeliveryStatus };

export class AdminRefusal extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

/** The fields that services check beyond their type. */
export type InputField =
  | 'above'
  | 'allow'
  | 'amount'
  | 'at'
  | 'autoApproveDailyMax'
  | 'autoApproveMax'
  | 'by'
  | 'currency'
  | 'daily'
  | 'description'
  | 'email'
  | 'events'
  | 'expires'
  | 'fixed'
  | 'from'
  | 'maxFee'
  | 'minFee'
  | 'name'
  | 'network'
  | 'operationId'
  | 'password'
  | 'perTransaction'
  | 'percentage'
  | 'rate'
  | 'reason'
  | 'rehearse'
  | 'resolution'
  | 'reviewAll'
  | 'role'
  | 'scopes'
  | 'since'
  | 'until'
  | 'url';

/** A problem of a value that does not depend on the gateway's state. */
export type InputProblem =
  | { code: 'empty' }
  | { code: 'too_long'; length: number; max: number }
  | { code: 'not_printable' }
  | { code: 'not_an_amount'; value: string; zeroAllowed: boolean }
  | { code: 'not_a_percentage'; value: string }
  | { code: 'out_of_range'; value: number | string; min: number; max: number }
  | { code: 'unknown_name'; value: string; known: readonly string[] }
  | { code: 'unsupported_currency'; value: string; supported: readonly string[] }
  | { code: 'no_such_route'; scope: RouteScope }
  | { code: 'no_route'; provider: string; currency: string; direction: Direction }
  | { code: 'not_an_adjustment_id'; value: string }
  | { code: 'not_a_date'; value: string }
  | { code: 'in_the_past'; value: Date }
  | { code: 'in_the_future'; value: Date }
  | { code: 'not_after_start'; value: Date }
  | { code: 'too_long_ago'; value: Date; days: number }
  | { code: 'above_max_fee'; value: Amount; maxFee: Amount }
  | { code: 'above_daily_max'; value: Amount; dailyMax: Amount }
  | { code: 'needs_account' }
  | { code: 'default_needs_account' }
  | { code: 'not_an_email'; value: string }
  | { code: 'password_common' }
  | { code: 'password_length'; length: number; min: number; max: number }
  | { code: 'unknown_role'; value: string; known: readonly string[] }
  | { code: 'url_refused'; explanation: string }
  | { code: 'too_many_addresses'; count: number; max: number }
  | { code: 'not_an_address'; value: string }
  | { code: 'prefix_length'; value: string; version: 4 | 6; max: number }
  | { code: 'host_bits'; value: string; network: string; address: string }
  | { code: 'mapped_ipv4'; value: string };

export class InvalidInput extends Error {
  readonly field: InputField;
  readonly problem: InputProblem;

  constructor(field: InputField, problem: InputProblem) {
    super(`${field}: ${problem.code}`);
    this.field = field;
    this.problem = problem;
  }
}
