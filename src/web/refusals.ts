/** The error codes of src/services/admin as sentences for a page. */
import {
  AdminRefusal,
  type InputProblem,
  InvalidInput,
  type Refusal,
} from '../services/admin/refusal';

export function refusalText(refusal: Refusal): string {
  switch (refusal.code) {
    case 'not_found':
      return `${refusal.id} does not exist.`;
    case 'account_already_verified':
      return 'The account is already verified.';
    case 'account_already_suspended':
      return 'The account is already suspended.';
    case 'account_not_suspended':
      return 'The account is not suspended.';
    case 'account_not_verified':
      return 'The account is not verified yet. Keys for live mode need a verified account.';
    case 'api_key_revoked':
      return `The key was revoked at ${refusal.revokedAt.toISOString()}. Create a new key.`;
    case 'api_key_expired':
      return 'The key has expired, and a rotation keeps the expiry. Create a new key.';
    case 'case_already_resolved':
      return 'Somebody else has already resolved this case.';
    case 'case_changed':
      return 'The case has new facts. Read them, and decide again.';
    case 'no_fee_rule_in_force':
      return 'No fee rule is in force at that time.';
    case 'fee_rule_planned':
      return `Another fee rule starts at ${refusal.startsAt.toISOString()}. End it first.`;
    case 'route_without_fee':
      return `There is no default fee rule for ${refusal.route.currency} through ${refusal.route.provider}. Set one first.`;
    case 'fee_rule_in_use':
      return 'Merchants use this default fee rule. Set the next one instead of ending it.';
    case 'insufficient_balance':
      return `Only ${refusal.available} ${refusal.currency} is available, less than ${refusal.amount}.`;
    case 'operation_id_taken':
      return 'This operation was already posted with other values. Nothing was posted now.';
    case 'payouts_already_paused':
      return 'You have already paused these payouts for this reason.';
    case 'pause_not_found':
      return 'This pause does not exist. Somebody else may have lifted it.';
    case 'no_threshold_proposed':
      return `No change is proposed for ${refusal.currency}.`;
    case 'other_threshold_proposed':
      return `The proposal for ${refusal.currency} is ${refusal.proposal.amount ?? 'none'} now.`;
    case 'own_proposal':
      return 'You proposed this change. Somebody else must confirm it.';
    case 'related_operator':
      return `Your approval does not count with the proposal of ${refusal.other}: one of you invited the other or proposed the other's role in the last 30 days. Another admin must approve.`;
    case 'operator_was_removed':
      return `${refusal.email} belongs to an operator who was removed or disabled. The admin command on the server (users enable) brings the operator back; invite a new colleague with another address.`;
    case 'nothing_to_change':
      return 'These values are already in force.';
    case 'proposal_ended':
      return 'This change was already decided, was replaced or has expired. Open the account to see what is in force.';
    case 'proposal_outdated':
      return 'What is in force has changed since, or the person who proposed this change is no longer an admin. Reject the change and propose it again.';
    case 'payment_decision_refused':
      return refusal.explanation;
    case 'email_taken':
      return `${refusal.email} is already in use.`;
    case 'last_manager':
      return `This is the last ${refusal.role}. Make somebody else ${refusal.role === 'owner' ? 'an owner' : 'an admin'} first.`;
    case 'too_many_keys':
      return `The account has the maximum of ${refusal.max} keys in this mode. Revoke one first.`;
    case 'already_vouched':
      return `${refusal.email} is not bound to an account.`;
    case 'too_many_invitations':
      return `At most ${refusal.max} invitations can be open. Revoke one first.`;
    case 'endpoint_deleted':
      return `The endpoint was deleted at ${refusal.deletedAt.toISOString()}. Create a new one.`;
    case 'endpoint_already_enabled':
      return 'The endpoint is already enabled.';
    case 'endpoint_already_disabled':
      return 'The endpoint is already disabled.';
    case 'endpoint_disabled':
      return 'The endpoint is disabled. Enable it first.';
    case 'too_many_endpoints':
      return `The account has the maximum of ${refusal.max} endpoints in this mode. Delete one first.`;
    case 'delivery_body_deleted':
      return `The event cannot be sent again: events are kept for ${refusal.keptDays} days.`;
    case 'delivery_already_ended':
      return `The delivery has already ended: ${refusal.status}.`;
  }
}

