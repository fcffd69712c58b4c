/**
 * Credits deposits of final blocks that are missing, once, beside a process that may book the same at
 * the same time. A deposit is known by its transaction and its place in it. Coins may have been
 * credited by the balance, without a transaction: they are credited only as far as the address has
 * more, at a final block, than all its deposits explain.
 */
import { SetupError } from '../../../platform/lib/setup-error';
import type { Chain } from '../chain/chain';
import { ChainUnavailable, RpcRefusal } from '../chain/rpc';
import { type Arrival, storeArrivals } from '../checkouts/deposits';
import { lockCheckout } from '../checkouts/store';
import type { Database, Db, Tx } from '../db/database';
import { recordSpends } from './arrivals';
import { depositId } from './movements';
import { findPlace } from './place';
import { readBalances, type Spend } from './reader';

export type BookingOutcome =
  | 'credited'
  | 'known'
  /** Coins: the address has no more than its deposits explain, as when they were found by the balance. */
  | 'explained'
  /** Coins: no node has the balance of a final block. */
  | 'unproven'
  /** Another amount is stored for a place in the transaction: a person must look. */
  | 'differs';

export interface BookedArrival {
  arrival: Arrival;
  outcome: BookingOutcome;
}

interface BookingParts {
  db: Database;
  chain: Chain;
}

interface Booking {
  arrivals: readonly Arrival[];
  spends: readonly Spend[];
  first: { number: number };
  /** The block must be final. */
  last: { number: number };
  /** Null, or the only transaction that was read. */
  transaction: string | null;
}

/** @throws SetupError when the chain was paused, or the block is no longer final */
export async function bookMissing(
  { db, chain }: BookingParts,
  booking: Booking,
): Promise<BookedArrival[]> {
  const arrivals = booking.arrivals.filter(({ units }) => units > 0n);
  const { spends, last } = booking;
  await db.transaction((tx) => dropInvented(tx, chain, { ...booking, arrivals }));
  if (arrivals.length === 0 && spends.length === 0) return [];
  const { chainId } = chain.network;
  const missing = judge(chainId, await readStored(db, chainId, arrivals), arrivals).filter(
    ({ arrival, outcome }) => outcome === 'credited' && arrival.token === null,
  );
  const coins = await readCoins(
    { db, chain },
    missing.map(({ arrival }) => arrival),
  );
  return db.transaction((tx) => book(tx, chain, { arrivals, spends, last }, coins));
}

/**
 * Takes away what one node has shown alone and the blocks do not have: transfers that were never there, or had
 * another amount. What enough nodes have shown stays.
 */
async function dropInvented(
  tx: Tx,
  chain: Chain,
  { arrivals, first, last, transaction }: Booking,
): Promise<void> {
  const { chainId } = chain.network;
  await requireFinal(tx, chain, last.number);
  const rows = await tx.query<{ id: string; checkout_id: string; units: string }>(
    `SELECT id, checkout_id, units FROM wallet.deposit
     WHERE chain_id = $1 AND state = 'detected' AND agreed_at IS NULL
       AND block_number BETWEEN $2 AND $3 AND ($4::text IS NULL OR tx_hash = $4)
     ORDER BY checkout_id, id`,
    [chainId, first.number, last.number, transaction],
  );
  const shown = new Map(arrivals.map((one) => [depositId(chainId, one), one.units]));
  const invented = rows.filter(({ id, units }) => shown.get(id) !== BigInt(units));
  for (const { id, checkout_id } of invented) {
    await lockCheckout(tx, checkout_id);
    await tx.query(
      `UPDATE wallet.deposit SET state = 'vanished'
       WHERE id = $1 AND state = 'detected' AND agreed_at IS NULL`,
      [id],
    );
    await tx.query(
      `UPDATE wallet.checkout SET version = version + 1, updated_at = clock_timestamp()
       WHERE id = $1`,
      [checkout_id],
    );
  }
}

async function book(
  tx: Tx,
  chain: Chain,
  { arrivals, spends, last }: Pick<Booking, 'arrivals' | 'spends' | 'last'>,
  coins: Coins | null,
): Promise<BookedArrival[]> {
  const { chainId, deposits: rules } = chain.network;
  // The locks are taken in the follower's order: the chain, then checkouts by their ids.
  await requireFinal(tx, chain, last.number);
  for (const id of [...new Set(arrivals.map(({ checkoutId }) => checkoutId))].sort()) {
    await lockCheckout(tx, id);
  }
  await recordSpends(tx, chain.network, spends);
  const surplus = coins === null ? null : await readSurplus(tx, chain, coins);
  const stored = await readStored(tx, chainId, arrivals);
  const booked = judge(chainId, stored, arrivals).map((one) => limitToSurplus(one, surplus));
  const credited = booked.filter(({ outcome }) => outcome === 'credited');
  // The gateway is told when the wallet confirms them, which is its next step.
  await storeArrivals(
    tx,
    { chainId, rules },
    credited.map(({ arrival }) => arrival),
  );
  return booked;
}

