/** Readiness of this process: the result of /readyz. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { pendingMigrations } from '../../db/migrate';
import { hasChangedCollation } from '../../db/collation';
import { type Db, hasStatementTimeout } from '../../db/transaction';
import { wallClockMs } from '../../platform/lib/wall-clock';
import type { Health } from '../../kit/service/services';

const PATIENCE_MS = 2_000;

/** A pooler such as PgBouncer drops the timeouts that a connection asks for. */
const NO_STATEMENT_TIMEOUT =
  "The login has no statement timeout. Set it: ALTER ROLE <login> SET statement_timeout = '15s'.";

const CHANGED_COLLATION =
  'PostgreSQL sorts texts by another C library than its indexes. REINDEX the database, as the runbook says.';

/** @param pagesDb of the dashboard and the console; null when they are not served */
export function createHealth({
  db,
  pagesDb,
  temporal,
}: {
  db: Db;
  pagesDb: Db | null;
  temporal: Client;
}): Health {
  let isDraining = false;
  return {
    drain: () => {
      isDraining = true;
    },
    async check() {
      if (isDraining) return { process: 'The process is stopping.' };
      const [postgres, pages, workflows] = await Promise.all([
        checkDatabase(db),
        pagesDb === null ? {} : checkPages(pagesDb),
        sentence('Temporal does not answer', async () => {
          await temporal.withDeadline(wallClockMs() + PATIENCE_MS, () =>
            temporal.workflowService.getSystemInfo({}),
          );
        }),
      ]);
      return { ...postgres, ...pages, temporal: workflows };
    },
  };
}

async function checkDatabase(db: Db): Promise<Record<string, string | null>> {
  const found = { pending: [] as string[], limited: true, changed: false };
  const postgres = await sentence('PostgreSQL does not answer', async () => {
    found.pending = await pendingMigrations(db);
    found.limited = await hasStatementTimeout(db);
    found.changed = await hasChangedCollation(db);
  });
  if (postgres !== null) return { postgres, migrations: postgres };
  const { pending, limited, changed } = found;
  const migrations = pending.length === 0 ? null : `Run the migrations: ${pending.join(', ')}.`;
  return {
    postgres: limited ? null : NO_STATEMENT_TIMEOUT,
    migrations,
    collation: changed ? CHANGED_COLLATION : null,
  };
}

/** Checks the pages' login, which may lack its statement timeout too. */
async function checkPages(db: Db): Promise<Record<string, string | null>> {
  const found = { limited: true };
  const pages = await sentence('PostgreSQL does not answer the dashboard', async () => {
    found.limited = await hasStatementTimeout(db);
  });
  return { dashboard: found.limited ? pages : NO_STATEMENT_TIMEOUT };
}

async function sentence(what: string, look: () => Promise<void>): Promise<string | null> {
  // A network that went silent closes no connection, so the check has a time limit of its own.
  const late = new AbortController();
  try {
    await Promise.race([look(), tooLate(late.signal)]);
    return null;
  } catch (error) {
    return `${what}: ${error instanceof Error ? error.message : 'unknown'}`;
  } finally {
    late.abort();
  }
}

async function tooLate(signal: AbortSignal): Promise<never> {
  await sleep(PATIENCE_MS, undefined, { signal });
  throw new Error(`nothing within ${PATIENCE_MS} ms`);
}
