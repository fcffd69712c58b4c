/**
 * Runs once an hour: reads what changed in the providers' books, compares them with ours, and
 * makes an exception of each difference. A provider that does not answer keeps nobody else waiting.
 */
import { log, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';
import type { BookReading } from './messages';

const { listBooks, noteDifferences } = proxyActivities<
  Pick<Activities, 'listBooks' | 'noteDifferences'>
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

interface ComparedBooks {
  /** Such as `onchain_provider live payouts`, with the reason. */
  troubles: string[];
  asked: number;
  noted: number;
}

export async function booksWorkflow(): Promise<ComparedBooks> {
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
  const { asked } = await askForMissing();
  const { noted } = await noteDifferences();
  return { troubles, asked, noted };
}
