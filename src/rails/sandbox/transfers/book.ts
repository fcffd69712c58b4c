/** The transfers in the providers' book: what the gateway asked for, and what became of it. */
import type { Beneficiary } from '../../onchain-api/requests';
import { nameOf, type ReferenceKey } from '../records';
import type { ScenarioName } from './scenarios';

export interface TransferOrder extends ReferenceKey {
  /** Normalized, 8 decimals. */
  amount: string;
  currency: string;
  network: string | null;
  destinationType: string;
  destination: string;
  memo: string | null;
  /** Who receives the money. */
  beneficiary?: Beneficiary | null;
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
  /** How many steps of its scenario's outcome have been taken. */
  stepsDone: number;
  timesSent: number;
  /** The last status whose callback was answered with 2xx. */
  acknowledgedStatus: TransferStatus | null;
}

/** What a status line changes. */
export type TransferChange = Pick<Transfer, 'status' | 'txHash' | 'failureCode' | 'stepsDone'>;

export type TransferLine = { at: string } & (
  | { type: 'submission'; key: ReferenceKey }
  | { type: 'transfer'; transfer: Transfer }
  | { type: 'status'; key: ReferenceKey; change: TransferChange }
  | { type: 'callback_acknowledged'; key: ReferenceKey; status: TransferStatus }
);

interface Submissions {
  key: ReferenceKey;
  count: number;
}

export class TransferBook {
  private readonly transfers = new Map<string, Transfer>();
  private readonly submissions = new Map<string, Submissions>();

  constructor(private readonly append: (line: TransferLine) => void) {}

  find(key: ReferenceKey): Transfer | undefined {
    return this.transfers.get(nameOf(key));
  }

  /** Oldest first. */
  list(): Transfer[] {
    return [...this.transfers.values()];
  }

  countSubmissions(key: ReferenceKey): number {
    return this.submissions.get(nameOf(key))?.count ?? 0;
  }

  /** Submissions that met a fault before they were recorded, with nothing recorded after them. */
  listUnaccepted(): Submissions[] {
    return [...this.submissions.values()].filter(({ key }) => this.find(key) === undefined);
  }

  recordSubmission(key: ReferenceKey): number {
    this.write({ at: now(), type: 'submission', key: keyOf(key) });
    return this.countSubmissions(key);
  }

  recordTransfer(transfer: Transfer): void {
    this.write({ at: transfer.createdAt, type: 'transfer', transfer });
  }

  recordChange(key: ReferenceKey, change: TransferChange): Transfer {
    this.write({ at: now(), type: 'status', key: keyOf(key), change });
    return this.require(key);
  }

  recordAcknowledgement(key: ReferenceKey, status: TransferStatus): void {
    this.write({ at: now(), type: 'callback_acknowledged', key: keyOf(key), status });
  }

  apply(line: TransferLine): void {
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
    }
  }

  private write(line: TransferLine): void {
    this.apply(line);
    this.append(line);
  }

  private replace(key: ReferenceKey, change: (transfer: Transfer) => Transfer): void {
    this.transfers.set(nameOf(key), change(this.require(key)));
  }

  private require(key: ReferenceKey): Transfer {
    const transfer = this.find(key);
    if (transfer === undefined) throw new Error(`The book has no transfer ${nameOf(key)}.`);
    return transfer;
  }
}

/** Leaves out the other members of the transfer that often stands for its key. */
function keyOf({ provider, mode, reference }: ReferenceKey): ReferenceKey {
  return { provider, mode, reference };
}

function now(): string {
  return new Date().toISOString();
}
