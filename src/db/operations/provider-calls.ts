/** The calls to each provider, counted by the minute over all processes. They are kept for a day. */
import type { Mode } from '../../domain/mode';
import type { ProviderCode } from '../../domain/provider-codes';
import type { Db } from '../transaction';

export interface ProviderCalls {
  provider: ProviderCode;
  mode: Mode;
  calls: number;
  /** The calls without an answer, or with an error of the provider's server. */
  failed: number;
  /** The calls that were answered with 429. */
  limited: number;
  totalMs: number;
  slowestMs: number;
}

/** What the console shows of the last minutes. */
export const SHOWN_MINUTES = 15;

/** Adds to the counts of the current minute. */
export async function addProviderCalls(db: Db, counts: readonly ProviderCalls[]): Promise<void> {
  await db.query(
    `INSERT INTO provider_calls AS p
       (minute, provider, mode, calls, failed, limited, total_ms, slowest_ms)
     SELECT date_trunc('minute', now()), c.provider, c.mode, c.calls, c.failed, c.limited,
            c."totalMs", c."slowestMs"
       FROM jsonb_to_recordset(?::jsonb) AS c (provider text, mode text, calls integer, failed integer,
              limited integer, "totalMs" bigint, "slowestMs" integer)
      ORDER BY c.provider, c.mode
     ON CONFLICT (minute, provider, mode) DO UPDATE
       SET calls = p.calls + excluded.calls, failed = p.failed + excluded.failed,
           limited = p.limited + excluded.limited, total_ms = p.total_ms + excluded.total_ms,
           slowest_ms = greatest(p.slowest_ms, excluded.slowest_ms)`,
    [JSON.stringify(counts)],
  );
}

/** The sums of the last SHOWN_MINUTES of each provider that was called in them, live first. */
export function readProviderCalls(db: Db): Promise<ProviderCalls[]> {
  return db.query<ProviderCalls>(
    `SELECT provider, mode, sum(calls)::integer AS calls, sum(failed)::integer AS failed,
            sum(limited)::integer AS limited, sum(total_ms)::integer AS total_ms,
            max(slowest_ms) AS slowest_ms
       FROM provider_calls WHERE minute > now() - interval '${SHOWN_MINUTES} minutes'
      GROUP BY provider, mode ORDER BY mode, provider`,
  );
}

export async function forgetProviderCalls(db: Db): Promise<void> {
  await db.query(`DELETE FROM provider_calls WHERE minute < now() - interval '1 day'`);
}
