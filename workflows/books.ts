/**
 * Runs once an hour: reads what changed in the providers' books, compares them with ours, and
 * makes an exception of each difference. A provider that does not answer keeps nobody else waiting.
 */
import { isCancellation, log, proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities';
import type { BookReading } from './messages';

const { listBooks, lookAgain, noteDifferences } = proxyActivities<
  Pick<Activities, 'listBooks' | 'lookAgain' | 'noteDifferences'>
>({
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 3 },
});

const { readBook, askForMissing } = proxyActivities<Pick<Activities, 'readBook' | 'askForMissing'>>(
  {
    startToCloseTimeout: '20 minutes',
    retry: { maximumAttempts: 3 },
  },
);

/** A book of more than a million entries is read over several runs. */
const MOST_READINGS = 300;

/** Longer than a payment needs to look at its provider. */
const LOOK_MS = 60_000;

interface ComparedBooks {
  /** Such as `onchain_provider live payouts`, with the reason. */
  troubles: string[];
  asked: number;
  /** Payments that were told to look at the provider. */
  told: number;
  noted: number;
}

/** @param lookMs how long payments have for a look */
export async function booksWorkflow(lookMs = LOOK_MS): Promise<ComparedBooks> {
  const troubles: string[] = [];
  for (const book of await listBooks()) {
    let reading: BookReading = await readBook(book, null);
    for (let n = 1; reading.kind === 'more' && n < MOST_READINGS; n += 1) {
      reading = await readBook(book, reading.place);
    }
    if (reading.kind !== 'trouble') continue;
    log.warn('a provider’s book was not read', { ...book, reason: reading.reason });
    troubles.push(`${book.provider} ${book.mode} ${book.book}: ${reading.reason}`);
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
    log.warn('what the books lack was not asked for', { error });
    troubles.push('what the books lack was not asked for');
    return 0;
  }
}
