/**
 * Why a person's request is refused, each reason with its sentence. A page prints the sentence; the admin
 * command adds what its user can type next (src/kit/admin/errors.ts). The reasons are not in domain/errors.ts
 * because the API's callers never receive them.
 */
import type { CatalogueRoute, RouteScope } from '../../db/accounts/currency-routes';
import type { FeeScope } from '../../db/accounts/fee-rules';
import type { ThresholdProposal } from '../../db/accounts/four-eyes';
import type { Direction } from '../../domain/fees';
import type { Owner } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { PaymentDecisionKind } from '../../domain/payment';
import { RELATED_OPERATORS } from '../../domain/payout-decision';
import { RELATED_PEOPLE } from '../../domain/second-person';
import type { UserKind } from '../../domain/users';
import type { WebhookDeliveryStatus } from '../../domain/webhook-delivery';

const OBJECTS = {
  account: 'Account',
  api_key: 'API key',
  audit_entry: 'Audit entry',
  case: 'Case',
  chat_webhook: 'Chat',
  invitation: 'Invitation',
  passkey: 'Passkey',
  payment: 'Payment',
  payment_link: 'Payment link',
  payout: 'Payout',
  payout_batch: 'Batch',
  payout_schedule: 'Schedule',
  recipient: 'Recipient',
  refund: 'Refund',
  request: 'Request',
  session: 'Session',
  user: 'User',
  webhook_endpoint: 'Endpoint',
  webhook_delivery: 'Delivery',
} as const;

export type NotFoundObject = keyof typeof OBJECTS;

export interface PostedAmount extends Owner {
  currency: string;
  direction: 'in' | 'out';
  amount: Amount;
  reason: string;
}

/** What a fee rule is for. */
export type RouteOfFee = Pick<CatalogueRoute, 'provider' | 'direction' | 'currency'>;

interface Id {
  id: string;
}

