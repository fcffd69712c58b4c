/** The messages for the error codes of src/services/admin, in terms of the command line. */
import { errorText, UsageError } from '../lib/command-line';
import {
  AdminRefusal,
  InvalidInput,
  type InputField,
  type InputProblem,
  type NotFoundObject,
  type Refusal,
} from '../services/admin/refusal';

export function errorSentence(error: unknown): string {
  if (error instanceof InvalidInput) {
    return `${optionOf(error.field)}: ${problemSentence(error.problem)}`;
  }
  if (error instanceof AdminRefusal) return refusalSentence(error.refusal);
  if (error instanceof Error && 'severity' in error) {
    return `The database refused the change: ${errorText(error)}`;
  }
  return errorText(error);
}

/**
 * The error to throw when the outcome is unknown; a refusal is returned unchanged.
 * @param unknown a sentence about the unknown outcome
 * @param once the verb of `it posts only once`: `posts`
 */
export function unclear(error: unknown, id: string, unknown: string, once: string): unknown {
  const isRefusal = [AdminRefusal, InvalidInput, UsageError].some((kind) => error instanceof kind);
  if (isRefusal) return error;
  return new Error(
    `${errorSentence(error)}\n${unknown} Send the same command with --operation-id ${id}: it ` +
      `${once} only once.`,
    { cause: error },
  );
}

