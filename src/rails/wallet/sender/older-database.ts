/**
 * Notes that the wallet works on another database than before. One that was restored from a backup lacks what was
 * sent since, and pools may hold it where no node counts it, so the hot wallets stop. A standby that takes over was
 * written within seconds: what it lacks is compared with the chain (./compare), and a fence (./fence) comes first.
 */
import type { Database } from '../db/database';
import { readIdentity, storeIdentity } from '../db/identity';

/** A failover takes less, a restore from a backup more. */
const FAILOVER_SECONDS_MAX = 120;

/** Before anything is written. Replaced hot wallets are not stopped: those had sent all they would. */
export async function noteDatabase(db: Database): Promise<void> {
  const identity = await readIdentity(db);
  const { now, before } = identity;
  if (now === null || now === before) return;
  if (before !== null) await stop(db);
  await db.query('UPDATE wallet.signer SET fence_nonce = NULL');
  await storeIdentity(db, now);
}

async function stop(db: Database): Promise<void> {
  await db.query(
    `WITH stopped AS (
       UPDATE wallet.signer SET explain_to = NULL, is_restoring = false,
         stopped_reason = 'The database was restored or copied. It was last written at '
           || to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC.'
       FROM wallet.followed_chain AS chain
       WHERE chain.chain_id = signer.chain_id AND replaced_at IS NULL
         AND updated_at < clock_timestamp() - make_interval(secs => ${FAILOVER_SECONDS_MAX})
       RETURNING signer.chain_id, address, stopped_reason)
     INSERT INTO wallet.alarm (chain_id, kind, subject, detail)
     SELECT chain_id, 'signer_stopped', address, stopped_reason
       || ' No payout of the chain is sent. See npm run wallet -- restore.' FROM stopped
     ON CONFLICT (chain_id, kind, subject) WHERE cleared_at IS NULL
     DO UPDATE SET detail = excluded.detail`,
  );
}