/** The message below a field. */
export function problemText(problem: InputProblem): string {
  switch (problem.code) {
    case 'empty':
      return 'Enter a value.';
    case 'too_long':
      return `Use at most ${problem.max} characters; this has ${problem.length}.`;
    case 'not_printable':
      return 'Use one line without control characters.';
    case 'not_an_amount':
      return 'Enter a decimal amount with at most 8 digits after the point.';
    case 'not_a_percentage':
      return 'Enter 0 to 100 with at most 4 decimals.';
    case 'out_of_range':
      return `Enter a whole number from ${problem.min} to ${problem.max}.`;
    case 'unknown_name':
      return problem.value === '' ? 'Choose at least one.' : `${problem.value} does not exist.`;
    case 'unsupported_currency':
      return `Supported currencies: ${problem.supported.join(', ')}.`;
    case 'no_such_route':
      return `${problem.scope.provider} has no such network, currency and direction.`;
    case 'no_route':
      return `${problem.provider} does not support ${problem.currency}.`;
    case 'not_an_adjustment_id':
      return 'Enter adj_ followed by 26 characters.';
    case 'not_a_date':
      return `${problem.value} is not a date. Enter it as 2027-01-31.`;
    case 'in_the_future':
      return 'Choose a time in the past.';
    case 'in_the_past':
      return 'Choose a time in the future.';
    case 'not_after_start':
      return 'Choose a time after the start.';
    case 'too_long_ago':
      return `Events are kept for ${problem.days} days. Choose a later time.`;
    case 'above_max_fee':
      return `Enter at most the maximum fee, ${problem.maxFee}.`;
    case 'above_daily_max':
      return `Enter at most the limit of 24 hours, ${problem.dailyMax}.`;
    case 'needs_account':
    case 'default_needs_account':
      return 'Choose an account.';
    case 'not_an_email':
      return 'Enter an email address.';
    case 'password_common':
      return 'This password is easy to guess. Use several unrelated words.';
    case 'password_length':
      return `Use ${problem.min} to ${problem.max} characters.`;
    case 'unknown_role':
      return `Choose one of ${problem.known.join(', ')}.`;
    case 'url_refused':
      return problem.explanation;
    case 'too_many_addresses':
      return `Enter at most ${problem.max} addresses.`;
    case 'not_an_address':
      return `${problem.value} is not an IP address or network. Use 203.0.113.7 or 10.0.0.0/8.`;
    case 'prefix_length':
      return `${problem.value}: an IPv${problem.version} prefix is 0 to ${problem.max}.`;
    case 'host_bits':
      return `Use ${problem.network} for the network, or ${problem.address} for the address.`;
    case 'mapped_ipv4':
      return `${problem.value} is an IPv4-mapped address. Use the IPv4 address.`;
  }
}

/**
 * Runs a change; an invalid field becomes the message below it.
 * @param accountField the field that names an account, which may not exist
 */
export async function fieldErrors<Result>(
  change: () => Promise<Result>,
  accountField: string | null = null,
): Promise<{ answer: Result; fields: null } | { answer: null; fields: Record<string, string> }> {
  try {
    return { answer: await change(), fields: null };
  } catch (error) {
    if (accountField !== null && error instanceof AdminRefusal) {
      const { refusal } = error;
      if (refusal.code === 'not_found' && refusal.object === 'account') {
        return { answer: null, fields: { [accountField]: 'This account does not exist.' } };
      }
    }
    if (!(error instanceof InvalidInput)) throw error;
    return { answer: null, fields: { [error.field]: problemText(error.problem) } };
  }
}
