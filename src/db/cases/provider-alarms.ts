/**
 * The alarms that are open at the providers (decisions/notifications#notifications). A trigger notes the
 * occasion of each new one.
 */
import type { Mode } from '../../domain/mode';
import type { ProviderCode } from '../../domain/provider-codes';
import type { Db } from '../transaction';

export interface OpenAlarm {
  /** The provider's id of the alarm. An alarm that ends and comes back has another one. */
  id: string;
  kind: string;
  network: string;
  subject: string;
  detail: string;
  raisedAt: Date;
}

/** Replaces the open alarms of a provider; those that are not among `alarms` have ended. */
export async function noteProviderAlarms(
  db: Db,
  { provider, mode }: { provider: ProviderCode; mode: Mode },
  alarms: readonly OpenAlarm[],
): Promise<void> {
  const rows = alarms.map(({ raisedAt, ...alarm }) => ({ ...alarm, raised_at: raisedAt }));
  await db.query('SELECT note_provider_alarms(?, ?, ?::jsonb)', [
    provider,
    mode,
    JSON.stringify(rows),
  ]);
}

export function listProviderAlarms(
  db: Db,
): Promise<(OpenAlarm & { provider: ProviderCode; mode: Mode })[]> {
  return db.query(
    `SELECT provider, mode, alarm_id AS id, kind, network, subject, detail, raised_at
       FROM provider_alarms ORDER BY raised_at LIMIT 200`,
  );
}
