/**
 * The alarms that a person ends, and how: acknowledged and resolved with a name and a reason. The other alarms end
 * with their condition.
 */
import { UsageError } from '../../platform/lib/command-line';
import { SetupError } from '../../platform/lib/setup-error';
import { type AlarmKind, BY_SEVERITY } from './alarms';
import { findPause } from './chain/pause';
import type { Database, Db } from './db/database';
import { DECISION_PENDING } from './sender/waiting';

/** Kind → what the person does before `resolve`. */
const REMEDIES: Readonly<Partial<Record<AlarmKind, string>>> = {
  signer_stopped:
    'Find out whether the database is an old one or somebody else has the key. `npm run wallet -- restore` shows the next step.',
  reorganization_below_final:
    'Compare the nodes. Remove one that serves another chain and run `npm run wallet -- chain resume`, or accept the chain that all of them have: `npm run wallet -- chain accept`.',
  credited_deposit_gone:
    'The gateway has credited the money. Ask the customer to send it again, or bear the loss. The alarm ends by itself when the transaction is mined again.',
  outcome_changed:
    'Compare the transaction with the payout in the gateway, and settle the difference with the merchant.',
  not_transferred:
    'Look at the transaction and the contract of the token. If nothing of the payout was transferred, decide it with `npm run wallet -- transfer fail` or `transfer confirm`.',
  broadcast_refused:
    'Read what the nodes say. The alarm ends by itself when a node accepts the transaction.',
  unexpected_deposit: 'Agree with the customer, and sweep the address.',
  balance_below_deposits:
    'Find out what left the address. If somebody has the key of the deposits, pause the chain and sweep to a new wallet.',
};

export interface OpenAlarm {
  id: string;
  chain_id: number;
  kind: string;
  subject: string;
  detail: string;
  raised_at: string;
  acknowledged_by: string | null;
  /** `alarms resolve` ends it, because it does not end with its condition. */
  needs_person: boolean;
  /** What the person does first; null: it ends by itself. */
  remedy: string | null;
}

export async function listAlarms(db: Db): Promise<OpenAlarm[]> {
  const rows = await db.query<
    Omit<OpenAlarm, 'chain_id' | 'raised_at' | 'needs_person' | 'remedy'> & {
      chain_id: string;
      raised: Date;
    }
  >(
    `SELECT id, chain_id, kind, subject, detail, raised_at AS raised, acknowledged_by
     FROM wallet.alarm WHERE cleared_at IS NULL ORDER BY ${BY_SEVERITY}`,
  );
  return rows.map(({ raised, ...row }) => ({
    ...row,
    chain_id: Number(row.chain_id),
    raised_at: raised.toISOString(),
    needs_person: row.kind in REMEDIES,
    remedy: REMEDIES[row.kind as AlarmKind] ?? null,
  }));
}

interface AlarmRow {
  kind: string;
  subject: string;
  chainId: string;
  isOpen: boolean;
}

/** @throws UsageError */
async function findAlarm(db: Db, id: string): Promise<AlarmRow> {
  const [row] = await db.query<AlarmRow>(
    `SELECT kind, subject, chain_id AS "chainId", cleared_at IS NULL AS "isOpen"
     FROM wallet.alarm WHERE id::text = $1`,
    [id],
  );
  if (row !== undefined) return row;
  throw new UsageError(`There is no alarm ${id}. See \`alarms list\`.`);
}

/** @throws UsageError when there is no such alarm */
export async function acknowledgeAlarm(db: Db, id: string, by: string): Promise<void> {
  await findAlarm(db, id);
  await db.query(
    `UPDATE wallet.alarm SET acknowledged_by = $2, acknowledged_at = clock_timestamp()
     WHERE id = $1 AND cleared_at IS NULL`,
    [id, by],
  );
}

/** @throws SetupError with the reason why it stays open, UsageError; an alarm that is over stays as it is */
export async function resolveAlarm(
  db: Database,
  id: string,
  { by, reason }: { by: string; reason: string },
): Promise<void> {
  const alarm = await findAlarm(db, id);
  const cause = await findCause(db, alarm);
  if (alarm.isOpen && cause !== null) throw new SetupError(cause);
  await db.query(
    `UPDATE wallet.alarm
     SET cleared_at = clock_timestamp(), resolved_by = $2, resolution = $3
     WHERE id = $1 AND cleared_at IS NULL`,
    [id, by, reason],
  );
}

/** What must be done first: these would never be raised again while they hold. */
async function findCause(db: Db, { kind, subject, chainId }: AlarmRow): Promise<string | null> {
  if (!(kind in REMEDIES)) return `The alarm ${kind} ends by itself when its cause is gone.`;
  if (kind === 'signer_stopped') {
    const [stopped] = await db.query(
      `SELECT 1 FROM wallet.signer
       WHERE chain_id = $1 AND address = $2 AND stopped_reason IS NOT NULL`,
      [chainId, subject],
    );
    if (stopped !== undefined) {
      return 'The hot wallet is still stopped. See npm run wallet -- restore, which ends the alarm.';
    }
  }
  if (kind === 'not_transferred') {
    const [undecided] = await db.query(
      'SELECT 1 FROM wallet.transfer WHERE id = $1 AND waiting_for = $2',
      [subject, DECISION_PENDING],
    );
    if (undecided !== undefined) {
      return 'The payout still waits. Run npm run wallet -- transfer fail or transfer confirm, which ends the alarm.';
    }
  }
  if (kind === 'reorganization_below_final' && (await findPause(db, Number(chainId))) !== null) {
    return 'The chain is still paused. Run npm run wallet -- chain resume first.';
  }
  return null;
}
