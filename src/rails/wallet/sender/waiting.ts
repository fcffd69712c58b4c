/**
 * Queued transfers that have to wait. Each one has its reason in its row, so that the queue can pass
 * over it, and the alarms follow from the rows: they end when no transfer waits for that reason.
 */
import type { AlarmKind, Alarms } from '../alarms';
import type { Chain } from '../chain/chain';
import type { Db } from '../db/database';

/** Reason → the alarm that is open while transfers wait for it. */
const ALARM_OF = {
  limit: 'limit_reached',
  float: 'float_low',
  'network fees': 'gas_money_low',
  /** The token or the hot wallet refuses payouts to anybody. */
  asset: 'asset_refused',
  /** The nodes cannot say what it costs. */
  estimate: 'estimate_refused',
  /** One node says that the recipient refuses it. */
  'second node': 'estimate_refused',
} as const satisfies Record<string, AlarmKind>;

export type WaitingReason = keyof typeof ALARM_OF;

/** A person must say what became of a transaction that succeeded and transferred nothing. */
export const DECISION_PENDING = 'a decision';

export interface Waiting {
  transferId: string;
  reason: WaitingReason;
  detail: string;
}

/** What a node refused is tried again after as long as it has waited, within these bounds. */
const RETRY_AFTER_MAX_S = 60;
const RETRY_AFTER_POLLS = 10;

/** @param isRetried later, and behind what is due before; otherwise it keeps its place. */
export async function keepWaiting(
  db: Db,
  { transferId, reason, detail }: Waiting,
  { isRetried, pollMs }: { isRetried: boolean; pollMs: number },
): Promise<void> {
  await db.query(
    `UPDATE wallet.transfer
     SET waiting_for = $2, waiting_detail = $3,
       waiting_since = coalesce(waiting_since, clock_timestamp()),
       due_at = CASE WHEN $4 THEN clock_timestamp() + least(make_interval(secs => $6), greatest(
         make_interval(secs => $5), clock_timestamp() - coalesce(waiting_since, clock_timestamp())))
         ELSE due_at END
     WHERE id = $1 AND status = 'queued'
       AND ($4 OR waiting_for IS DISTINCT FROM $2 OR waiting_detail IS DISTINCT FROM $3)`,
    [
      transferId,
      reason,
      detail,
      isRetried,
      (pollMs * RETRY_AFTER_POLLS) / 1_000,
      RETRY_AFTER_MAX_S,
    ],
  );
}

interface WaitingRow {
  asset: string;
  reason: string;
  detail: string | null;
  oldest: string;
  since: Date;
  transfers: number;
  old: number;
}

/** A transfer that waits longer than this is shown to the operators. */
export const LONG_WAIT = '15 minutes';

/** Raises and ends the alarms of one chain, from what its queued transfers wait for. */
export async function reportWaiting(db: Db, { network }: Chain, alarms: Alarms): Promise<void> {
  const rows = await db.query<WaitingRow>(
    `SELECT asset, waiting_for AS reason, count(*)::int AS transfers,
       count(*) FILTER (WHERE waiting_since < clock_timestamp() - interval '${LONG_WAIT}')::int AS old,
       (array_agg(waiting_detail ORDER BY waiting_since, id))[1] AS detail,
       (array_agg(client_reference ORDER BY waiting_since, id))[1] AS oldest,
       min(waiting_since) AS since
     FROM wallet.transfer
     WHERE chain_id = $1 AND status = 'queued' AND waiting_for IS NOT NULL
     GROUP BY asset, waiting_for ORDER BY min(waiting_since)`,
    [network.chainId],
  );
  const native = network.native.asset;
  const assets = new Set([native, ...network.tokens.map((token) => token.asset)]);
  for (const { asset } of rows) assets.add(asset);
  const kinds = new Set<AlarmKind>(Object.values(ALARM_OF));
  for (const kind of kinds) {
    for (const asset of assets) {
      const cause = rows.find(
        (row) => alarmOf(row.reason) === kind && subjectOf(row, native) === asset,
      );
      if (cause === undefined) await alarms.clear(kind, asset);
      else await alarms.raise(kind, asset, cause.detail ?? `Payouts wait for ${cause.reason}.`);
    }
  }
  for (const asset of assets) await reportLongWait(alarms, asset, rows);
}

function alarmOf(reason: string): AlarmKind | undefined {
  return Object.hasOwn(ALARM_OF, reason) ? ALARM_OF[reason as WaitingReason] : undefined;
}

/** Network fees are paid in the coin, whatever the payout is in. */
function subjectOf({ asset, reason }: WaitingRow, native: string): string {
  return reason === 'network fees' ? native : asset;
}

async function reportLongWait(
  alarms: Alarms,
  asset: string,
  rows: readonly WaitingRow[],
): Promise<void> {
  const old = rows.filter((row) => row.asset === asset && row.old > 0);
  const [first] = old;
  if (first === undefined) {
    await alarms.clear('transfer_waiting', asset);
    return;
  }
  const reasons = old.map(({ reason, old: count }) => `${count} for ${reason}`).join(', ');
  const detail = `Payouts in ${asset} wait longer than ${LONG_WAIT}: ${reasons}. The oldest is ${first.oldest}, since ${first.since.toISOString()}. ${first.detail ?? ''}`;
  await alarms.raise('transfer_waiting', asset, detail.trimEnd());
}