/** The refusals of valid requests that the current state does not allow. */
const REFUSALS = {
  not_found: ({ object, id }: { object: NotFoundObject; id: string }) =>
    `${OBJECTS[object]} ${id} does not exist.`,
  account_already_verified: ({ id, verifiedAt }: Id & { verifiedAt: Date }) =>
    `${id} is already verified, since ${verifiedAt.toISOString()}.`,
  account_already_suspended: ({ id }: Id) => `${id} is already suspended.`,
  account_not_suspended: ({ id }: Id) => `${id} is not suspended.`,
  account_not_verified: (_: Id) => 'The account is not verified, which live mode requires.',
  too_many_keys: ({ accountId, mode, max }: Owner & { max: number }) =>
    `${accountId} has the maximum of ${max} keys in ${mode} mode. Revoke one first.`,
  api_key_revoked: ({ id, revokedAt }: Id & { revokedAt: Date }) =>
    `${id} was revoked at ${revokedAt.toISOString()}. Create a new key.`,
  api_key_expired: ({ id }: Id) =>
    `${id} has expired, and a rotation keeps the expiry. Create a new key.`,
  refund_awaits_no_address: ({ id }: Id) =>
    `${id} does not wait for an address: it was named, or the refund needs none or has ended.`,
  refund_waits_for_nothing: ({ id }: Id) =>
    `${id} waits for neither an address nor a second person, so it cannot be taken back.`,
  case_already_resolved: ({ id }: Id) => `${id} is already resolved.`,
  case_changed: ({ id }: Id) => `${id} has new facts. Read them, and decide again.`,
  no_fee_rule_in_force: ({ scope, at }: { scope: FeeScope; at: Date }) =>
    `${scope.accountId ?? 'The default'} has no fee rule for ${routeText(scope)} in force at ` +
    `${at.toISOString()}.`,
  fee_rule_planned: ({ startsAt }: { startsAt: Date }) =>
    `Another rule starts at ${startsAt.toISOString()}. End it first, or end this one by then.`,
  route_without_fee: ({ route }: { route: RouteOfFee }) =>
    `There is no default fee rule for ${routeText(route)}. Set one first. Nothing was enabled.`,
  fee_rule_in_use: ({ route }: { route: RouteOfFee }) =>
    `Merchants use ${routeText(route)}, so its default fee rule cannot end without another one.`,
  insufficient_balance: (
    short: Owner & Record<'amount' | 'available' | 'reserved', Amount> & { currency: string },
  ) =>
    `${short.accountId} has ${short.available} ${short.currency} available in ${short.mode} mode, ` +
    `less than ${short.amount}. A further ${short.reserved} is reserved for payouts. Nothing was posted.`,
  operation_id_taken: ({ id, earlier }: Id & { earlier: PostedAmount }) =>
    `${id} is another adjustment: ${earlier.amount} ${earlier.currency} ${earlier.direction} for ` +
    `${earlier.accountId} in ${earlier.mode} mode, "${earlier.reason}". Nothing was posted.`,
  audit_entry_needed: ({ id }: Id) =>
    `Entry ${id} decides who may approve payouts with another person, or says what was erased. It stays.`,
  audit_entry_not_sealed: ({ id }: Id) =>
    `Entry ${id} is not in the chain yet. The worker seals new entries within a minute: try again.`,
  audit_entry_erased: ({ id }: Id) => `The personal part of entry ${id} was already erased.`,
  batch_decided: ({ id }: Id) => `${id} was approved or ended already.`,
  other_manifest: ({ id }: Id) =>
    `${id} has another manifest. Look at its rows again, and name the hash that it has now.`,
  batch_needs_two: ({ id }: Id) => `Two operators must approve ${id}, in the console.`,
  batch_awaits_second_person: ({ id }: Id) =>
    `Another person of the merchant must approve ${id} on the dashboard first.`,
  no_row_left: ({ id }: Id) => `At least one row of ${id} must remain. Reject it instead.`,
  schedule_not_changed: ({ id, status }: Id & { status: string }) => `${id} is ${status}.`,
  payouts_already_paused: () => 'The same person has already paused these payouts for this reason.',
  pause_not_found: ({ id }: Id) => `There is no pause ${id}. Somebody else may have lifted it.`,
  no_threshold_proposed: ({ currency }: { currency: string }) =>
    `No change is proposed for ${currency}.`,
  other_threshold_proposed: ({
    currency,
    proposal,
  }: {
    currency: string;
    proposal: ThresholdProposal;
  }) =>
    `${proposal.proposedBy} proposed ${proposal.amount ?? 'none'} for ${currency}. Confirm that ` +
    'amount, or withdraw the proposal.',
  own_proposal: ({ actor }: { actor: string }) =>
    `${actor} proposed this change. Somebody else must confirm it.`,
  related_operator: ({ other }: { other: string }) =>
    `This approval does not count with the proposal of ${other}: ${RELATED_OPERATORS}. Another admin ` +
    'must approve.',
  role_by_directory: ({ email }: { email: string }) =>
    `The groups of ${email} at the single sign-on provider decide about the role. Change them there.`,
  identity_taken: ({ subject }: { subject: string }) =>
    `The subject ${subject} belongs to another operator.`,
  operator_was_removed: ({ email }: { email: string }) =>
    `${email} belongs to an operator who was removed or disabled. The admin command on the server ` +
    'brings the operator back; invite a new colleague with another address.',
  nothing_to_change: () => 'These values are already in force.',
  second_person_kept: ({ currency }: { currency: string }) =>
    `The amount of ${currency} can be lowered here. Ask the operator to raise or remove it.`,
  made_by_yourself: ({ id }: Id) => `You requested ${id} yourself. Another person must approve it.`,
  related_person: ({ id }: Id) =>
    `Your approval of ${id} does not count: ${RELATED_PEOPLE}. Another person must approve it.`,
  address_unproven: ({ id }: Id) =>
    `Your approval of ${id} does not count: your invitation was handed over as a link, and nobody has confirmed ` +
    'that the email address is yours. Ask the operator to confirm it, or ask somebody else to approve.',
  not_waiting_for_person: ({ id }: Id) => `${id} is no longer waiting for an approval.`,
  changed_since_shown: ({ id }: Id) =>
    `${id} was changed after you opened the page. Look at it again before you approve it.`,
  proposal_ended: () => 'This change was already decided, was replaced or has expired.',
  proposal_outdated: () =>
    'What is in force has changed since, or the person who proposed this change is no longer an admin. ' +
    'Reject the change and propose it again.',
  payment_decision_refused: ({ explanation }: { kind: PaymentDecisionKind; explanation: string }) =>
    explanation,
  email_taken: ({ kind, email }: { kind: UserKind; email: string }) =>
    `${email} is already the email address of another ${kind}.`,
  last_manager: ({ role }: { role: 'owner' | 'admin' }) =>
    `This is the last ${role}. Give the role to somebody else first.`,
  already_vouched: ({ email }: { email: string }) => `${email} was confirmed already.`,
  too_many_invitations: ({ max }: { max: number }) =>
    `At most ${max} invitations can be open. Revoke one first.`,
  too_many_chats: ({ max }: { max: number }) =>
    `At most ${max} chats can be notified. Remove one first.`,
  no_screening_source: ({ name }: { name: string }) => `${name} is not a source of the screening.`,
  not_to_be_screened: ({ id }: Id) =>
    `${id} is no longer screened: it is a test payout, was submitted or has ended.`,
  not_held_by_screening: ({ id }: Id) =>
    `${id} is not held or blocked by the screening: it is clear, was not asked about, or is deleted.`,
  screening_changed: ({ id }: Id) =>
    `${id} does not wait for this decision: its screening has new answers, or it was decided. Read them, and decide again.`,
  endpoint_deleted: ({ id, deletedAt }: Id & { deletedAt: Date }) =>
    `${id} was deleted at ${deletedAt.toISOString()}. Create a new endpoint.`,
  endpoint_already_enabled: ({ id }: Id) => `${id} is already enabled.`,
  endpoint_already_disabled: ({ id }: Id) => `${id} is already disabled.`,
  endpoint_disabled: ({ id }: Id) => `${id} is disabled. Enable it first.`,
  too_many_endpoints: ({ accountId, mode, max }: Owner & { max: number }) =>
    `${accountId} has the maximum of ${max} endpoints in ${mode} mode. Delete one first.`,
  delivery_body_deleted: ({ id, keptDays }: Id & { keptDays: number }) =>
    `${id} cannot be sent again: events are kept for ${keptDays} days.`,
  delivery_already_ended: ({ id, status }: Id & { status: WebhookDeliveryStatus }) =>
    `${id} cannot be abandoned: it is already ${status}.`,
};

