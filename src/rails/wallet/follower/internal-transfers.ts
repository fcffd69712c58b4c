/**
 * Coins that a contract sends are no transaction of their own and leave no log: a scan of blocks
 * misses them. They are found by the balance: what an address has, beyond what the scan explains,
 * arrived in this way. Balances are read at the newest block, whose state every node keeps, and are
 * booked once that block is final and still part of the chain.
 */
import type { Alarms } from '../alarms';
import { type Chain, nodesRequired } from '../chain/chain';
import { ChainUnavailable, ignoreSilence, RpcRefusal } from '../chain/rpc';
import { type Arrival, type DepositParts, recordArrivals } from '../checkouts/deposits';
import { lockCheckout } from '../checkouts/store';
import type { Database, Db, Tx } from '../db/database';
import type { Network } from '../networks';
import { NATIVE_DECIMALS } from '../units';
import { InconsistentNode } from './answers';
import { listBlocks, OutOfPlace, type Place } from './place';
import { readBalancesOf, readHeader } from './reader';
import { WATCHED_DAYS } from './watch-list';

interface BalanceParts extends DepositParts {
  chain: Chain;
  db: Database;
  alarms: Alarms;
}

/** The part of an address's coins that the scan explains, up to a block. */
interface Explained {
  checkoutId: string;
  address: string;
  units: bigint;
}

/** The balances at a block that differ from what the scan explains. */
interface Look {
  number: number;
  hash: string;
  /** checkout → wei */
  balances: ReadonlyMap<string, bigint>;
}

/** It holds only checkouts that are paid in coins. What a crash loses is looked at again. */
export class CoinBalances {
  /** The blocks that are not final yet, the oldest first. */
  private looks: Look[] = [];

  constructor(private readonly parts: BalanceParts) {}

  /**
   * What the addresses have at the newest block that enough nodes have. Nodes that cannot tell, or that
   * disagree, are an alarm, and nothing else waits for them.
   */
  async look(place: Place): Promise<void> {
    const { db, chain, alarms } = this.parts;
    const { name } = chain.network;
    const block = await this.newestBlock(place);
    if (block === undefined) return;
    const { number, hash } = block;
    const explained = await listExplained(db, chain.network, number);
    const addresses = explained.map(({ address }) => address);
    try {
      const balances = await readBalancesOf(chain, addresses, block);
      const differing = explained
        .map((one, index) => ({ ...one, balance: balances[index] ?? 0n }))
        .filter(({ units, balance }) => balance !== units);
      await requireSameBalances(chain, differing, block);
      this.looks = this.looks.filter((look) => look.number < number);
      this.looks.push({
        ...{ number, hash },
        balances: new Map(differing.map(({ checkoutId, balance }) => [checkoutId, balance])),
      });
      await alarms.clear('balances_unreadable', name);
    } catch (error) {
      if (!(error instanceof RpcRefusal || error instanceof DisagreeingNodes)) throw error;
      const why = error instanceof RpcRefusal ? error.detail : error.message;
      const detail = `The balances of deposit addresses on ${name} cannot be read, so coins that contracts send are not found. Other deposits are confirmed as usual. (${why})`;
      await alarms.raise('balances_unreadable', name, detail);
    }
  }

  private async newestBlock(place: Place): Promise<{ number: number; hash: string } | undefined> {
    const { db, chain, chainId } = this.parts;
    const heads = await Promise.all(
      chain.nodes.map((node) => readHeader(node, 'latest').catch(ignoreSilence)),
    );
    const numbers = heads.flatMap((head) => (head == null ? [] : [head.number]));
    const known = numbers.sort((a, b) => b - a)[nodesRequired(chain) - 1];
    if (known === undefined) throw new ChainUnavailable('too few nodes tell their newest block');
    const number = Math.min(known, place.headNumber);
    return (await listBlocks(db, chainId, number, number))[0];
  }

  /** Books the balances that were seen at blocks that are final now. */
  async book(finalNumber: number): Promise<void> {
    const final = this.looks.filter(({ number }) => number <= finalNumber);
    for (const look of final) {
      await bookLook(this.parts, look);
      this.looks = this.looks.filter((one) => one !== look);
    }
  }
}

/** Thrown when too few nodes have the same balances at the same block. */
class DisagreeingNodes extends Error {}

/** Coins that one node alone shows are never credited. @throws DisagreeingNodes, InconsistentNode */
async function requireSameBalances(
  chain: Chain,
  differing: readonly { address: string; balance: bigint }[],
  block: { number: number; hash: string },
): Promise<void> {
  const required = nodesRequired(chain);
  if (differing.length === 0 || required === 1) return;
  const addresses = differing.map(({ address }) => address);
  let agreeing = 0;
  let disagreement: string | null = null;
  for (const node of chain.nodes) {
    if (agreeing >= required) break;
    const balances = await readBalancesOf(node, addresses, block).catch(ignoreLag);
    if (balances === undefined) continue;
    const at = balances.findIndex((balance, index) => balance !== differing[index]?.balance);
    if (at === -1) agreeing += 1;
    else disagreement = `The nodes disagree about the balance of ${addresses[at] ?? ''}.`;
  }
  if (agreeing >= required) return;
  if (disagreement !== null) throw new DisagreeingNodes(disagreement);
  throw new InconsistentNode('too few nodes have the balances of a block');
}

