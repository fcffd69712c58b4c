/**
 * Writes what the chain says: deposits that appear, vanish, return and become final. Every write is
 * part of the follower's transaction, or of one that begins with the checkout's lock.
 */
import { createHash } from 'node:crypto';
import { amount as toAmount, ZERO } from '../../../domain/money';
import { endAlarm } from '../alarms';
import type { Database, Db, Tx } from '../db/database';
import { depositId, type Movement } from '../follower/movements';
import type { DepositRules } from '../networks';
import { amountOf } from '../units';
import {
  arrivedAmount,
  type CheckoutFacts,
  type Deposit,
  type Finality,
  isBundleDue,
  isListedAlone,
  requiredFinality,
} from './checkout';
import { sendBackRejected } from './steps';
import { announceCheckouts, findCheckoutById, lockCheckout, type PageUrl } from './store';

/** A movement to a checkout's address, in a block. */
export interface Arrival extends Movement {
  checkoutId: string;
  asset: string;
  decimals: number;
  blockNumber: number;
  blockTime: Date;
  /** Found by the balance: no transaction is known. Enough nodes had the same balance. */
  isInternal: boolean;
}

export interface DepositParts {
  chainId: number;
  rules: DepositRules;
  pageUrl: PageUrl;
}

/** Twice the same arrivals are one deposit; a vanished one returns under its id. */
export async function recordArrivals(
  tx: Tx,
  parts: DepositParts,
  arrivals: readonly Arrival[],
): Promise<void> {
  await announceCheckouts(tx, await storeArrivals(tx, parts, arrivals), parts.pageUrl);
}

/** @returns the checkouts in which the customer or the gateway can see a difference */
export async function storeArrivals(
  tx: Tx,
  parts: Pick<DepositParts, 'chainId' | 'rules'>,
  arrivals: readonly Arrival[],
): Promise<string[]> {
  const positive = arrivals.filter(({ units }) => units > 0n);
  if (positive.length === 0) return [];
  const funding = await findFunding(tx, positive);
  const changed: string[] = [];
  // They are locked in the order of ids, so two chains that change the same checkouts never wait in a circle.
  for (const id of [...new Set(positive.map(({ checkoutId }) => checkoutId))].sort()) {
    const facts = await lockCheckout(tx, id);
    const of = positive.filter(({ checkoutId }) => checkoutId === id);
    if (await recordOfCheckout(tx, parts, facts, of, funding)) changed.push(id);
  }
  return changed;
}

/**
 * The transactions that fund the network fees of a sweep. Their bytes are stored before they are
 * broadcast, so each is known before its block is read. Anything else that a hot wallet sends to a
 * checkout is a payment.
 */
async function findFunding(tx: Tx, arrivals: readonly Arrival[]): Promise<Set<string>> {
  const rows = await tx.query<{ hash: string }>(
    `SELECT attempt.hash FROM wallet.attempt
       JOIN wallet.slot USING (chain_id, signer, nonce)
       JOIN wallet.transfer ON transfer.id = slot.transfer_id
     WHERE attempt.hash = ANY ($1::text[]) AND transfer.purpose = 'funding'`,
    [arrivals.filter(({ isInternal }) => !isInternal).map(({ txHash }) => txHash)],
  );
  return new Set(rows.map(({ hash }) => hash));
}

/** Less of an asset that nobody asked for is kept and told to nobody, where the settings have no `dust`. */
const UNEXPECTED_FLOOR = toAmount('0.0001');

