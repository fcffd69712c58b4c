/** Readiness of this process: the result of /readyz. */
import type { Client } from '@temporalio/client';
import { pendingMigrations } from '../db/migrate';
import type { Db } from '../db/transaction';
import type { Health } from './services';

const PATIENCE_MS = 2_000;

export function createHealth({ db, temporal }: { db: Db; temporal: Client }): Health {
  return {
    async check() {
      const [postgres, workflows] = await Promise.all([
        checkDatabase(db),
        sentence('Temporal does not answer', async () => {
          await temporal.withDeadline(Date.now() + PATIENCE_MS, () =>
            temporal.workflowService.getSystemInfo({}),
          );
        }),
      ]);
      return { ...postgres, temporal: workflows };
    },
  };
}

async function checkDatabase(db: Db): Promise<Record<string, string | null>> {
  let pending: string[] = [];
  const postgres = await sentence('PostgreSQL does not answer', async () => {
    pending = await pendingMigrations(db);
  });
  const migrations = pending.length === 0 ? null : `Run the migrations: ${pending.join(', ')}.`;
  return { postgres, migrations: postgres === null ? migrations : postgres };
}

async function sentence(what: string, look: () => Promise<void>): Promise<string | null> {
  try {
    await look();
    return null;
  } catch (error) {
    return `${what}: ${error instanceof Error ? error.message : 'unknown'}`;
  }
}