/** The problems of a field's value, which do not depend on the gateway's state. */
const PROBLEMS = {
  empty: () => 'Enter a value.',
  too_long: ({ length, max }: { length: number; max: number }) =>
    `It has ${length} characters; the maximum is ${max}.`,
  not_printable: () => 'Use one line without control characters.',
  not_an_amount: ({ value, zeroAllowed }: { value: string; zeroAllowed: boolean }) =>
    `${value} is not a valid amount. Use a plain decimal${zeroAllowed ? '' : ' greater than zero'} ` +
    'with at most 18 digits before and 8 after the decimal point.',
  not_a_percentage: ({ value }: { value: string }) =>
    `${value} is not valid. Use 0 to 100 with at most 4 decimals, such as 0.75.`,
  out_of_range: ({ value, min, max }: { value: number | string; min: number; max: number }) =>
    `${value} is out of range. Use a whole number from ${min} to ${max}.`,
  unknown_name: ({ value, known }: { value: string; known: readonly string[] }) =>
    `"${value}" does not exist.${known.length === 0 ? '' : ` Use all, or some of ${known.join(', ')}.`}`,
  not_a_choice: ({ value, known }: { value: string; known: readonly string[] }) =>
    `"${value}" is not a choice. Use one of ${known.join(', ')}.`,
  none_chosen: () => 'Choose at least one.',
  all_and_some: () => 'Choose all, or single ones, but not both.',
  unsupported_currency: ({ value, supported }: { value: string; supported: readonly string[] }) =>
    `${value} is not a supported currency. Supported currencies: ${supported.join(', ')}.`,
  not_a_time_zone: ({ value }: { value: string }) =>
    `“${value}” is no time zone. Use a name such as Europe/Berlin, America/New_York or UTC.`,
  made_by_key: () =>
    'A key that was created with another key cannot manage keys: leave out api_keys:write.',
  no_file: () => 'Choose a file.',
  file_too_large: () => 'The file has more than 64 KiB. Save the image smaller, or as WebP.',
  not_an_image: () => 'The file is not a PNG, JPEG or WebP image. Save the image as one of these.',
  image_size: ({ width, height }: { width: number; height: number }) =>
    `The image has ${width} x ${height} pixels. Use one from 32 to 1024 pixels wide and high.`,
  not_a_limit: ({ value }: { value: string }) =>
    `${value} is not a limit. Use a currency and an amount, such as USDT=500.`,
  no_such_route: ({ scope }: { scope: RouteScope }) =>
    `${Object.values(scope).join(' ').trimEnd()} is not a route.`,
  no_route: (route: { provider: string; currency: string; direction: Direction }) =>
    `${route.provider} does not support ${route.currency} for ${route.direction}.`,
  not_an_adjustment_id: ({ value }: { value: string }) =>
    `${value} is not an adjustment id: adj_ followed by a ULID of 26 characters.`,
  not_a_date: ({ value }: { value: string }) =>
    `"${value}" is not a date. Use the form 2027-01-31.`,
  in_the_past: ({ value }: { value: Date }) =>
    `${value.toISOString()} is in the past. Use a future time.`,
  in_the_future: ({ value }: { value: Date }) => `${value.toISOString()} is in the future.`,
  not_after_start: ({ value }: { value: Date }) =>
    `${value.toISOString()} is not after the start of the rule. Use a later time.`,
  too_long_ago: ({ value, days }: { value: Date; days: number }) =>
    `${value.toISOString()} is too long ago: events are kept for ${days} days. Use a later time.`,
  above_max_fee: ({ value, maxFee }: { value: Amount; maxFee: Amount }) =>
    `${value} is more than the maximum fee, ${maxFee}. Lower it, or raise the maximum fee.`,
  above_daily_max: ({ value, dailyMax }: { value: Amount; dailyMax: Amount }) =>
    `${value} is more than the limit of 24 hours, ${dailyMax}. Lower it, or raise that limit.`,
  too_many_filters: ({ max }: { max: number }) =>
    `You have ${max} saved filters, which is the maximum. Remove one first.`,
  not_a_list: ({ explanation }: { explanation: string }) => `${explanation} Nothing was imported.`,
  not_a_list_name: ({ value }: { value: string }) =>
    `"${value}" is not a name for a list. Use up to 40 lower-case letters, digits and hyphens; "service" is the screening service.`,
  needs_account: () => 'It is a setting of one account, not of the default.',
  default_needs_account: () => 'The default has no default to follow. Use an amount or none.',
  not_an_email: ({ value }: { value: string }) => `"${value}" is not an email address.`,
  password_common: () => 'This password is easy to guess. Use several unrelated words.',
  password_length: ({ length, min, max }: Record<'length' | 'min' | 'max', number>) =>
    `It has ${length} characters. Use ${min} to ${max}.`,
  unknown_role: ({ value, known }: { value: string; known: readonly string[] }) =>
    `"${value}" is not a role. Use one of ${known.join(', ')}.`,
  url_refused: ({ explanation }: { explanation: string }) =>
    `The URL cannot be used: ${explanation}`,
  too_many_addresses: ({ count, max }: { count: number; max: number }) =>
    `It has ${count} entries; the maximum is ${max}.`,
  not_an_address: ({ value }: { value: string }) =>
    `"${value}" is not an IP address or network. Use 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32, ` +
    'separated by commas.',
  prefix_length: ({ value, version, max }: { value: string; version: 4 | 6; max: number }) =>
    `${value} has an invalid prefix length. IPv${version} prefixes are 0 to ${max}.`,
  host_bits: ({ value, network, address }: Record<'value' | 'network' | 'address', string>) =>
    `${value} has host bits set. Use ${network} for the network, or ${address} for the address.`,
  mapped_ipv4: ({ value }: { value: string }) =>
    `${value} is an IPv4-mapped IPv6 address. Use the IPv4 address.`,
};

