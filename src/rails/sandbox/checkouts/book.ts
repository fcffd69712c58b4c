/**
 * The checkouts in the providers' book. Each line holds the whole checkout as it was after the
 * change: the last line of a reference is its state.
 */
import { nameOf, type ReferenceKey } from '../records';
import type { Checkout } from './checkout';

export type CheckoutLine = { at: string } & (
  | { type: 'checkout'; checkout: Checkout }
  | { type: 'checkout_acknowledged'; key: ReferenceKey; version: number }
);

export class CheckoutBook {
  private readonly checkouts = new Map<string, Checkout>();
  private readonly names = new Map<string, string>();

  constructor(private readonly append: (line: CheckoutLine) => void) {}

  find(key: ReferenceKey): Checkout | undefined {
    return this.checkouts.get(nameOf(key));
  }

  /** @param id the secret part of its page's URL */
  findById(id: string): Checkout | undefined {
    return this.checkouts.get(this.names.get(id) ?? '');
  }

  /** Oldest first. */
  list(): Checkout[] {
    return [...this.checkouts.values()];
  }

  record(checkout: Checkout): void {
    this.write({ at: new Date().toISOString(), type: 'checkout', checkout });
  }

  recordAcknowledgement({ provider, mode, reference }: ReferenceKey, version: number): void {
    const key = { provider, mode, reference };
    this.write({ at: new Date().toISOString(), type: 'checkout_acknowledged', key, version });
  }

  apply(line: CheckoutLine): void {
    if (line.type === 'checkout') {
      this.checkouts.set(nameOf(line.checkout), line.checkout);
      this.names.set(line.checkout.id, nameOf(line.checkout));
      return;
    }
    const checkout = this.find(line.key);
    if (checkout === undefined) throw new Error(`The book has no checkout ${nameOf(line.key)}.`);
    // Callbacks of several versions can be in flight together, and the older may arrive last.
    const acknowledgedVersion = Math.max(checkout.acknowledgedVersion, line.version);
    this.checkouts.set(nameOf(line.key), { ...checkout, acknowledgedVersion });
  }

  private write(line: CheckoutLine): void {
    this.apply(line);
    this.append(line);
  }
}
