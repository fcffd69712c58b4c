/**
 * Sweeps that the wallet carries out: the signed transactions and the references of their funding are
 * stored before anything is sent. The id follows from what is swept, so the same order is one sweep.
 */
import { createHash } from 'node:crypto';
import { type Address, getAddress, type Hex } from 'viem';
import { amount, type Amount } from '../../../domain/money';
import type { Database, Db } from '../db/database';
import type { SweepOrder, SweepPlan } from './plan';
import { chooseFunding, type Funding, type SignedSweep, type SweepOutcome } from './run';

export interface SweepTransaction extends SignedSweep {
  funding: Funding | null;
  /** Null until its nonce is in a final block. */
  isMoved: boolean | null;
  /** Why a node refuses the transaction; null when none does. */
  refusal: string | null;
}

export interface StoredSweep {
  id: string;
  chainId: number;
  asset: string;
  destination: Address;
  costWei: bigint;
  isOver: boolean;
  failure: string | null;
  transactions: SweepTransaction[];
}

/** New deposits do not change it; a new nonce of an address does. */
function sweepIdOf({ chain, asset, to }: SweepOrder, { items }: SweepPlan): string {
  const places = items.map(({ address, transaction }) => `${address} ${transaction.nonce ?? 0}`);
  const parts = [chain.network.chainId, asset, to, ...places.sort()];
  return `sweep_${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 20)}`;
}

/**
 * @param signed in the order of the plan's items
 * @returns the sweep's id; one that is under way, or has ended without a failure, stays as it is
 */
export async function storeSweep(
  db: Database,
  order: SweepOrder,
  plan: SweepPlan,
  signed: readonly Hex[],
): Promise<string> {
  const id = sweepIdOf(order, plan);
  const fundings: (Funding | null)[] = [];
  for (const item of plan.items) {
    fundings.push(item.lackingWei > 0n ? await chooseFunding(db, order, item) : null);
  }
  await db.transaction(async (tx) => {
    const stored = await tx.query(
      `INSERT INTO wallet.sweep AS sweep (id, chain_id, asset, destination, cost_wei, funding_wei)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (id) DO UPDATE SET failure = NULL, ended_at = NULL, cost_wei = excluded.cost_wei,
         funding_wei = excluded.funding_wei
       WHERE sweep.failure IS NOT NULL RETURNING id`,
      [
        ...[id, order.chain.network.chainId, order.asset, order.to.toLowerCase()],
        ...[plan.costWei, plan.fundingWei],
      ],
    );
    if (stored.length === 0) return;
    for (const [index, { address, transaction, amount: moved }] of plan.items.entries()) {
      const funding = fundings[index] ?? null;
      await tx.query(
        `INSERT INTO wallet.sweep_transaction (sweep_id, address, nonce, amount, raw,
           funding_amount, funding_reference)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (sweep_id, address) DO UPDATE SET amount = excluded.amount,
           raw = excluded.raw, is_moved = NULL, refusal = NULL, funding_amount = excluded.funding_amount,
           funding_reference = excluded.funding_reference`,
        [
          id,
          address.toLowerCase(),
          transaction.nonce ?? 0,
          moved,
          signed[index] ?? null,
          funding?.amount ?? null,
          funding?.reference ?? null,
        ],
      );
    }
  });
  return id;
}

export async function findSweep(db: Db, id: string): Promise<StoredSweep | null> {
  const [sweep] = await db.query<{
    chain_id: string;
    asset: string;
    destination: Address;
    cost_wei: string;
    failure: string | null;
    ended_at: Date | null;
  }>('SELECT * FROM wallet.sweep WHERE id = $1', [id]);
  if (sweep === undefined) return null;
  return {
    id,
    chainId: Number(sweep.chain_id),
    asset: sweep.asset,
    failure: sweep.failure,
    destination: getAddress(sweep.destination),
    costWei: BigInt(sweep.cost_wei),
    isOver: sweep.ended_at !== null,
    transactions: await findTransactions(db, id),
  };
}

async function findTransactions(db: Db, id: string): Promise<SweepTransaction[]> {
  const rows = await db.query<{
    address: Address;
    nonce: string;
    raw: Hex;
    funding_amount: Amount | null;
    funding_reference: string | null;
    is_moved: boolean | null;
    refusal: string | null;
  }>('SELECT * FROM wallet.sweep_transaction WHERE sweep_id = $1 ORDER BY address', [id]);
  return rows.map(({ funding_amount: coins, funding_reference: reference, ...row }) => ({
    address: getAddress(row.address),
    nonce: Number(row.nonce),
    raw: row.raw,
    funding: coins === null || reference === null ? null : { reference, amount: amount(coins) },
    isMoved: row.is_moved,
    refusal: row.refusal,
  }));
}

/** Lists the sweeps of one chain that have not ended. */
export async function listOpenSweeps(db: Db, chainId: number): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    'SELECT id FROM wallet.sweep WHERE chain_id = $1 AND ended_at IS NULL ORDER BY created_at',
    [chainId],
  );
  return rows.map(({ id }) => id);
}

export async function storeOutcome(
  db: Db,
  id: string,
  address: Address,
  outcome: SweepOutcome,
): Promise<void> {
  await db.query(
    'UPDATE wallet.sweep_transaction SET is_moved = $3 WHERE sweep_id = $1 AND address = $2',
    [id, address.toLowerCase(), outcome === 'moved'],
  );
}

export async function storeRefusal(
  db: Db,
  id: string,
  address: Address,
  refusal: string | null,
): Promise<void> {
  await db.query(
    `UPDATE wallet.sweep_transaction SET refusal = $3
     WHERE sweep_id = $1 AND address = $2 AND refusal IS DISTINCT FROM $3`,
    [id, address.toLowerCase(), refusal],
  );
}

/**
 * Nothing more of it is broadcast. What was broadcast may still be mined, and is read from the chain as
 * every other spend. The same addresses can be swept again.
 * @returns whether it was under way
 */
export async function cancelSweep(
  db: Db,
  id: string,
  { by, reason }: { by: string; reason: string },
): Promise<boolean> {
  const cancelled = await db.query(
    `UPDATE wallet.sweep SET ended_at = clock_timestamp(), failure = $2
     WHERE id = $1 AND ended_at IS NULL RETURNING id`,
    [id, `Cancelled by ${by}: ${reason}.`],
  );
  return cancelled.length > 0;
}

export async function endSweep(db: Db, id: string, failure: string | null): Promise<void> {
  await db.query(
    `UPDATE wallet.sweep SET ended_at = clock_timestamp(), failure = $2
     WHERE id = $1 AND ended_at IS NULL`,
    [id, failure],
  );
}

export interface OpenSweep {
  id: string;
  asset: string;
  destination: Address;
  /** How many it moves, and how many of them are not final. */
  addresses: number;
  open: number;
  /** What nodes refuse, and what lacks coins for its network fee because its funding failed. */
  refused: { address: Address; refusal: string }[];
}

/** Tells the operator what is open, and why. */
export async function describeOpenSweeps(db: Db, chainId: number): Promise<OpenSweep[]> {
  const described: OpenSweep[] = [];
  for (const id of await listOpenSweeps(db, chainId)) {
    const sweep = await findSweep(db, id);
    if (sweep === null) continue;
    const { asset, destination, transactions } = sweep;
    const refused = transactions.flatMap(({ address, refusal, isMoved }) =>
      refusal === null || isMoved === true ? [] : [{ address, refusal }],
    );
    const open = transactions.filter(({ isMoved }) => isMoved === null).length;
    described.push({ id, asset, destination, addresses: transactions.length, open, refused });
  }
  return described;
}
