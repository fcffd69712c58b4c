/**
 * Runs every hour: reads the changes in the providers' statements, compares them with the ledger,
 * and opens a case for each difference. A provider that does not answer does not delay the others.
 */
import { isCancellation, log, sleep } from '@temporalio/workflow';
import { activities } from './activities';
import type { Activities } from '../activities';
import type { StatementReading } from './messages';

/** The number of times that a run waits for a provider that limits the rate of requests. */
const LIMITED_MAX = 10;

const { listStatements, lookAgain, noteDifferences } = activities<
  'listStatements' | 'lookAgain' | 'noteDifferences'
>({
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 3 },
});

const { readStatement } = activities<'readStatement'>({
  startToCloseTimeout: '20 minutes',
  retry: { maximumAttempts: 3 },
});

/** Each attempt that a provider answers with 429 waits as long as the provider asked. */
const { askForMissing } = activities<'askForMissing'>({
  startToCloseTimeout: '20 minutes',
  retry: { maximumAttempts: LIMITED_MAX },
});

/** A statement with more than a million entries takes several runs. */
const READINGS_MAX = 300;

/** The time is longer than a payment needs to check its provider. */
const LOOK_MS = 30_000;

interface Reconciled {
  /**
   * Statements that could not be read, such as `onchain_provider live payouts`, with the reason.
   */
  troubles: string[];
  asked: number;
  /** Payments that were signalled to check their provider. */
  told: number;
  noted: number;
}

/** @param lookMs how long payments have to check their provider */
export async function reconciliationWorkflow(lookMs = LOOK_MS): Promise<Reconciled> {
  const troubles: string[] = [];
  for (const statement of await listStatements()) {
    const reading = await readAll(statement);
    if (reading.kind === 'read' || reading.kind === 'more') continue;
    log.warn('a provider’s statement was not read', { ...statement, reason: reading.reason });
    troubles.push(`${statement.provider} ${statement.mode} ${statement.kind}: ${reading.reason}`);
  }
  const asked = await askAll(troubles);
  const { told } = await lookAgain();
  if (told > 0) await sleep(lookMs, { summary: `${told} payments check their provider` });
  const { noted } = await noteDifferences();
  return { troubles, asked, told, noted };
}

async function readAll(
  statement: Parameters<Activities['readStatement']>[0],
): Promise<StatementReading> {
  let reading: StatementReading = await readStatement(statement, null);
  let limits = 0;
  for (let n = 1; n < READINGS_MAX; n += 1) {
    if (reading.kind === 'limited' && limits < LIMITED_MAX) {
      limits += 1;
      await sleep(reading.retryAfterMs, { summary: 'The provider limits the rate of requests' });
    } else if (reading.kind !== 'more') break;
    reading = await readStatement(statement, reading.place);
  }
  return reading;
}

/** If this fails, some cases may be opened without need; the other differences must not wait. */
async function askAll(troubles: string[]): Promise<number> {
  try {
    return (await askForMissing()).asked;
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('entries missing from the statements were not queried', { error });
    troubles.push('entries missing from the statements were not queried');
    return 0;
  }
}
