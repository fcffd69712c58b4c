/**
 * Stops a transaction at its COMMIT, so that a test can kill whoever waits for it: the database
 * then knows something that its program never learned. A deferred trigger waits for an advisory
 * lock; PostgreSQL finishes the commit also when nobody is there any more to hear of it.
 */
import { Client } from 'pg';
import type { Db } from '../../src/db/transaction';
import { waitThroughFaults } from '../support/wait-for';

const LOCK = 4_711;
/** A statement of the gateway may take 15 s. */
const HELD_AT_MOST_MS = 14_000;

/** What a transaction is held at: the status that it writes, or the note that it submits. */
export type GatePoint =
  | 'under_review'
  | 'approved'
  | 'submitting'
  | 'processing'
  | 'completed'
  | 'failed'
  | 'rejected'
  | 'cancelled';

/** Both with the owner's rights. */
interface GatedDatabase {
  db: Db;
  database: { ownerUrl: string };
}

export class CommitGate {
  readonly #db: Db;
  /** Has the lock as long as it lives. */
  readonly #keeper: Client;

  private constructor(db: Db, keeper: Client) {
    this.#db = db;
    this.#keeper = keeper;
  }

  static async open({ db, database }: GatedDatabase): Promise<CommitGate> {
    await db.query(TRIGGER);
    const keeper = new Client({ connectionString: database.ownerUrl });
    // It may be killed together with the database.
    keeper.on('error', () => undefined);
    await keeper.connect();
    await keeper.query('SELECT pg_advisory_lock($1)', [LOCK]);
    return new CommitGate(db, keeper);
  }

  /** Holds the payout with this reference when it comes to the point. */
  async hold(reference: string, point: GatePoint): Promise<void> {
    await this.#db.query('INSERT INTO held_commits VALUES (?, ?)', [reference, point]);
  }

  /** Resolves when so many transactions wait at the gate: soon, or their time-out ends them. */
  async whenHeld(count: number): Promise<void> {
    await waitThroughFaults(
      `${count} commits at the gate`,
      async () => (await this.#held()) === count,
      HELD_AT_MOST_MS,
    );
  }

  /** Lets everything through, for good, and resolves when it is committed. */
  async release(): Promise<void> {
    await this.#db.query('DELETE FROM held_commits');
    await this.#keeper.query('SELECT pg_advisory_unlock($1)', [LOCK]);
    await waitThroughFaults('the held commits', async () => (await this.#held()) === 0);
  }

  async close(): Promise<void> {
    await this.#keeper.end();
  }

  async #held(): Promise<number> {
    const [row] = await this.#db.query<{ held: number }>(
      `SELECT count(*)::int AS held FROM pg_locks
        WHERE locktype = 'advisory' AND mode = 'ShareLock' AND objid = ?
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [LOCK],
    );
    return row?.held ?? 0;
  }
}

const TRIGGER = /* sql */ `
CREATE TABLE held_commits (reference text, point text);
CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public AS $$
DECLARE reached text := NEW.status;
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.status = OLD.status THEN
    IF OLD.submission_started_at IS NOT NULL OR NEW.submission_started_at IS NULL THEN
      RETURN NULL;
    END IF;
    reached := 'submitting';
  END IF;
  IF EXISTS (SELECT FROM held_commits h WHERE h.reference = NEW.reference AND h.point = reached)
  THEN
    PERFORM pg_advisory_xact_lock_shared(${LOCK});
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER wait_at_gate AFTER INSERT OR UPDATE ON payouts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_gate()`;
