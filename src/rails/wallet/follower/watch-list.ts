/**
 * The addresses that one mode has given out, kept in memory for all chains of the mode. New ones are
 * read before each block is matched: an address is shown to a customer after its checkout is stored,
 * so a block that pays it is always newer. An address that is swept is watched again, however old: what
 * leaves it must be booked.
 */
import type { Db } from '../db/database';
import type { WalletMode } from '../networks';
import type { Watched } from './reader';

/** The gateway credits late money for 30 days; after this time only an operator finds it. */
export const WATCHED_DAYS = 90;
const RELOAD_MS = 600_000;
/** No transaction that stores a checkout or a sweep lasts as long. */
const OVERLAP_SECONDS = 120;

export class WatchList implements Watched {
  private checkouts = new Map<string, string>();
  private loadedAt = -Infinity;
  private refreshedAt = 0;

  constructor(
    private readonly db: Db,
    private readonly mode: WalletMode,
  ) {}

  has(address: string): boolean {
    return this.checkouts.has(address);
  }

  get size(): number {
    return this.checkouts.size;
  }

  checkoutOf(address: string): string | undefined {
    return this.checkouts.get(address);
  }

  async refresh(): Promise<void> {
    const startedAt = performance.now();
    const isFirst = startedAt - this.loadedAt > RELOAD_MS;
    // A chain may be silent for minutes: what is new is what came since the last look.
    const seconds = Math.ceil((startedAt - this.refreshedAt) / 1_000) + OVERLAP_SECONDS;
    const days = WATCHED_DAYS * 86_400;
    const rows = await this.db.query<{ id: string; address: string }>(
      `SELECT id, address FROM wallet.checkout
       WHERE mode = $1 AND ${isFirst ? 'expires_at' : 'created_at'} > clock_timestamp() - make_interval(secs => $2)
       UNION
       SELECT checkout.id, checkout.address FROM wallet.sweep
         JOIN wallet.sweep_transaction ON sweep_id = sweep.id
         JOIN wallet.checkout ON mode = $1 AND checkout.address = sweep_transaction.address
       WHERE sweep.created_at > clock_timestamp() - make_interval(secs => $2)`,
      [this.mode, isFirst ? days : seconds],
    );
    this.refreshedAt = startedAt;
    if (isFirst) {
      this.checkouts = new Map();
      this.loadedAt = startedAt;
    }
    for (const { id, address } of rows) this.checkouts.set(address, id);
  }
}
