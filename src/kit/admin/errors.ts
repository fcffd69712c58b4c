/** What the admin command prints for an error: its sentence, and what its user can type next. */
import { errorText, UsageError } from '../../platform/lib/command-line';
import {
  AdminRefusal,
  type InputProblem,
  InvalidInput,
  type NotFoundObject,
  type Refusal,
} from '../service/refusal';
import { flagOf } from './change-options';

export function errorSentence(error: unknown): string {
  if (error instanceof InvalidInput) {
    return error.faults
      .map(({ field, message, problem }) => withHint(`${flagOf(field)}: ${message}`, problem))
      .join('\n');
  }
  if (error instanceof AdminRefusal) return withHint(error.message, error.refusal);
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

const LISTED_BY: Partial<Record<NotFoundObject, string>> = {
  account: '`accounts list` lists the accounts.',
  api_key: '`keys list` lists the keys of an account.',
  case: '`cases list --all` lists the cases.',
  payout_batch: '`batches list --all` lists the batches.',
  payout_schedule: '`schedules list --all` lists the schedules.',
  user: '`users list` lists the users.',
  webhook_endpoint: '`webhooks list` lists the endpoints of an account.',
  webhook_delivery: '`webhooks deliveries` lists the deliveries of an endpoint.',
};

type Reason = Refusal | InputProblem;

type Hints = {
  [Code in Reason['code']]?: (reason: Extract<Reason, { code: Code }>) => string | undefined;
};

const HINTS: Hints = {
  not_found: ({ object }) => LISTED_BY[object],
  account_not_verified: ({ id }) => `Run \`accounts verify ${id}\` first.`,
  case_already_resolved: ({ id }) =>
    `\`cases show ${id}\` shows the resolution, \`audit list --object ${id}\` who resolved it.`,
  case_changed: ({ id }) => `\`cases show ${id}\` shows them, and their number for \`--facts\`.`,
  no_fee_rule_in_force: () => '`fees list` lists the rules.',
  fee_rule_planned: ({ startsAt }) =>
    `Use \`--until\` for this rule, or \`fees end --at ${startsAt.toISOString()}\` for that one.`,
  route_without_fee: () => '`fees set --default` sets it.',
  fee_rule_in_use: () =>
    'Set the next rule with `fees set --default`, or disable the routes first.',
  operation_id_taken: () => 'Use a new --operation-id.',
  payouts_already_paused: () => '`payouts pauses` lists the pauses.',
  pause_not_found: () => '`payouts pauses` lists the pauses.',
  no_threshold_proposed: () => '`four-eyes list` lists the proposals.',
  operator_was_removed: () => 'Use `users enable`.',
  already_vouched: () => 'Use `users reset-password` for a new password.',
  no_screening_source: () => '`screening list` lists the sources.',
  no_such_route: () => '`routes list` shows all routes.',
  needs_account: () => 'Use --account instead of --default.',
};

function withHint(sentence: string, reason: Reason): string {
  const hintOf = HINTS[reason.code] as ((reason: Reason) => string | undefined) | undefined;
  const hint = hintOf?.(reason);
  return hint === undefined ? sentence : `${sentence} ${hint}`;
}
