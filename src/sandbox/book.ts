/**
 * The providers' own record of what they were asked and what they sent: the other side that the
 * gateway's ledger is compared with. State is the result of the journal's lines and of nothing
 * else, so a restart reads exactly what was known before.
 */
import { CheckoutBook, type CheckoutLine } from './checkouts/book';
import type { BookMode, ProviderName } from './config';
import { MEMORY_ONLY, openJournal, type Journal } from './journal';
import type { ScenarioName } from './scenarios';

/** One client reference in one provider's book of one mode. */
export interface TransferKey {
  provider: ProviderName;
  mode: BookMode;
  reference: string;
}

export interface TransferOrder extends TransferKey {
  /** Normalized, 8 decimals. */
  amount: string;
  currency: string;
  network: string | null;
  destinationType: string;
  destination: string;
  memo: string | null;
}

/** `refused` never was a transfer; it is kept so that the reference stays refused. */
export type TransferStatus = 'pending' | 'sent' | 'failed' | 'refused';

export interface Transfer extends TransferOrder {
  id: string;
  scenario: ScenarioName;
  status: TransferStatus;
  txHash: string | null;
  failureCode: string | null;
  createdAt: string;
  updatedAt: string;
  /** How many steps of its scenario's outcome lie behind it. */
  stepsDone: number;
  timesSent: number;
  /** The last status of which a callback was answered with 2xx. */
  acknowledgedStatus: TransferStatus | null;
}

/** What a status line changes. */
export type TransferChange = Pick<Transfer, 'status' | 'txHash' | 'failureCode' | 'stepsDone'>;

type TransferLine = { at: string } & (
  | { type: 'submission'; key: TransferKey }
  | { type: 'transfer'; transfer: Transfer }
  | { type: 'status'; key: TransferKey; change: TransferChange }
  | { type: 'callback_acknowledged'; key: TransferKey; status: TransferStatus }
);

type Line = TransferLine | CheckoutLine;

export interface Submissions {
  key: TransferKey;
  count: number;
}

export class Book {
  private readonly transfers = new Map<string, Transfer>();
  private readonly submissions = new Map<string, Submissions>();
  private journal: Journal = MEMORY_ONLY;
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

  find(key: TransferKey): Transfer | undefined {
    return this.transfers.get(nameOf(key));
  }

  /** Oldest first. */
  list(): Transfer[] {
    return [...this.transfers.values()];
  }

  countSubmissions(key: TransferKey): number {
    return this.submissions.get(nameOf(key))?.count ?? 0;
  }

  listSubmissions(): Submissions[] {
    return [...this.submissions.values()];
  }

  recordSubmission(key: TransferKey): number {
    const { provider, mode, reference } = key;
    this.record({ at: now(), type: 'submission', key: { provider, mode, reference } });
    return this.countSubmissions(key);
  }

  recordTransfer(transfer: Transfer): void {
    this.record({ at: transfer.createdAt, type: 'transfer', transfer });
  }

  recordChange(key: TransferKey, change: TransferChange): Transfer {
    const { provider, mode, reference } = key;
    this.record({ at: now(), type: 'status', key: { provider, mode, reference }, change });
    return this.require(key);
  }

  recordAcknowledgement(key: TransferKey, status: TransferStatus): void {
    const { provider, mode, reference } = key;
    const line = {
      type: 'callback_acknowledged',
      key: { provider, mode, reference },
      status,
    } as const;
    this.record({ at: now(), ...line });
  }

  private record(line: TransferLine): void {
    this.apply(line);
    this.journal.append(line);
  }

  private apply(line: Line): void {
    switch (line.type) {
      case 'submission': {
        const count = this.countSubmissions(line.key) + 1;
        this.submissions.set(nameOf(line.key), { key: line.key, count });
        return;
      }
      case 'transfer':
        this.transfers.set(nameOf(line.transfer), line.transfer);
        return;
      case 'status':
        this.replace(line.key, (transfer) => ({
          ...transfer,
          ...line.change,
          updatedAt: line.at,
          timesSent: transfer.timesSent + (line.change.status === 'sent' ? 1 : 0),
        }));
        return;
      case 'callback_acknowledged':
        this.replace(line.key, (transfer) => ({ ...transfer, acknowledgedStatus: line.status }));
        return;
      case 'checkout':
      case 'checkout_acknowledged':
        this.checkouts.apply(line);
    }
  }

  private replace(key: TransferKey, change: (transfer: Transfer) => Transfer): void {
    this.transfers.set(nameOf(key), change(this.require(key)));
  }

  private require(key: TransferKey): Transfer {
    const transfer = this.find(key);
    if (transfer === undefined) throw new Error(`The book has no transfer ${nameOf(key)}.`);
    return transfer;
  }
}

function nameOf(key: TransferKey): string {
  return `${key.provider}/${key.mode}/${key.reference}`;
}

function now(): string {
  return new Date().toISOString();
}