function ignoreLag(error: unknown): undefined {
  if (!(error instanceof InconsistentNode)) ignoreSilence(error);
}

async function bookLook(parts: BalanceParts, { number, hash, balances }: Look): Promise<void> {
  const { db, chain, chainId } = parts;
  const [block] = await listBlocks(db, chainId, number, number);
  // A reorganization replaced the block: a later look tells.
  if (block?.hash !== hash) return;
  const explained = await listExplained(db, chain.network, number);
  const arrivals: Arrival[] = [];
  const unexplained: Explained[] = [];
  for (const one of explained) {
    const surplus = (balances.get(one.checkoutId) ?? one.units) - one.units;
    if (surplus < 0n) await raiseShortfall(parts, one, -surplus, number);
    else if (surplus > 0n) {
      arrivals.push(arrivalOf(chain, one, surplus, block));
      unexplained.push(one);
    }
  }
  await db.transaction(async (tx) => {
    await tx.query(
      `UPDATE wallet.followed_chain SET balances_number = $2
       WHERE chain_id = $1 AND balances_number < $2`,
      [chainId, number],
    );
    await requireUnexplained(tx, chain.network, unexplained, number);
    await recordArrivals(tx, parts, arrivals);
  });
}

/** Something may have been credited since. @throws OutOfPlace, and nothing is booked twice */
async function requireUnexplained(
  tx: Tx,
  network: Network,
  unexplained: readonly Explained[],
  at: number,
): Promise<void> {
  for (const { checkoutId, units } of unexplained) {
    await lockCheckout(tx, checkoutId);
    const now = await readExplained(tx, network, checkoutId, at);
    if (now !== units) throw new OutOfPlace('the deposits of a checkout have changed');
  }
}

async function readExplained(
  db: Db,
  { chainId, native }: Network,
  checkoutId: string,
  at: number,
): Promise<bigint> {
  const [row] = await db.query<{ units: string }>(
    `SELECT ${EXPLAINED_UNITS} AS units FROM wallet.checkout c WHERE c.id = $1`,
    [checkoutId, chainId, native.asset, at],
  );
  return BigInt(row?.units ?? 0);
}

async function listExplained(db: Db, network: Network, at: number): Promise<Explained[]> {
  const rows = await db.query<{ id: string; address: string; units: string }>(
    `SELECT c.id, c.address, ${EXPLAINED_UNITS} AS units FROM wallet.checkout c
     WHERE c.mode = $1 AND c.chain_id = $2 AND c.asset = $3
       AND c.expires_at > now() - interval '${WATCHED_DAYS} days'
     ORDER BY c.id`,
    [network.mode, network.chainId, network.native.asset, at],
  );
  return rows.map(({ id, address, units }) => ({ checkoutId: id, address, units: BigInt(units) }));
}

/** SQL: what the checkout c has in the native coin $3 of the chain $2, up to the block $4. */
const EXPLAINED_UNITS = `(
  coalesce((SELECT sum(d.units) FROM wallet.deposit d
    WHERE d.checkout_id = c.id AND d.chain_id = $2 AND d.asset = $3
      AND d.state <> 'vanished' AND d.block_number <= $4), 0)
  - coalesce((SELECT sum(s.units + s.fee_units) FROM wallet.address_spend s
    WHERE s.chain_id = $2 AND s.address = c.address AND s.asset = $3
      AND s.block_number <= $4), 0))::numeric(78,0)`;

/** It has the time of the first look that saw it: nodes keep no older balances. */
function arrivalOf(
  { network }: Chain,
  { address, checkoutId }: Explained,
  units: bigint,
  { number, hash, time }: Awaited<ReturnType<typeof listBlocks>>[number],
): Arrival {
  return {
    ...{ token: null, from: '', to: address, units, ordinal: 0, isInternal: true, checkoutId },
    // Not a transaction; it only makes the id. A block belongs to one look, so ids never repeat.
    ...{ txHash: `internal ${hash}`, asset: network.native.asset, decimals: NATIVE_DECIMALS },
    ...{ blockNumber: number, blockTime: time },
  };
}

function raiseShortfall(
  { alarms }: BalanceParts,
  { address, checkoutId }: Explained,
  missing: bigint,
  at: number,
): Promise<void> {
  const detail = `At block ${at} the address of checkout ${checkoutId} has ${missing} wei less than its deposits. Compare its transactions with the deposits and sweeps.`;
  return alarms.raise('balance_below_deposits', address, detail);
}