/** @returns whether the customer or the gateway can see a difference */
async function recordOfCheckout(
  tx: Tx,
  { chainId, rules }: Pick<DepositParts, 'chainId' | 'rules'>,
  { checkout, deposits }: CheckoutFacts,
  arrivals: readonly Arrival[],
  funding: ReadonlySet<string>,
): Promise<boolean> {
  let listed = deposits.filter((one) => one.isListed && one.isExpected).length;
  let isVisible = false;
  for (const one of arrivals) {
    const isFunding = !one.isInternal && funding.has(one.txHash);
    const isExpected = !isFunding && checkout.chainId === chainId && checkout.asset === one.asset;
    const amount = amountOf(one.units, one.decimals);
    const floor = rules.dust[one.asset] ?? (isExpected ? ZERO : UNEXPECTED_FLOOR);
    const isListed = !isFunding && isListedAlone(amount, floor, isExpected ? listed : 0);
    const id = depositId(chainId, one);
    if (await findAgain(tx, chainId, id, one)) continue;
    const [stored] = await tx.query<{ is_listed: boolean; is_new: boolean }>(STORE_ARRIVAL, [
      id,
      checkout.id,
      chainId,
      one.asset,
      one.units,
      amount,
      ...(one.isInternal ? [null, null] : [one.txHash, one.from]),
      one.blockNumber,
      one.blockTime,
      isExpected,
      isListed,
      one.isInternal ? new Date() : null,
    ]);
    if (stored === undefined) continue;
    if (stored.is_new && stored.is_listed && isExpected) listed += 1;
    if (isExpected) isVisible = true;
  }
  return isVisible;
}

/** xmax is zero in a row that this statement inserted. */
const STORE_ARRIVAL = `
  INSERT INTO wallet.deposit AS d (id, checkout_id, chain_id, asset, units, amount, tx_hash, sender,
    block_number, seen_at, is_expected, is_listed, agreed_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
  ON CONFLICT (id) DO UPDATE
    SET state = 'detected', units = excluded.units, amount = excluded.amount,
      block_number = excluded.block_number, seen_at = excluded.seen_at, agreed_at = excluded.agreed_at
    WHERE d.state = 'vanished'
  RETURNING is_listed, xmax = 0 AS is_new`;

/** The blocks above `lastNumber` are no longer part of the chain. */
export async function dropArrivalsAbove(
  tx: Tx,
  { chainId, pageUrl }: DepositParts,
  lastNumber: number,
): Promise<void> {
  const ids = await takeBackAbove(tx, chainId, lastNumber, ['detected', 'final']);
  await announceCheckouts(tx, ids, pageUrl);
}

/**
 * Except credited deposits that are known to be missing: they stay as they are.
 * @returns the checkouts that changed
 */
export async function takeBackAbove(
  tx: Tx,
  chainId: number,
  lastNumber: number,
  states: readonly ('detected' | 'final')[],
): Promise<string[]> {
  const gone = await tx.query<{ checkout_id: string }>(
    `SELECT DISTINCT checkout_id FROM wallet.deposit
     WHERE chain_id = $1 AND block_number > $2 AND state = ANY ($3) AND missing_since IS NULL
     ORDER BY checkout_id`,
    [chainId, lastNumber, states],
  );
  const ids = gone.map(({ checkout_id }) => checkout_id);
  for (const id of ids) {
    await lockCheckout(tx, id);
    await tx.query(
      `UPDATE wallet.deposit SET state = 'vanished', final_at = NULL, agreed_at = NULL
       WHERE checkout_id = $1 AND chain_id = $2 AND block_number > $3 AND state = ANY ($4)
         AND missing_since IS NULL`,
      [id, chainId, lastNumber, states],
    );
    await sendBackRejected(tx, await lockCheckout(tx, id));
  }
  for (const table of ['address_spend', 'address_balance']) {
    await tx.query(`DELETE FROM wallet.${table} WHERE chain_id = $1 AND block_number > $2`, [
      chainId,
      lastNumber,
    ]);
  }
  return ids;
}

/** Coins that contracts sent have no transaction to come back: their addresses' balances tell. */
export async function markMissingAbove(
  tx: Tx,
  chainId: number,
  lastNumber: number,
): Promise<number> {
  const missing = await tx.query(
    `UPDATE wallet.deposit SET missing_since = clock_timestamp()
     WHERE chain_id = $1 AND block_number > $2 AND state = 'final' AND tx_hash IS NOT NULL
       AND missing_since IS NULL RETURNING 1`,
    [chainId, lastNumber],
  );
  return missing.length;
}

/** A credited deposit that was missing is on the chain again. @returns whether it was missing */
async function findAgain(
  tx: Tx,
  chainId: number,
  id: string,
  { units, blockNumber }: Arrival,
): Promise<boolean> {
  const found = await tx.query(
    `UPDATE wallet.deposit SET missing_since = NULL, block_number = $2
     WHERE id = $1 AND missing_since IS NOT NULL AND units = $3 RETURNING 1`,
    [id, blockNumber, units],
  );
  if (found.length === 0) return false;
  await endAlarm(tx, chainId, 'credited_deposit_gone', id);
  return true;
}

