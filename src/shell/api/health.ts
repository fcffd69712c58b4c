/** Readiness of this process: the result of /readyz. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { pendingMigrations } from '../../db/migrate';
import { hasChangedCollation } from '../../db/collation';
import { type Db, hasStatementTimeout } from '../../db/transaction';
import { wallClockMs } from '../../platform/lib/wall-clock';
import type { Health, Readiness } from '../../kit/service/services';

const PATIENCE_MS = 2_000;

/** A pooler such as PgBouncer drops the timeouts that a connection asks for. */
const NO_STATEMENT_TIMEOUT =
  "The login has no statement timeout. Set it: ALTER ROLE <login> SET statement_timeout = '15s'.";

const CHANGED_COLLATION =
  'PostgreSQL sorts texts by another C library than its indexes. REINDEX the database, as the runbook says.';

/** A part that an operator has to look at while the gateway works. */
const ADVICE = 'collation';

/** A process that starts is asked more often, because its first requests wait for it. */
const WATCH_STARTING_MS = 1_000;
const WATCH_MS = 5_000;

/** @param pagesDb of the dashboard and the console; null when they are not served */
export function createHealth({
  db,
  pagesDb,
  temporal,
  logger,
}: {
  db: Db;
  pagesDb: Db | null;
  temporal: Client;
  logger: Logger;
}): Health {
  const stopping = new AbortController();
  let hasBeenReady = false;
  let logged = '';

  async function check(): Promise<Readiness> {
    if (stopping.signal.aborted) {
      return { ready: false, parts: { process: 'The process is stopping.' } };
    }
    const [postgres, pages, workflows] = await Promise.all([
      checkDatabase(db),
      pagesDb === null ? {} : checkPages(pagesDb),
      sentence('Temporal does not answer', async () => {
        await temporal.withDeadline(wallClockMs() + PATIENCE_MS, () =>
          temporal.workflowService.getSystemInfo({}),
        );
      }),
    ]);
    const problems = Object.entries({ ...postgres, ...pages, temporal: workflows });
    const ready = problems.every(([part, problem]) => problem === null || part === ADVICE);
    const parts = Object.fromEntries(problems.map(([part, problem]) => [part, problem ?? 'ok']));
    hasBeenReady ||= ready;
    logChange({ ready, parts });
    return { ready, parts };
  }

  /** The message of a part may differ each time; a change is that another part fails or works. */
  function logChange({ ready, parts }: Readiness): void {
    const failing = Object.keys(parts).filter((part) => parts[part] !== 'ok');
    const state = `${String(ready)} ${failing.join()}`;
    if (state === logged || stopping.signal.aborted) return;
    logged = state;
    if (ready) logger.info({ parts }, 'ready');
    else logger.warn({ parts }, 'not ready');
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      await check();
      const pause = hasBeenReady ? WATCH_MS : WATCH_STARTING_MS;
      await sleep(pause, undefined, stopping).catch(() => undefined);
    }
  }

  return {
    check,
    isServing: () => hasBeenReady && !stopping.signal.aborted,
    watch: () => void watch(),
    drain: () => stopping.abort(),
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
