/**
 * The addresses that one mode has given out, kept in memory for all chains of the mode. New ones are
 * read before each block is matched: an address is shown to a customer after its checkout is stored,
 * so a block that pays it is always newer.
 */
import type { Db } from '../db/database';
import type { WalletMode } from '../networks';
import type { Watched } from './reader';

/** The gateway credits late money for 30 days; after this time only an operator finds it. */
export const WATCHED_DAYS = 90;
const RELOAD_MS = 600_000;
/** Longer than any transaction that stores a checkout. */
const OVERLAP = '2 minutes';

export class WatchList implements Watched {
  private checkouts = new Map<string, string>();
  private addresses: readonly string[] = [];
  private loadedAt = 0;

  constructor(
    private readonly db: Db,
    private readonly mode: WalletMode,
  ) {}

  has(address: string): boolean {
    return this.checkouts.has(address);
  }

  list(): readonly string[] {
    return this.addresses;
  }

  checkoutOf(address: string): string | undefined {
    return this.checkouts.get(address);
  }

  async refresh(): Promise<void> {
    const isFirst = Date.now() - this.loadedAt > RELOAD_MS;
    const rows = await this.db.query<{ id: string; address: string }>(
      isFirst
        ? `SELECT id, address FROM wallet.checkout
           WHERE mode = $1 AND expires_at > now() - interval '${String(WATCHED_DAYS)} days'`
        : `SELECT id, address FROM wallet.checkout
           WHERE mode = $1 AND created_at > clock_timestamp() - interval '${OVERLAP}'`,
      [this.mode],
    );
    if (isFirst) {
      this.checkouts = new Map();
      this.loadedAt = Date.now();
    }
    const before = isFirst ? -1 : this.checkouts.size;
    for (const { id, address } of rows) this.checkouts.set(address, id);
    if (this.checkouts.size !== before) this.addresses = [...this.checkouts.keys()];
  }
}