/** The newest block of each kind. */
export type SureBlocks = Record<Finality, number>;

/** A deposit that would be confirmed if enough nodes showed it. */
export interface SureDeposit {
  id: string;
  txHash: string;
  units: bigint;
  blockNumber: number;
  finality: Finality;
}

export interface UnagreedDeposit {
  id: string;
  checkoutId: string;
}

/** The deposits that may be sure at the node that is followed, and that no other node has shown yet. */
export async function listUnagreed(
  db: Database,
  chainId: number,
  { safe }: SureBlocks,
): Promise<UnagreedDeposit[]> {
  return db.query<UnagreedDeposit>(
    `SELECT id, checkout_id AS "checkoutId" FROM wallet.deposit
     WHERE chain_id = $1 AND state = 'detected' AND screening <> 'pending' AND block_number <= $2
       AND agreed_at IS NULL AND tx_hash IS NOT NULL`,
    [chainId, safe],
  );
}

/** Finds those of the deposits that are sure. */
export async function findSure(
  db: Database,
  parts: DepositParts,
  sure: SureBlocks,
  unagreed: readonly UnagreedDeposit[],
): Promise<SureDeposit[]> {
  const ids = new Set(unagreed.map(({ id }) => id));
  const found: SureDeposit[] = [];
  for (const checkoutId of new Set(unagreed.map((one) => one.checkoutId))) {
    const facts = await findCheckoutById(db, checkoutId);
    for (const one of facts?.deposits ?? []) {
      if (facts === null || one.txHash === null || !ids.has(one.id)) continue;
      const finality = finalityOf(facts, one, parts);
      if (isSure(one, parts, sure, finality)) found.push({ ...one, txHash: one.txHash, finality });
    }
  }
  return found;
}

/** Stores that enough nodes show these deposits in these blocks. */
export async function markAgreed(
  db: Database,
  chainId: number,
  deposits: readonly SureDeposit[],
): Promise<void> {
  for (const { id, blockNumber } of deposits) {
    await db.query(
      `UPDATE wallet.deposit SET agreed_at = clock_timestamp()
       WHERE id = $1 AND chain_id = $2 AND block_number = $3 AND state = 'detected'`,
      [id, chainId, blockNumber],
    );
  }
}

/** Confirms what has become sure, a transaction for each checkout. */
export async function settleDeposits(
  db: Database,
  parts: DepositParts,
  sure: SureBlocks,
): Promise<void> {
  const due = await db.query<{ checkout_id: string }>(
    `SELECT DISTINCT checkout_id FROM wallet.deposit
     WHERE chain_id = $1 AND state = 'detected' AND screening <> 'pending' AND block_number <= $2
       AND agreed_at IS NOT NULL
     UNION
     SELECT checkout_id FROM wallet.deposit
     WHERE chain_id = $1 AND state = 'final' AND is_expected AND NOT is_listed
       AND bundle_id IS NULL AND screening = 'clear' AND block_number <= $3`,
    [parts.chainId, sure.safe, sure.finalized],
  );
  for (const { checkout_id } of due) {
    await db.transaction((tx) => settleCheckout(tx, parts, checkout_id, sure));
  }
}

async function settleCheckout(
  tx: Tx,
  parts: DepositParts,
  id: string,
  sure: SureBlocks,
): Promise<void> {
  const before = await lockCheckout(tx, id);
  const final = before.deposits.filter(
    (one) => one.isAgreed && isSure(one, parts, sure, finalityOf(before, one, parts)),
  );
  if (final.length > 0) {
    await tx.query(
      `UPDATE wallet.deposit SET state = 'final', final_at = clock_timestamp() WHERE id = ANY ($1)`,
      [final.map((one) => one.id)],
    );
  }
  const isBundled = await bundle(tx, parts, await lockCheckout(tx, id), sure);
  const isSentBack = await sendBackRejected(tx, await lockCheckout(tx, id));
  const isVisible = final.some((one) => one.isExpected && one.isListed);
  if (isVisible || isBundled || isSentBack) await announceCheckouts(tx, [id], parts.pageUrl);
}