function optionOf(field: InputField): string {
  return `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

const LISTED_BY: Record<NotFoundObject, string> = {
  account: 'Account % does not exist. `accounts list` lists the accounts.',
  api_key: 'API key % does not exist. `keys list` lists the keys of an account.',
  case: 'Case % does not exist. `cases list --all` lists the cases.',
  invitation: 'Invitation % does not exist.',
  passkey: 'Passkey % does not exist.',
  payment: 'Payment % does not exist.',
  payout: 'Payout % does not exist.',
  payout_batch: 'Batch % does not exist.',
  request: 'Request % is not in the request log.',
  user: 'User % does not exist. `users list` lists the users.',
  webhook_endpoint: 'Endpoint % does not exist. `webhooks list` lists the endpoints of an account.',
  webhook_delivery:
    'Delivery % does not exist. `webhooks deliveries` lists the deliveries of an endpoint.',
};

function refusalSentence(refusal: Refusal): string {
  switch (refusal.code) {
    case 'not_found':
      return LISTED_BY[refusal.object].replace('%', refusal.id);
    case 'account_already_verified':
      return `${refusal.id} is already verified, since ${refusal.verifiedAt.toISOString()}.`;
    case 'account_already_suspended':
      return `${refusal.id} is already suspended.`;
    case 'account_not_suspended':
      return `${refusal.id} is not suspended.`;
    case 'account_not_verified':
      return `${refusal.id} is not verified. Run \`accounts verify\` before you create a live key.`;
    case 'api_key_revoked':
      return `${refusal.id} was revoked at ${refusal.revokedAt.toISOString()}. Create a new key.`;
    case 'api_key_expired':
      return `${refusal.id} has expired, and a rotation keeps the expiry. Create a new key.`;
    case 'case_already_resolved':
      return (
        `${refusal.id} is already resolved. \`cases show ${refusal.id}\` shows the resolution, ` +
        `\`audit list --object ${refusal.id}\` who resolved it.`
      );
    case 'case_changed':
      return (
        `${refusal.id} has another number of facts than \`--facts\` says. Read it again with ` +
        `\`cases show ${refusal.id}\`, and decide about what it shows now.`
      );
    case 'no_fee_rule_in_force': {
      const { accountId, direction, provider, currency } = refusal.scope;
      return (
        `${accountId ?? 'The default'} has no fee rule for ${currency} ${direction} through ` +
        `${provider} in force at ${refusal.at.toISOString()}. \`fees list\` lists the rules.`
      );
    }
    case 'fee_rule_planned': {
      const startsAt = refusal.startsAt.toISOString();
      return (
        `Another rule starts at ${startsAt}. Set --until to that time or earlier, or cancel that ` +
        `rule with \`fees end --at ${startsAt}\`.`
      );
    }
    case 'route_without_fee': {
      const { provider, direction, currency } = refusal.route;
      return (
        `There is no default fee rule for ${currency} ${direction} through ${provider}. ` +
        'Set one first with `fees set --default`. Nothing was enabled.'
      );
    }
    case 'fee_rule_in_use': {
      const { provider, direction, currency } = refusal.route;
      return (
        `Merchants use ${currency} ${direction} through ${provider}, so its default fee rule cannot ` +
        'end without another one. Set the next rule with `fees set --default`, or disable the routes first.'
      );
    }
    case 'insufficient_balance': {
      const { accountId, available, currency, mode, amount, reserved } = refusal;
      return (
        `${accountId} has ${available} ${currency} available in ${mode} mode, less than ${amount}. ` +
        `A further ${reserved} is reserved for payouts. Nothing was posted.`
      );
    }
    case 'operation_id_taken': {
      const { accountId, mode, currency, direction, amount, reason } = refusal.earlier;
      return (
        `${refusal.id} is another adjustment: ${amount} ${currency} ${direction} for ${accountId} ` +
        `in ${mode} mode, "${reason}". Nothing was posted. Use a new --operation-id.`
      );
    }
    case 'payouts_already_paused':
      return 'The same person has already paused these payouts for this reason. `payouts pauses` lists the pauses.';
    case 'pause_not_found':
      return `There is no pause ${refusal.id}. \`payouts pauses\` lists the pauses.`;
    case 'no_threshold_proposed':
      return `No change is proposed for ${refusal.currency}. \`four-eyes list\` lists the proposals.`;
    case 'other_threshold_proposed':
      return (
        `${refusal.proposal.proposedBy} proposed ${refusal.proposal.amount ?? 'none'} for ` +
        `${refusal.currency}. Confirm that amount, or withdraw the proposal.`
      );
    case 'own_proposal':
      return `${refusal.actor} proposed this change. Somebody else must confirm it.`;
    case 'related_operator':
      return (
        `${refusal.other} and the person who confirms do not count as two: one invited the other or ` +
        "proposed the other's role in the last 30 days. Another admin must confirm it."
      );
    case 'operator_was_removed':
      return `${refusal.email} belongs to an operator who was removed or disabled. Use \`users enable\`.`;
    case 'nothing_to_change':
      return 'These values are already in force.';
    case 'proposal_ended':
      return 'This proposal was already decided, was replaced or has expired.';
    case 'proposal_outdated':
      return 'What is in force has changed since. Reject the proposal and propose it again.';
    case 'payment_decision_refused':
      return `The \`${refusal.kind}\` was refused: ${refusal.explanation}`;
    case 'email_taken':
      return `${refusal.email} is already the email address of another ${refusal.kind}.`;
    case 'last_manager':
      return `This is the last ${refusal.role}. Give the role to somebody else first.`;
    case 'too_many_keys':
      return `${refusal.accountId} has the maximum of ${refusal.max} keys in ${refusal.mode} mode. Revoke one first.`;
    case 'already_vouched':
      return `${refusal.email} is not bound to an account. Use \`users reset-password\` for a new password.`;
    case 'too_many_invitations':
      return `At most ${refusal.max} invitations can be open. Revoke one first.`;
    case 'endpoint_deleted':
      return `${refusal.id} was deleted at ${refusal.deletedAt.toISOString()}. Create a new endpoint.`;
    case 'endpoint_already_enabled':
      return `${refusal.id} is already enabled.`;
    case 'endpoint_already_disabled':
      return `${refusal.id} is already disabled.`;
    case 'endpoint_disabled':
      return `${refusal.id} is disabled. Run \`webhooks enable ${refusal.id}\` first.`;
    case 'too_many_endpoints':
      return (
        `${refusal.accountId} has the maximum of ${refusal.max} endpoints in ${refusal.mode} mode. ` +
        'Delete one first.'
      );
    case 'delivery_body_deleted':
      return `${refusal.id} cannot be sent again: events are kept for ${refusal.keptDays} days.`;
    case 'delivery_already_ended':
      return `${refusal.id} cannot be abandoned: it is already ${refusal.status}.`;
  }
}

