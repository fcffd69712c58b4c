/**
 * Reads final blocks again and credits what is missing. It runs beside the process that follows the
 * chain, and may be repeated and interrupted: booking.ts credits everything once.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Hex } from 'viem';
import { errorText } from '../../../platform/lib/command-line';
import { SetupError } from '../../../platform/lib/setup-error';
import type { Chain } from '../chain/chain';
import { ignoreSilence } from '../chain/rpc';
import type { Database, Db } from '../db/database';
import { recordDecision } from '../decisions';
import { InconsistentNode } from './answers';
import { arrivalsOf } from './arrivals';
import { bookMissing, type BookedArrival } from './booking';
import { findPlace, type Place } from './place';
import { type BlockRange, readHeader, readRange, type Watched } from './reader';

interface RescanParts {
  db: Database;
  chain: Chain;
}

export interface RescanOrder {
  from: number;
  /** Null stands for the newest final block. */
  to: number | null;
  /** Null, or the only transaction that is credited. */
  transaction: string | null;
  by: string;
  reason: string;
}

export interface Rescanned {
  from: number;
  to: number;
  found: BookedArrival[];
}

const ATTEMPTS = 8;
const ATTEMPT_PAUSE_MS = 500;
const AVOID_AFTER = 3;

/**
 * @param onProgress told of the last block that was read, of the last one to read, and of what was found
 * @throws SetupError for blocks that are not final, while the chain is paused, and when no node gives
 * an answer that fits; what was credited until then stays
 */
export async function rescan(
  parts: RescanParts,
  order: RescanOrder,
  onProgress: (block: number, to: number, found: number) => void = () => undefined,
): Promise<Rescanned> {
  const { db, chain } = parts;
  const place = await requirePlace(parts);
  const { from } = order;
  const to = order.to ?? place.finalNumber;
  requireFinal(place, Math.max(from, to));
  await recordDecision(db, {
    chainId: chain.network.chainId,
    kind: 'rescan',
    subject: order.transaction ?? `blocks ${from} to ${to}`,
    by: order.by,
    reason: order.reason,
  });
  const addresses = await readAllAddresses(db, chain);
  const found: BookedArrival[] = [];
  let next = from;
  let before: string | null = null;
  while (next <= to) {
    const range = await readSurely(parts, { from: next, to }, addresses, before);
    const { transaction } = order;
    const { movements, spends, first, last } = onlyOf(range, transaction);
    const arrivals = arrivalsOf(chain.network, (one) => addresses.checkoutOf(one), movements);
    found.push(...(await bookMissing(parts, { arrivals, spends, first, last, transaction })));
    before = last.hash;
    next = last.number + 1;
    onProgress(last.number, to, found.length);
  }
  return { from, to, found };
}

/** @returns the block of a transaction. @throws SetupError when no node has it in a block */
export async function findBlockOf({ rpc, network }: Chain, hash: Hex): Promise<number> {
  for (const node of rpc.each()) {
    const receipt = await node
      .call<{ blockNumber: Hex | null } | null>('eth_getTransactionReceipt', [hash])
      .catch(ignoreSilence);
    if (receipt?.blockNumber != null) return Number(receipt.blockNumber);
  }
  throw new SetupError(`No node of ${network.name} has the transaction ${hash} in a block.`);
}

async function requirePlace({ db, chain }: RescanParts): Promise<Place> {
  const { name, chainId } = chain.network;
  const place = await findPlace(db, chainId);
  if (place === null) throw new SetupError(`The wallet has not read a block of ${name} yet.`);
  if (place.pausedReason === null) return place;
  const why = place.pausedReason.replace(/\.$/, '');
  throw new SetupError(`${name} is paused: ${why}. Run \`chain resume\` first.`);
}

function requireFinal({ finalNumber }: Place, block: number): void {
  if (block <= finalNumber) return;
  throw new SetupError(
    `Block ${block} is not final yet: the newest final block is ${finalNumber}. The wallet itself credits what is in newer blocks.`,
  );
}

interface Addresses extends Watched {
  checkoutOf(address: string): string | undefined;
}

/** Reads the addresses that are no longer watched as well. */
async function readAllAddresses(db: Db, { network }: Chain): Promise<Addresses> {
  const rows = await db.query<{ id: string; address: string }>(
    'SELECT id, address FROM wallet.checkout WHERE mode = $1',
    [network.mode],
  );
  const checkouts = new Map(rows.map(({ id, address }) => [address, id]));
  return {
    size: checkouts.size,
    has: (address) => checkouts.has(address),
    checkoutOf: (address) => checkouts.get(address),
  };
}

/** Answers that do not fit are asked for again, and of another node. */
async function readSurely(
  { chain }: RescanParts,
  blocks: { from: number; to: number },
  addresses: Addresses,
  before: string | null,
): Promise<BlockRange> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const range = await readRange(chain, blocks, addresses);
      if (before !== null && range.first.parentHash !== before) {
        throw new InconsistentNode('another chain');
      }
      await requireAgreement(chain, range);
      return range;
    } catch (error) {
      if (!(error instanceof InconsistentNode)) ignoreSilence(error);
      if (attempt === ATTEMPTS) {
        throw new SetupError(
          `The nodes of ${chain.network.name} do not answer about block ${blocks.from}: ${errorText(error)}. Repair them, and run the command again from this block.`,
        );
      }
      if (attempt % AVOID_AFTER === 0) chain.rpc.avoidCurrent();
      await wait(ATTEMPT_PAUSE_MS);
    }
  }
}

/** A final block is the same at every node; one that does not answer, or has not got so far, says nothing. */
async function requireAgreement({ rpc, network, ...chain }: Chain, { last }: BlockRange) {
  for (const node of rpc.each()) {
    const header = await readHeader({ ...chain, network, rpc: node }, last.number).catch(
      ignoreSilence,
    );
    if (header != null && header.hash !== last.hash) {
      throw new InconsistentNode(`the nodes have different blocks ${last.number}`);
    }
  }
}

function onlyOf(range: BlockRange, transaction: string | null): BlockRange {
  if (transaction === null) return range;
  const isIts = ({ txHash }: { txHash: string }): boolean => txHash === transaction;
  return {
    ...range,
    movements: range.movements.filter(isIts),
    spends: range.spends.filter(isIts),
  };
}
