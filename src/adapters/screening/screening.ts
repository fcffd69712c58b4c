/**
 * Screens a destination (decisions/controls#screening): asks every source that has no answer of the last day,
 * and keeps what it says. Nothing is sent without the answers of all of them.
 */
import { canonicalAddress } from '../destinations/canonical';
import {
  answerFromList,
  type AskedSource,
  insertAnswer,
  readSources,
  type Finding,
} from '../../db/screening/screening';
import type { Db } from '../../db/transaction';
import type { Payout } from '../../domain/payout';
import type { Recipient } from '../../domain/recipient';
import { SERVICE, type ScreeningSubject, strictest } from '../../domain/screening';
import { openBeneficiary } from '../../platform/lib/beneficiary-seal';
import type { SecretBox } from '../../platform/lib/secret-box';
import type { ScreeningService } from './service';

/**
 * The strictest verdict.
 * - `no_answer`: no source blocks, and one did not answer. Ask again later.
 */
export type Screened =
  | { kind: 'clear' }
  | { kind: 'review' | 'block'; answers: Finding[] }
  | { kind: 'no_answer'; reason: string; retryAfterMs: number | null };

/** @throws Error when the beneficiary was not read with the payout, or cannot be decrypted */
export function subjectOfPayout(
  secretBox: Pick<SecretBox, 'open'>,
  payout: Payout,
): ScreeningSubject {
  return {
    objectId: payout.id,
    accountId: payout.accountId,
    mode: payout.mode,
    destination: { type: payout.destinationType, value: payout.destinationValue },
    network: payout.network,
    beneficiary: openBeneficiary(secretBox, payout.beneficiary, payout.id),
  };
}

export function subjectOfRecipient(recipient: Recipient): ScreeningSubject {
  return {
    objectId: recipient.id,
    accountId: recipient.accountId,
    mode: recipient.mode,
    destination: { type: recipient.destinationType, value: recipient.destinationValue },
    network: recipient.network,
    beneficiary: null,
  };
}

interface Screening {
  db: Db;
  /** Null if this process has no SCREENING_URL. */
  screeningService: Pick<ScreeningService, 'ask'> | null;
}

/** @param anew asks again also where an answer still counts */
export async function screen(
  { db, screeningService }: Screening,
  subject: ScreeningSubject,
  anew = false,
): Promise<Screened> {
  if (subject.mode === 'test') return { kind: 'clear' };
  const answers: Finding[] = [];
  let missing: NoAnswer | null = null;
  for (const source of await readSources(db, subject)) {
    const given = anew ? null : source.answer;
    // An operator has seen it and decided.
    if (given?.isAllowed === true) continue;
    const answer = given ?? (await ask(db, screeningService, subject, source));
    if ('missing' in answer) missing = answer.missing;
    else if (answer.verdict !== 'clear') answers.push(answer);
    // Nothing that the others say can change it.
    if (answers.some(({ verdict }) => verdict === 'block')) break;
  }
  const verdict = strictest(answers.map((answer) => answer.verdict));
  if (verdict !== 'clear') return { kind: verdict, answers };
  return missing === null ? { kind: 'clear' } : { kind: 'no_answer', ...missing };
}

interface NoAnswer {
  reason: string;
  retryAfterMs: number | null;
}

async function ask(
  db: Db,
  service: Screening['screeningService'],
  subject: ScreeningSubject,
  source: AskedSource,
): Promise<Finding | { missing: NoAnswer }> {
  if (source.name !== SERVICE) {
    const address = canonicalAddress(subject.destination.value);
    const answer = await answerFromList(db, subject, source.name, address);
    return answer ?? noAnswer(`The list ${source.name} was removed.`);
  }
  if (service === null) {
    return noAnswer('Set SCREENING_URL, or remove the service with `admin screening remove`.');
  }
  const answer = await service.ask(subject);
  switch (answer.kind) {
    case 'answer':
      return insertAnswer(db, subject, source, answer);
    case 'limited':
      return noAnswer(answer.reason, answer.retryAfterMs);
    case 'unknown':
      return noAnswer(answer.reason);
  }
}

function noAnswer(reason: string, retryAfterMs: number | null = null): { missing: NoAnswer } {
  return { missing: { reason, retryAfterMs } };
}
