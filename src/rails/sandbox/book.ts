/**
 * The providers' own record of what they were asked and what they sent: the other side that the
 * gateway's ledger is compared with. The state is derived from the journal's lines alone, so a
 * restart restores exactly what was known before.
 */
import { CheckoutBook, type CheckoutLine } from './checkouts/book';
import { MEMORY_ONLY, openJournal, type Journal } from './journal';
import { TransferBook, type TransferLine } from './transfers/book';

type Line = TransferLine | CheckoutLine;

export class Book {
  private journal: Journal = MEMORY_ONLY;
  readonly transfers = new TransferBook((line) => {
    this.journal.append(line);
  });
  readonly checkouts = new CheckoutBook((line) => {
    this.journal.append(line);
  });

  static async open(dataDir: string | null): Promise<Book> {
    const book = new Book();
    if (dataDir !== null) {
      book.journal = await openJournal(dataDir, (line) => {
        book.apply(line as Line);
      });
    }
    return book;
  }

  /** Everything recorded so far is on the disk. Awaited before anybody is told anything. */
  flushed(): Promise<void> {
    return this.journal.flushed();
  }

  close(): Promise<void> {
    return this.journal.close();
  }

  private apply(line: Line): void {
    switch (line.type) {
      case 'submission':
      case 'transfer':
      case 'status':
      case 'callback_acknowledged':
        this.transfers.apply(line);
        return;
      case 'checkout':
      case 'checkout_acknowledged':
        this.checkouts.apply(line);
    }
  }
}
