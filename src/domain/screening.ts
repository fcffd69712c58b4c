/** The screening of destinations (decisions/controls#screening): verdicts, and how long an answer counts. */
import type { Beneficiary } from './beneficiary';
import type { DestinationType } from './destination';
import type { Mode } from './mode';

/**
 * - `clear`: nothing speaks against sending there.
 * - `review`: an operator decides.
 * - `block`: nothing may be sent there.
 */
export const VERDICTS = ['clear', 'review', 'block'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The name of the screening service among the sources; the others are lists. */
export const SERVICE = 'service';

/** Who rejected a payout that was blocked. */
export const BLOCKED_BY = 'the screening';

/** An older answer is asked for again. */
export const ANSWER_VALID_MS = 24 * 3_600_000;

/** The strictest of verdicts; `clear` if there is none. */
export function strictest(verdicts: readonly Verdict[]): Verdict {
  return VERDICTS.findLast((verdict) => verdicts.includes(verdict)) ?? 'clear';
}

/** What is screened: where a payout or a recipient sends to. */
export interface ScreeningSubject {
  /** The id of the payout or the recipient. */
  objectId: string;
  accountId: string;
  mode: Mode;
  destination: { type: DestinationType; value: string };
  network: string | null;
  beneficiary: Beneficiary | null;
}
