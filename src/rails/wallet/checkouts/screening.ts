/**
 * The compliance check of every deposit before it can be confirmed: the wallet's own list of denied
 * addresses, and a service of the operator's choice. A held deposit waits for a decision that comes
 * by way of the gateway (`POST /checkouts/{reference}/compliance`).
 */
import { getAddress } from 'viem';
import type { Log } from '../config';
import type { Database, Db } from '../db/database';
import { type Loop, startLoop } from '../loop';
import { announceCheckouts, lockCheckout, type PageUrl } from './store';

export interface ScreeningRequest {
  deposit_id: string;
  network: string;
  asset: string;
  amount: string;
  tx_hash: string | null;
  /** Null for coins that a contract sent. */
  from: string | null;
  to: string;
}

/** @throws when there is no answer; the deposit then waits */
export type Screen = (request: ScreeningRequest) => Promise<'clear' | 'hold'>;

const TIMEOUT_MS = 10_000;

/** `POST url` with the request as JSON; the service answers `{"decision": "clear" | "hold"}`. */
export function screenOverHttp(url: string, token: string | null): Screen {
  return async (request) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(request),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer: unknown = response.ok ? await response.json() : null;
    const decision =
      typeof answer === 'object' && answer !== null && 'decision' in answer
        ? answer.decision
        : null;
    if (decision === 'clear' || decision === 'hold') return decision;
    throw new Error(`the screening service answered with status ${response.status}`);
  };
}

interface ScreeningParts {
  db: Database;
  /** Null when only the list of denied addresses is asked. */
  screen: Screen | null;
  pageUrl: PageUrl;
  log: Log;
}

interface PendingRow {
  id: string;
  checkout_id: string;
  network: string;
  asset: string;
  amount: string;
  tx_hash: string | null;
  sender: string | null;
  address: string;
  is_listed: boolean;
  is_denied: boolean;
}

const BATCH = 50;
const POLL_MS = 200;

export function startScreening(parts: ScreeningParts): Loop {
  return startLoop('screening', parts.log, POLL_MS, () => screenPending(parts));
}

/** @throws when a deposit could not be screened; the others are */
export async function screenPending(parts: ScreeningParts): Promise<'more' | undefined> {
  const pending = await listPending(parts.db);
  const outcomes = await Promise.allSettled(pending.map((one) => screenDeposit(parts, one)));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return pending.length === BATCH ? 'more' : undefined;
}

function listPending(db: Db): Promise<PendingRow[]> {
  return db.query<PendingRow>(
    `SELECT d.id, d.checkout_id, f.network, d.asset, d.amount, d.tx_hash, d.sender, c.address,
       d.is_listed, n.address IS NOT NULL AS is_denied
     FROM wallet.deposit d
     JOIN wallet.checkout c ON c.id = d.checkout_id
     JOIN wallet.followed_chain f ON f.chain_id = d.chain_id
     LEFT JOIN wallet.denied_address n ON n.address = d.sender
     WHERE d.screening = 'pending' ORDER BY d.block_number, d.id LIMIT $1`,
    [BATCH],
  );
}

async function screenDeposit(
  { db, screen, pageUrl, log }: ScreeningParts,
  one: PendingRow,
): Promise<void> {
  const isHeld =
    one.is_denied || (screen !== null && (await screen(presentDeposit(one))) === 'hold');
  await db.transaction(async (tx) => {
    await lockCheckout(tx, one.checkout_id);
    const decided = await tx.query(
      `UPDATE wallet.deposit SET screening = $2 WHERE id = $1 AND screening = 'pending'
       RETURNING id`,
      [one.id, isHeld ? 'held' : 'clear'],
    );
    // Somebody who sends dust from a listed address must not be able to hold a customer's checkout.
    if (decided.length === 0 || !isHeld || !one.is_listed) return;
    await tx.query(
      'UPDATE wallet.checkout SET is_held = true, hold_decision = NULL WHERE id = $1',
      [one.checkout_id],
    );
    await announceCheckouts(tx, [one.checkout_id], pageUrl);
    log('warn', 'deposit held', { deposit: one.id, checkout: one.checkout_id });
  });
}

function presentDeposit(one: PendingRow): ScreeningRequest {
  return {
    deposit_id: one.id,
    network: one.network,
    asset: one.asset,
    amount: one.amount,
    tx_hash: one.tx_hash,
    from: one.sender === null ? null : getAddress(one.sender),
    to: getAddress(one.address),
  };
}
