/**
 * Callbacks to the gateway: written with the change that they tell of, sent by a loop until they are
 * acknowledged. They are hints: the gateway asks for the state, and asks by itself when a callback
 * never arrives.
 */
import { signCallback } from '../../onchain-api/callback-signature';
import type { WalletConfig } from '../config';
import type { Database, Tx } from '../db/database';
import { startLoop, type Loop } from '../loop';
import type { WalletMode } from '../networks';

export interface CallbackEvent {
  /** The id stays the same when the event is sent again, so that a receiver can detect a repetition. */
  id: string;
  type: 'transfer.updated' | 'checkout.updated';
  data: Readonly<Record<string, unknown>>;
}

/** Is part of the transaction of the change. */
export async function storeCallback(tx: Tx, mode: WalletMode, event: CallbackEvent): Promise<void> {
  await tx.query(
    'INSERT INTO wallet.callback (id, mode, body) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING',
    [event.id, mode, JSON.stringify(event)],
  );
}

/** The wait after each attempt; one attempt more than there are waits. */
const RETRY_MS = [500, 2_000, 8_000, 30_000, 120_000, 600_000, 3_600_000] as const;
const ATTEMPT_TIMEOUT_MS = 5_000;
const BATCH = 20;
const POLL_MS = 200;

interface DueCallback {
  id: string;
  mode: WalletMode;
  body: string;
  attempts: number;
}

/** Sends nothing while no URL of the gateway is configured. */
export function startCallbacks(db: Database, config: WalletConfig): Loop {
  return startLoop('callbacks', config.log, POLL_MS, async (signal) => {
    if (config.callbackBaseUrl === null) return;
    const due = await takeDue(db);
    await Promise.all(
      due.map(async (callback) => {
        const status = await post(config, callback, signal);
        config.log('info', 'callback', { id: callback.id, result: status });
        if (typeof status === 'number' && status >= 200 && status < 300) {
          await db.query(
            'UPDATE wallet.callback SET acknowledged_at = clock_timestamp() WHERE id = $1',
            [callback.id],
          );
        }
      }),
    );
    if (due.length === BATCH) return 'more';
    return undefined;
  });
}

/** Each attempt is recorded before it is made, so that a crash cannot repeat it without end. */
async function takeDue(db: Database): Promise<DueCallback[]> {
  return db.query<DueCallback & { id: string }>(
    `UPDATE wallet.callback SET attempts = attempts + 1,
       due_at = clock_timestamp() + make_interval(secs => ($2::float8[])[least(attempts + 1, cardinality($2::float8[]))])
     WHERE id IN (
       SELECT id FROM wallet.callback
       WHERE acknowledged_at IS NULL AND due_at <= clock_timestamp() AND attempts <= cardinality($2::float8[])
       ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
     RETURNING id, mode, body, attempts`,
    [BATCH, RETRY_MS.map((ms) => ms / 1000)],
  );
}

/** The status of the answer, or the name of the error. */
async function post(
  { callbackBaseUrl, credentials }: WalletConfig,
  { mode, body }: DueCallback,
  stopping: AbortSignal,
): Promise<number | string> {
  const secret = credentials[mode]?.callbackSecret;
  if (callbackBaseUrl === null || secret === undefined) return 'not configured';
  try {
    const response = await fetch(`${callbackBaseUrl}/provider-callbacks/onchain_provider/${mode}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signCallback(body, secret) },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([stopping, AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)]),
    });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    return error instanceof Error ? error.name : 'failed';
  }
}
