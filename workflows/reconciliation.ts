/**
 * Runs once an hour: reads what changed in the providers' statements, compares them with ours, and
 * opens a case for each difference. A provider that does not answer delays no other.
 */
import { isCancellation, log, sleep } from '@temporalio/workflow';
import { activities } from './activities';
import type { StatementReading } from './messages';

const { listStatements, lookAgain, noteDifferences } = activities<
  'listStatements' | 'lookAgain' | 'noteDifferences'
>({
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 3 },
});

const { readStatement, askForMissing } = activities<'readStatement' | 'askForMissing'>({
  startToCloseTimeout: '20 minutes',
  retry: { maximumAttempts: 3 },
});

/** A statement of more than a million entries is read over several runs. */
const READINGS_MAX = 300;

/** Longer than a payment needs to look at its provider. */
const LOOK_MS = 60_000;

interface Reconciled {
  /** Such as `onchain_provider live payouts`, with the reason. */
  troubles: string[];
  asked: number;
  /** Payments that were told to look at the provider. */
  told: number;
  noted: number;
}

/** @param lookMs how long payments have for a look */
export async function reconciliationWorkflow(lookMs = LOOK_MS): Promise<Reconciled> {
  const troubles: string[] = [];
  for (const statement of await listStatements()) {
    let reading: StatementReading = await readStatement(statement, null);
    for (let n = 1; reading.kind === 'more' && n < READINGS_MAX; n += 1) {
      reading = await readStatement(statement, reading.place);
    }
    if (reading.kind !== 'trouble') continue;
    log.warn('a provider’s statement was not read', { ...statement, reason: reading.reason });
    troubles.push(`${statement.provider} ${statement.mode} ${statement.kind}: ${reading.reason}`);
  }
  const asked = await askAll(troubles);
  const { told } = await lookAgain();
  if (told > 0) await sleep(lookMs, { summary: `${told} payments look at their provider` });
  const { noted } = await noteDifferences();
  return { troubles, asked, told, noted };
}

/** Without it a few differences may be noted that are none; the others must not wait for it. */
async function askAll(troubles: string[]): Promise<number> {
  try {
    return (await askForMissing()).asked;
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('what the statements lack was not asked for', { error });
    troubles.push('what the statements lack was not asked for');
    return 0;
  }
}