/** A code of the catalogue with the data of its sentence. */
type Coded<Catalogue> = {
  [Code in keyof Catalogue]: Catalogue[Code] extends (data: infer Data) => string
    ? { code: Code } & Data
    : never;
}[keyof Catalogue];

export type Refusal = Coded<typeof REFUSALS>;
export type InputProblem = Coded<typeof PROBLEMS>;

/** A refusal of a person's request; its message is the sentence. */
export class AdminRefusal extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super((REFUSALS[refusal.code] as (data: Refusal) => string)(refusal));
    this.refusal = refusal;
  }
}

/** A problem of a field's value; its message is the sentence, without the field. */
export class InvalidInput extends Error {
  /** The name of the field in the form; the admin command has an option of the same name. */
  readonly field: string;
  readonly problem: InputProblem;
  /** All problems that were found together, this one included: the first of each field. */
  faults: readonly InvalidInput[] = [this];

  constructor(field: string, problem: InputProblem) {
    super((PROBLEMS[problem.code] as (data: InputProblem) => string)(problem));
    this.field = field;
    this.problem = problem;
  }
}

/** Collects the problems of an input, so that a person sees them all at once. */
export class InputFaults {
  readonly #faults = new Map<string, InvalidInput>();

  add(fault: InvalidInput): void {
    if (!this.has(fault.field)) this.#faults.set(fault.field, fault);
  }

  has(field: string): boolean {
    return this.#faults.has(field);
  }

  /** @returns undefined when the input of the field is refused */
  async read<T>(reading: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await reading();
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      error.faults.forEach((fault) => {
        this.add(fault);
      });
      return undefined;
    }
  }

  /** @throws InvalidInput about every field that is wrong */
  refuse(): void {
    const [first, ...others] = this.#faults.values();
    if (first === undefined) return;
    first.faults = [first, ...others];
    throw first;
  }
}

function routeText(route: RouteOfFee): string {
  return `${route.currency} ${route.direction} through ${route.provider}`;
}
