/** The screening of destinations (decisions/controls#screening): verdicts, and how long an answer counts. */
import type { Beneficiary } from './beneficiary';
import type { DestinationType } from './destination';
import type { Owner } from './mode';

/**
 * - `clear`: nothing speaks against sending there.
 * - `review`: an operator decides.
 * - `block`: nothing may be sent there.
 */
export const VERDICTS = ['clear', 'review', 'block'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The name of the screening service among the sources; the others are lists. */
export const SERVICE = 'service';

/** The name that a blocked payout has as the one who rejected it. */
export const BLOCKED_BY = 'the screening';

/** How long an answer counts; after that the source is asked again. */
export const ANSWER_VALID_MS = 24 * 3_600_000;

/** The strictest of verdicts; `clear` if there is none. */
export function strictest(verdicts: readonly Verdict[]): Verdict {
  return VERDICTS.findLast((verdict) => verdicts.includes(verdict)) ?? 'clear';
}

/** The destination that is screened, of a payout or a recipient. */
export interface ScreeningSubject extends Owner {
  /** The id of the payout or the recipient. */
  objectId: string;
  destination: { type: DestinationType; value: string };
  network: string | null;
  beneficiary: Beneficiary | null;
}