/** Locks the chain's place: nothing goes back to an earlier block meanwhile. */
async function requireFinal(tx: Tx, { network }: Chain, block: number): Promise<void> {
  const [place] = await tx.query(
    `SELECT 1 FROM wallet.followed_chain
     WHERE chain_id = $1 AND final_number >= $2 AND paused_reason IS NULL FOR SHARE`,
    [network.chainId, block],
  );
  if (place !== undefined) return;
  throw new SetupError(
    `${network.name} was paused meanwhile, or block ${block} is not final any more. Nothing of this block was credited.`,
  );
}

/** Units of the deposits that are in a block, by id. */
type Stored = ReadonlyMap<string, bigint>;

async function readStored(db: Db, chainId: number, arrivals: readonly Arrival[]): Promise<Stored> {
  const rows = await db.query<{ id: string; units: string }>(
    `SELECT id, units FROM wallet.deposit
     WHERE chain_id = $1 AND id = ANY ($2) AND state <> 'vanished'`,
    [chainId, arrivals.map((one) => depositId(chainId, one))],
  );
  return new Map(rows.map(({ id, units }) => [id, BigInt(units)]));
}

/**
 * A node that left out one of several transfers of a transaction has shifted the places of the others:
 * then none of them is credited.
 */
function judge(chainId: number, stored: Stored, arrivals: readonly Arrival[]): BookedArrival[] {
  const unitsOf = (one: Arrival): bigint | undefined => stored.get(depositId(chainId, one));
  const groupOf = ({ txHash, token, to }: Arrival): string => `${txHash} ${token ?? ''} ${to}`;
  const shifted = new Set(
    arrivals.filter((one) => (unitsOf(one) ?? one.units) !== one.units).map(groupOf),
  );
  return arrivals.map((arrival) => {
    if (shifted.has(groupOf(arrival))) return { arrival, outcome: 'differs' };
    return { arrival, outcome: unitsOf(arrival) === undefined ? 'credited' : 'known' };
  });
}

/** The coins of addresses at a final block, by checkout. */
interface Coins {
  block: number;
  balances: ReadonlyMap<string, bigint>;
}

/** Null when no node has the state of the newest final block. */
async function readCoins(
  { db, chain }: BookingParts,
  arrivals: readonly Arrival[],
): Promise<Coins | null> {
  const place = await findPlace(db, chain.network.chainId);
  if (place === null) return null;
  const block = place.finalNumber;
  if (arrivals.length === 0) return { block, balances: new Map() };
  const addresses = new Map(arrivals.map(({ checkoutId, to }) => [checkoutId, to]));
  const asked = [...addresses.values()].map((address) => ({ address, token: null }));
  for (const rpc of chain.rpc.each()) {
    try {
      const balances = await readBalances({ ...chain, rpc }, asked, block);
      return {
        block,
        balances: new Map([...addresses.keys()].map((id, at) => [id, balances[at] ?? 0n])),
      };
    } catch (error) {
      if (!(error instanceof ChainUnavailable || error instanceof RpcRefusal)) throw error;
    }
  }
  return null;
}

/**
 * What each checkout has beyond its deposits. One that was found by the balance counts whatever its
 * block, because it may be the block of the search. The checkouts are locked.
 */
async function readSurplus(
  tx: Tx,
  { network }: Chain,
  { block, balances }: Coins,
): Promise<Map<string, bigint>> {
  const rows = await tx.query<{ id: string; units: string }>(
    `SELECT c.id, (
       coalesce((SELECT sum(d.units) FROM wallet.deposit d
         WHERE d.checkout_id = c.id AND d.chain_id = $2 AND d.asset = $3 AND d.state <> 'vanished'
           AND (d.block_number <= $4 OR d.tx_hash IS NULL)), 0)
       - coalesce((SELECT sum(s.units + s.fee_units) FROM wallet.address_spend s
         WHERE s.chain_id = $2 AND s.address = c.address AND s.asset = $3
           AND s.block_number <= $4), 0))::numeric(78,0) AS units
     FROM wallet.checkout c WHERE c.id = ANY ($1)`,
    [[...balances.keys()], network.chainId, network.native.asset, block],
  );
  return new Map(rows.map(({ id, units }) => [id, (balances.get(id) ?? 0n) - BigInt(units)]));
}

/** Takes what it credits from the surplus. */
function limitToSurplus(one: BookedArrival, surplus: Map<string, bigint> | null): BookedArrival {
  const { arrival, outcome } = one;
  if (outcome !== 'credited' || arrival.token !== null) return one;
  if (surplus === null) return { arrival, outcome: 'unproven' };
  const left = surplus.get(arrival.checkoutId) ?? 0n;
  if (arrival.units > left) return { arrival, outcome: 'explained' };
  surplus.set(arrival.checkoutId, left - arrival.units);
  return one;
}
