/**
 * Conditions that a person must look at. An alarm is open once for each kind and subject; raising it
 * again changes its text only, and `wallet status` and the metrics show the open ones.
 */
import type { Log } from './config';
import type { Db } from './db/database';
import type { Chain } from './chain/chain';

export type AlarmKind =
  /** The hot wallet's balance is below float_minimum. */
  | 'float_below_minimum'
  /** The hot wallet's balance does not cover the queued payouts. */
  | 'float_low'
  /** The native coin does not cover the network fees. */
  | 'gas_money_low'
  | 'limit_reached'
  /** The signer is stopped: its nonces are used by somebody else, or the database is an old one. */
  | 'signer_stopped'
  /** The database is another one, and its fence is not final. */
  | 'database_changed'
  /** A transaction cannot be replaced within max_fee_per_gas_gwei. */
  | 'fee_cap_reached'
  /** A replaced hot wallet has a transaction outside of blocks, and its key is missing. */
  | 'replaced_signer_stuck'
  /** The chain says success, but the token has no Transfer of the whole amount. */
  | 'not_transferred'
  /** A node refuses a transaction for a reason that the wallet does not know. */
  | 'broadcast_refused'
  /** The node cannot estimate a payout, and does not say that it would fail. */
  | 'estimate_refused'
  /** The token or the hot wallet refuses payouts to anybody: paused, frozen, or a lagging node. */
  | 'asset_refused'
  /** A queued payout waits for longer than 15 minutes. */
  | 'transfer_waiting'
  /** The nodes disagree about what became of a transaction. */
  | 'outcome_in_doubt'
  | 'signing_failed'
  | 'chain_unavailable'
  /** No block was read for minutes, although the chain goes on. */
  | 'follower_stalled'
  /** Blocks are read, and none has become final for half an hour. */
  | 'finality_stalled'
  /** The nodes replaced a final block; the chain is paused. */
  | 'reorganization_below_final'
  /** A deposit was credited, and is not on the chain that an operator has accepted. */
  | 'credited_deposit_gone'
  /** After a reorganization, a payout ended otherwise than the gateway was told. */
  | 'outcome_changed'
  /** The nodes disagree about a deposit, or too few of them answer. It is not credited. */
  | 'deposit_in_doubt'
  /** Another asset or network than the checkout's. */
  | 'unexpected_deposit'
  /** The nodes do not tell what deposit addresses have: coins that contracts send are not found. */
  | 'balances_unreadable'
  /** An address has less than its deposits and sweeps explain. */
  | 'balance_below_deposits'
  /** What all deposit addresses have is not what deposits and sweeps explain. */
  | 'sums_differ';

/** Money is at risk, or nothing is sent. */
const URGENT: readonly AlarmKind[] = [
  'signer_stopped',
  'reorganization_below_final',
  'credited_deposit_gone',
  'outcome_changed',
  'balance_below_deposits',
  'sums_differ',
  'not_transferred',
  'signing_failed',
  'finality_stalled',
];
/** Anybody can cause it, by sending a little. */
const MINOR: AlarmKind = 'unexpected_deposit';

/** SQL for ORDER BY: urgent alarms first, and last those that must not hide others. */
export const BY_SEVERITY = `alarm.kind IN (${URGENT.map((kind) => `'${kind}'`).join(', ')}) DESC,
  alarm.kind = '${MINOR}', alarm.raised_at, alarm.id`;

export interface Alarms {
  raise(kind: AlarmKind, subject: string, detail: string, db?: Db): Promise<void>;
  clear(kind: AlarmKind, subject: string): Promise<void>;
}

/**
 * Ends an alarm in the transaction that ends its cause.
 * @returns whether it was open
 */
export async function endAlarm(
  db: Db,
  chainId: number,
  kind: AlarmKind,
  subject: string,
): Promise<boolean> {
  const ended = await db.query(
    `UPDATE wallet.alarm SET cleared_at = clock_timestamp()
     WHERE chain_id = $1 AND kind = $2 AND subject = $3 AND cleared_at IS NULL RETURNING id`,
    [chainId, kind, subject],
  );
  return ended.length > 0;
}

/** Another program may have changed an alarm, such as the command that resumes a signer. */
const REMEMBER_MS = 10_000;

/** Remembers what is open for a while, so that a condition that holds for long costs little. */
export function createAlarms(db: Db, { network }: Chain, log: Log): Alarms {
  const known = new Map<string, { detail: string | null; until: number }>();
  const isKnown = (key: string, detail: string | null): boolean => {
    const entry = known.get(key);
    return entry?.detail === detail && entry.until > performance.now();
  };
  const remember = (key: string, detail: string | null): void => {
    known.set(key, { detail, until: performance.now() + REMEMBER_MS });
  };
  const chainId = network.chainId;
  return {
    async raise(kind, subject, detail, on = db) {
      const key = `${kind} ${subject}`;
      if (isKnown(key, detail)) return;
      const [row] = await on.query<{ isNew: boolean }>(
        `INSERT INTO wallet.alarm (chain_id, kind, subject, detail) VALUES ($1, $2, $3, $4)
         ON CONFLICT (chain_id, kind, subject) WHERE cleared_at IS NULL
         DO UPDATE SET detail = excluded.detail RETURNING (xmax = 0) AS "isNew"`,
        [chainId, kind, subject, detail],
      );
      // What a transaction stores may be rolled back.
      if (on === db) remember(key, detail);
      if (row?.isNew !== true) return;
      log('error', 'alarm', { alarm: kind, network: network.name, subject, detail });
    },
    async clear(kind, subject) {
      const key = `${kind} ${subject}`;
      if (isKnown(key, null)) return;
      const wasOpen = await endAlarm(db, chainId, kind, subject);
      remember(key, null);
      if (!wasOpen) return;
      log('info', 'alarm cleared', { alarm: kind, network: network.name, subject });
    },
  };
}