function problemSentence(problem: InputProblem): string {
  switch (problem.code) {
    case 'empty':
      return 'It must not be empty.';
    case 'too_long':
      return `It has ${problem.length} characters; the maximum is ${problem.max}.`;
    case 'not_printable':
      return 'It must be one line without control characters.';
    case 'not_an_amount':
      return (
        `${problem.value} is not a valid amount. Use a plain decimal${problem.zeroAllowed ? '' : ' greater than zero'} ` +
        'with at most 18 digits before and 8 after the decimal point.'
      );
    case 'not_a_percentage':
      return `${problem.value} is not valid. Use 0 to 100 with at most 4 decimals, such as 0.75.`;
    case 'out_of_range':
      return `${problem.value} is out of range. Use ${problem.min} to ${problem.max}.`;
    case 'unknown_name':
      return `"${problem.value}" does not exist. Use all, or some of ${problem.known.join(', ')}.`;
    case 'unsupported_currency':
      return (
        `${problem.value} is not a supported currency. ` +
        `Supported currencies: ${problem.supported.join(', ')}.`
      );
    case 'no_such_route':
      return `${Object.values(problem.scope).join(' ').trimEnd()} is not a route. \`routes list\` shows all routes.`;
    case 'no_route':
      return `${problem.provider} does not support ${problem.currency} for ${problem.direction}.`;
    case 'not_an_adjustment_id':
      return `${problem.value} is not an adjustment id: adj_ followed by a ULID of 26 characters.`;
    case 'not_a_date':
      return `"${problem.value}" is not a date. Use the form 2027-01-31.`;
    case 'in_the_future':
      return `${problem.value.toISOString()} is in the future.`;
    case 'in_the_past':
      return `${problem.value.toISOString()} is in the past. Use a future time.`;
    case 'not_after_start':
      return `${problem.value.toISOString()} is not after the start of the rule. Use a later time.`;
    case 'too_long_ago':
      return (
        `${problem.value.toISOString()} is too long ago: events are kept for ${problem.days} ` +
        'days. Use a later time.'
      );
    case 'above_max_fee':
      return `${problem.value} is more than --max-fee ${problem.maxFee}. Lower it, or raise --max-fee.`;
    case 'above_daily_max':
      return `${problem.value} is more than the limit of 24 hours, ${problem.dailyMax}. Lower it, or raise that limit.`;
    case 'needs_account':
      return 'It is a setting of one account. Use --account instead of --default.';
    case 'default_needs_account':
      return 'With --default there is no default to follow. Use an amount or none.';
    case 'not_an_email':
      return `"${problem.value}" is not an email address.`;
    case 'password_common':
      return 'This password is easy to guess. Use several unrelated words.';
    case 'password_length':
      return `It has ${problem.length} characters. Use ${problem.min} to ${problem.max}.`;
    case 'unknown_role':
      return `"${problem.value}" is not a role. Use one of ${problem.known.join(', ')}.`;
    case 'url_refused':
      return `The URL cannot be used: ${problem.explanation}`;
    case 'too_many_addresses':
      return `It has ${problem.count} entries; the maximum is ${problem.max}.`;
    case 'not_an_address':
      return (
        `"${problem.value}" is not an IP address or network. Use 203.0.113.7, 10.0.0.0/8 or ` +
        '2001:db8::/32, separated by commas.'
      );
    case 'prefix_length':
      return (
        `${problem.value} has an invalid prefix length. IPv${problem.version} prefixes are 0 to ` +
        `${problem.max}.`
      );
    case 'host_bits':
      return (
        `${problem.value} has host bits set. Use ${problem.network} for the network, or ` +
        `${problem.address} for the address.`
      );
    case 'mapped_ipv4':
      return `${problem.value} is an IPv4-mapped IPv6 address. Use the IPv4 address.`;
  }
}
