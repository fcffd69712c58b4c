/**
 * After a reorganization below the final block the chain is paused, because what was final may have
 * been paid out. An operator who has compared the nodes accepts the chain that they have now: the
 * wallet goes back to the last block that both chains have and reads on from there. Payouts that are no
 * longer in a block are broadcast again with the same bytes. Deposits that were not final vanish until
 * they are read again; those that were credited stay, and an alarm names each that does not come back.
 */
import type { Address } from 'viem';
import { SetupError } from '../../../platform/lib/setup-error';
import type { Chain } from '../chain/chain';
import { readUsedNonces } from '../chain/finality';
import { resume } from '../chain/pause';
import { ChainUnavailable, RpcRefusal } from '../chain/rpc';
import { markMissingAbove, takeBackAbove } from '../checkouts/deposits';
import type { Database, Tx } from '../db/database';
import { reopenSlots } from '../sender/reopen';
import { acceptPlace, findPlace, listBlocks, type Place } from './place';
import { type BlockHeader, readHeader, readHeads } from './reader';

export interface AcceptedChain {
  /** The last block that both chains have. */
  fork: number;
  /** Payouts whose transactions are followed again. */
  reopened: number;
  /** Credited deposits of blocks that are gone. */
  missing: number;
  /** Nonces that the new chain has not used, and for which the wallet has no transaction. */
  gaps: { signer: string; nonce: bigint }[];
}

/**
 * @param resend whether payouts that the accepted chain does not have are broadcast again
 * @throws SetupError when the chain is not paused, the nodes do not agree about another chain, or `resend` is missing
 */
export async function acceptChain(
  db: Database,
  chain: Chain,
  { by, reason, resend }: { by: string; reason: string; resend: boolean },
): Promise<AcceptedChain> {
  const { chainId, name } = chain.network;
  const place = await findPlace(db, chainId);
  if (place === null || place.pausedReason === null) {
    throw new SetupError(
      `${name} is not paused. A chain is accepted while it is: after a reorganization below the final block, the wallet pauses it by itself.`,
    );
  }
  const fork = await findFork(db, chain, place);
  await requireAgreement(chain, fork);
  const used = await readUsed(db, chain);
  return db.transaction(async (tx) => {
    await acceptPlace(tx, chainId, place, fork);
    await takeBackAbove(tx, chainId, fork.number, ['detected']);
    const missing = await markMissingAbove(tx, chainId, fork.number);
    const { reopened, lost, gaps } = await reopenSlots(tx, chainId, fork.number, used);
    if (lost.length > 0 && !resend) throw new SetupError(describeLost(name, lost));
    const decision = `accepted the chain of the nodes from block ${fork.number}: ${reason}`;
    await resume(tx, chainId, 'chain', by, decision);
    await endAlarm(tx, chainId, by, decision);
    return { fork: fork.number, reopened, missing, gaps };
  });
}

const NAMED_MAX = 20;

function describeLost(network: string, lost: readonly string[]): string {
  const named = lost.slice(0, NAMED_MAX).join(', ');
  const others = lost.length > NAMED_MAX ? ` and ${lost.length - NAMED_MAX} others` : '';
  return `${network} stays paused: ${lost.length} payouts that the gateway was told to be final are in no block of the chain that the nodes have now: ${named}${others}. Make sure that nobody has paid them otherwise, and run the command again with --resend. The wallet then broadcasts the same transactions again, each of which the chain takes once at most.`;
}

/** The newest block of the wallet that the nodes have: found by halves, because one follows from the other. */
async function findFork(db: Database, chain: Chain, place: Place): Promise<BlockHeader> {
  const { name, chainId } = chain.network;
  const known = await listBlocks(db, chainId, 0, place.headNumber);
  let fork: BlockHeader | null = null;
  let [low, high] = [0, known.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const block = known[middle];
    const header = block === undefined ? null : await readHeader(chain, block.number);
    if (header !== null && header.hash === block?.hash) {
      fork = header;
      low = middle + 1;
    } else high = middle;
  }
  const [oldest] = known;
  if (oldest !== undefined) fork ??= await findBeginning(db, chain, oldest);
  if (fork === null) {
    throw new SetupError(
      `The nodes of ${name} have none of the blocks from ${String(oldest?.number ?? place.finalNumber)} on that the wallet knows, so it cannot say where the chains part. Check that chain_id and the nodes are right.`,
    );
  }
  if (fork.number === place.headNumber) {
    throw new SetupError(
      `The nodes of ${name} have the chain that the wallet knows. Run \`chain resume\`.`,
    );
  }
  return fork;
}

/**
 * A block from before the wallet followed the chain, where its record has nothing older than the blocks that
 * it knows: it is read again from there. Null where it has.
 */
async function findBeginning(
  db: Database,
  chain: Chain,
  oldest: { number: number; time: Date },
): Promise<BlockHeader | null> {
  const older = await db.query(
    `SELECT 1 FROM wallet.deposit WHERE chain_id = $1 AND block_number < $2
     UNION ALL SELECT 1 FROM wallet.slot WHERE chain_id = $1 AND settled_block < $2`,
    [chain.network.chainId, oldest.number],
  );
  if (older.length > 0) return null;
  for (let back = 1; ; back *= 2) {
    const header = await readHeader(chain, Math.max(0, oldest.number - back));
    // No address was given out before.
    if (header === null || header.number === 0 || header.time < oldest.time) return header;
  }
}

/** Every node must have the same chain: with one of another chain, the pause would come back. */
async function requireAgreement({ network, nodes }: Chain, fork: BlockHeader): Promise<void> {
  const heads = await Promise.all(nodes.map((node) => answerOf(node, readHeads(node))));
  const top = Math.min(...heads.map(({ latest }) => latest.number));
  for (const at of [fork.number, top]) {
    const headers = await Promise.all(nodes.map((node) => answerOf(node, readHeader(node, at))));
    if (new Set(headers.map((header) => header?.hash)).size === 1) continue;
    throw new SetupError(
      `The nodes of ${network.name} do not have the same block ${at}. Remove the nodes that serve another chain from rpc_urls, or wait until all agree, and run the command again.`,
    );
  }
}

async function answerOf<T>({ network }: Chain, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ChainUnavailable || error instanceof RpcRefusal)) throw error;
    throw new SetupError(
      `A node of ${network.name} does not answer (${error.message}). Every node must show the chain that you accept: repair it, or remove it from rpc_urls.`,
    );
  }
}

/** signer → its nonces below this one are used on the accepted chain, at every node */
async function readUsed(db: Database, chain: Chain): Promise<Map<string, bigint>> {
  const signers = await db.query<{ address: Address }>(
    'SELECT address FROM wallet.signer WHERE chain_id = $1',
    [chain.network.chainId],
  );
  const used = new Map<string, bigint>();
  for (const { address } of signers) {
    for (const rpc of chain.rpc.each()) {
      const { latest } = await answerOf(chain, readUsedNonces({ rpc }, address, null));
      const lowest = used.get(address);
      if (lowest === undefined || latest < lowest) used.set(address, latest);
    }
  }
  return used;
}

async function endAlarm(tx: Tx, chainId: number, by: string, resolution: string): Promise<void> {
  await tx.query(
    `UPDATE wallet.alarm
     SET cleared_at = clock_timestamp(), resolved_by = $2, resolution = $3
     WHERE chain_id = $1 AND kind = 'reorganization_below_final' AND cleared_at IS NULL`,
    [chainId, by, resolution],
  );
}