function finalityOf(
  facts: CheckoutFacts,
  { isExpected }: Deposit,
  { rules }: DepositParts,
): Finality {
  if (!isExpected) return 'finalized';
  return requiredFinality(facts.checkout, arrivedAmount(facts), rules.safeBelow);
}

function isSure(
  { chainId, state, screening, blockNumber }: Deposit,
  parts: DepositParts,
  sure: SureBlocks,
  finality: Finality,
): boolean {
  if (chainId !== parts.chainId || state !== 'detected' || screening === 'pending') return false;
  return blockNumber <= sure[finality];
}

/** Small deposits become one entry when they are worth one. Only finalized ones: it never changes. */
async function bundle(
  tx: Tx,
  { chainId, rules }: DepositParts,
  { checkout, deposits }: CheckoutFacts,
  sure: SureBlocks,
): Promise<boolean> {
  const small = deposits.filter(
    (one) =>
      one.isExpected &&
      !one.isListed &&
      one.bundleId === null &&
      one.state === 'final' &&
      one.screening === 'clear' &&
      one.chainId === chainId &&
      one.blockNumber <= sure.finalized,
  );
  const units = small.reduce((sum, one) => sum + one.units, 0n);
  const amount = amountOf(units, checkout.decimals);
  if (!isBundleDue(amount, rules.dust[checkout.asset] ?? ZERO, checkout)) return false;
  const ids = small.map((one) => one.id).sort();
  const id = `odp_${createHash('sha256').update(ids.join(' ')).digest('hex').slice(0, 32)}`;
  const seenAt = small.reduce(
    (first, one) => (one.seenAt < first ? one.seenAt : first),
    new Date(),
  );
  await tx.query(
    'INSERT INTO wallet.deposit_bundle (id, checkout_id, amount, seen_at) VALUES ($1, $2, $3, $4)',
    [id, checkout.id, amount, seenAt],
  );
  await tx.query('UPDATE wallet.deposit SET bundle_id = $2 WHERE id = ANY ($1)', [ids, id]);
  return true;
}

/** The text of an alarm about deposits, with its subject. */
export interface DepositAlarm {
  subject: string;
  detail: string;
}

/**
 * What came in another asset, or on another network, than the checkout asks for: one alarm for each checkout
 * and asset, because anybody can send any number of them. Lists those whose sum the alarm does not tell yet.
 */
export async function listUnexpected(db: Db, chainId: number): Promise<DepositAlarm[]> {
  return db.query<DepositAlarm>(
    `SELECT subject, detail FROM (
       SELECT checkout_id || ' ' || asset AS subject, max(final_at) AS newest,
         format('%s %s arrived at the address of checkout %s, which is for another asset or network.',
           trim_scale(sum(amount)), asset, checkout_id) AS detail
       FROM wallet.deposit
       WHERE chain_id = $1 AND NOT is_expected AND is_listed AND state = 'final'
       GROUP BY checkout_id, asset) AS arrived
     WHERE NOT EXISTS (SELECT 1 FROM wallet.alarm
       WHERE alarm.chain_id = $1 AND kind = 'unexpected_deposit' AND alarm.subject = arrived.subject
         AND CASE WHEN cleared_at IS NULL THEN alarm.detail = arrived.detail
           ELSE cleared_at >= newest END)
     ORDER BY subject`,
    [chainId],
  );
}

/** Credited, not on the chain that an operator has accepted, and without an alarm yet. */
export async function listMissing(db: Db, chainId: number): Promise<DepositAlarm[]> {
  const rows = await db.query<
    Record<'id' | 'checkout_id' | 'amount' | 'asset' | 'tx_hash', string>
  >(
    `SELECT id, checkout_id, amount, asset, tx_hash FROM wallet.deposit
     WHERE chain_id = $1 AND missing_since IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM wallet.alarm a
         WHERE a.chain_id = $1 AND a.kind = 'credited_deposit_gone' AND a.subject = deposit.id
           AND a.raised_at >= missing_since)
     ORDER BY block_number, id`,
    [chainId],
  );
  return rows.map(({ id, checkout_id, amount, asset, tx_hash }) => ({
    subject: id,
    detail: `${amount} ${asset} were credited to checkout ${checkout_id}, and transaction ${tx_hash} is not on the accepted chain. The alarm ends if it is mined again.`,
  }));
}
