/**
 * Follows one chain, block by block: what arrives at watched addresses, what a reorganization takes
 * back, what has become final. Each block is one transaction with the place in the chain, so a crash
 * at any moment loses and repeats nothing. Every chain has a follower of its own.
 */
import { errorText } from '../../../platform/lib/command-line';
import type { Alarms } from '../alarms';
import type { Chain } from '../chain/chain';
import { pause } from '../chain/pause';
import {
  type DepositParts,
  dropArrivalsAbove,
  listMissing,
  listUnexpected,
  recordArrivals,
  settleDeposits,
} from '../checkouts/deposits';
import type { Log } from '../config';
import type { Database, Tx } from '../db/database';
import { type Loop, startLoop } from '../loop';
import { Agreement } from './agreement';
import { InconsistentNode } from './answers';
import { arrivalsOf, recordSpends } from './arrivals';
import { CoinBalances } from './internal-transfers';
import {
  advance,
  advanceFinal,
  beginAt,
  findPlace,
  goBack,
  listBlocks,
  OutOfPlace,
  type Place,
  setSure,
} from './place';
import {
  type BlockContent,
  type BlockHeader,
  readBlock,
  readHeader,
  readHeaders,
  readHeads,
  readRange,
} from './reader';
import { type Patience, ProgressWatch } from './progress';
import type { WatchList } from './watch-list';

export interface FollowerParts extends DepositParts, Patience {
  chain: Chain;
  db: Database;
  watched: WatchList;
  alarms: Alarms;
  log: Log;
  /** The time between two looks for coins that contracts sent. */
  balancesEveryMs: number;
  /** How long a deposit may lack a second node before an alarm is raised. */
  doubtAfterMs?: number;
}

/** Blocks that are read one by one in a step; more are read in a range where they are final. */
const BLOCKS_PER_STEP = 20;
/** After this many steps in a row without a new block, another node is asked. */
const STUCK_STEPS = 30;

export function startFollower(parts: FollowerParts, pauseMs: number): Loop {
  const { mode, name } = parts.chain.network;
  const follower = new Follower(parts);
  return startLoop(`following ${name} (${mode})`, parts.log, pauseMs, (signal) =>
    follower.step(signal),
  );
}

/** An older chain has final blocks, so that a node without one is not ready. */
const YOUNG_CHAIN_BLOCKS = 10_000;

/**
 * The place from which a new chain will be followed: its final block, or the first block of a young
 * chain that has no final one yet. It is stored before the first address of the chain
 * is given out: what is paid to it is not missed, whenever somebody begins to work on the chain.
 */
export async function ensurePlace(db: Database, chain: Chain): Promise<void> {
  if ((await findPlace(db, chain.network.chainId)) !== null) return;
  const heads = await readHeads(chain);
  if (heads.finalized === null && heads.latest.number > YOUNG_CHAIN_BLOCKS) {
    throw new Error('the node tells no final block');
  }
  const start = heads.finalized ?? (await readHeader(chain, 0)) ?? heads.latest;
  await beginAt(db, chain.network, start);
}

type Heads = Awaited<ReturnType<typeof readHeads>>;

export class Follower {
  private readonly chainId: number;
  private readonly balances: CoinBalances;
  private readonly agreement: Agreement;
  private balancesAt = -Infinity;
  private stuckSteps = 0;
  private readonly watch: ProgressWatch;
  /** Belongs to the step under way. */
  private head: BlockHeader | null = null;

  constructor(private readonly parts: FollowerParts) {
    const { chainId, name } = parts.chain.network;
    this.chainId = chainId;
    this.balances = new CoinBalances(parts);
    this.agreement = new Agreement(parts);
    this.watch = new ProgressWatch(name, parts.alarms, parts);
  }

  /** @returns 'more' when there are more blocks to read */
  async step(signal?: AbortSignal): Promise<'more' | undefined> {
    this.head = null;
    let failure: string | null = null;
    try {
      return await this.takeStep(signal);
    } catch (error) {
      failure = errorText(error);
      throw error;
    } finally {
      await this.watchProgress(failure);
    }
  }

  private async watchProgress(failure: string | null): Promise<void> {
    const place = await findPlace(this.parts.db, this.chainId);
    await this.watch.observe({
      place:
        place === null
          ? null
          : { number: place.headNumber, hash: place.headHash, final: place.finalNumber },
      head: this.head,
      isPaused: place !== null && place.pausedReason !== null,
      failure,
    });
  }

  private async takeStep(signal: AbortSignal | undefined): Promise<'more' | undefined> {
    const { db, chain } = this.parts;
    const place = await findPlace(db, this.chainId);
    if (place !== null && place.pausedReason !== null) return undefined;
    try {
      if (place === null) {
        await ensurePlace(db, chain);
        return 'more';
      }
      const heads = await readHeads(chain);
      this.head = heads.latest;
      const more = await this.follow(place, heads, signal);
      if (heads.latest.number > place.headNumber) this.stuckSteps = 0;
      else this.leavesNode();
      return more;
    } catch (error) {
      if (error instanceof OutOfPlace) return undefined;
      if (!(error instanceof InconsistentNode)) throw error;
      // The chain moved on between two answers, or the next node is not as far. It will fit soon.
      if (!this.leavesNode()) return undefined;
      const { message } = error;
      throw new Error(`a node's answers do not fit together: ${message}`, { cause: error });
    }
  }

  /** Is called after a step without a new block. @returns whether another node is asked from now on */
  private leavesNode(): boolean {
    this.stuckSteps += 1;
    if (this.stuckSteps < STUCK_STEPS) return false;
    this.stuckSteps = 0;
    this.parts.chain.rpc.avoidCurrent();
    return true;
  }

  private async follow(
    place: Place,
    heads: Heads,
    signal: AbortSignal | undefined,
  ): Promise<'more' | undefined> {
    // A node that is behind what is final can tell nothing new.
    if (heads.latest.number < place.finalNumber) return undefined;
    const fork = await this.findFork(place, heads);
    if (fork === 'below_final') return this.stopBelowFinal(place);
    if (fork !== null) {
      await this.takeBack(place, fork);
      return 'more';
    }
    const finalized = heads.finalized?.number ?? 0;
    if (finalized - place.headNumber > BLOCKS_PER_STEP) {
      await this.catchUp(place, finalized);
      return 'more';
    }
    const isMore = await this.readNewBlocks(place, heads.latest, signal);
    const finalNumber = await this.settle(heads);
    // Last, and at the newest block: deposits are confirmed even when no node can tell balances.
    await this.balances.book(finalNumber);
    if (!isMore) {
      await this.reportMissing();
      await this.lookAtBalances();
    }
    return isMore ? 'more' : undefined;
  }

  /** The last common block; null when the place is on the node's chain. */
  private async findFork(
    place: Place,
    { latest }: Heads,
  ): Promise<BlockHeader | 'below_final' | null> {
    if (latest.hash === place.headHash) return null;
    const { chain, db } = this.parts;
    const top = Math.min(place.headNumber, latest.number);
    const isSame = async (number: number, hash: string): Promise<BlockHeader | null> => {
      const header = await readHeader(chain, number);
      if (header === null) throw new InconsistentNode('the node does not have the block');
      return header.hash === hash ? header : null;
    };
    const blocks = await listBlocks(db, this.chainId, place.finalNumber, top);
    // From the top: nearly all reorganizations are one or two blocks deep.
    for (const block of blocks.reverse()) {
      const common = await isSame(block.number, block.hash);
      if (common === null) continue;
      // A node that has only fewer blocks is behind, and takes nothing back.
      return block.number === top ? null : common;
    }
    return 'below_final';
  }

  /** Changes nothing: what was final may have been paid out. */
  private async stopBelowFinal(place: Place): Promise<undefined> {
    const { db, log, chain } = this.parts;
    const { mode, name } = chain.network;
    const detail = `The nodes show another block ${place.finalNumber}, which was final (${place.finalHash}). The chain is paused and nothing was changed. Compare the nodes: remove those that serve another chain and run npm run wallet -- chain resume, or accept the chain that they all have with npm run wallet -- chain accept.`;
    log('error', 'reorganization below final', { mode, network: name, block: place.finalNumber });
    // The alarm first: a pause without one would be silence.
    await this.parts.alarms.raise('reorganization_below_final', String(place.finalNumber), detail);
    await pause(db, this.chainId, 'chain', { by: 'the wallet', reason: detail });
    return undefined;
  }

  private async takeBack(place: Place, fork: BlockHeader): Promise<void> {
    const { db, log, chain } = this.parts;
    await db.transaction(async (tx) => {
      await goBack(tx, this.chainId, place, fork);
      await dropArrivalsAbove(tx, this.parts, fork.number);
    });
    const { mode, name } = chain.network;
    const blocks = place.headNumber - fork.number;
    log('warn', 'reorganization', { mode, network: name, blocks, fork: fork.number });
  }

  /** @returns whether there are more */
  private async readNewBlocks(
    place: Place,
    latest: BlockHeader,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (latest.number <= place.headNumber) return false;
    const { chain, watched } = this.parts;
    const to = Math.min(latest.number, place.headNumber + BLOCKS_PER_STEP);
    const isNext = latest.number === place.headNumber + 1;
    const headers = isNext ? [latest] : await readHeaders(chain, place.headNumber + 1, to);
    if (headers[0]?.parentHash !== place.headHash) return true;
    let headHash = place.headHash;
    for (const header of headers) {
      if (signal?.aborted === true) return false;
      // The addresses are read after the block is known, because whoever it pays saw the address before.
      await watched.refresh();
      const content = await readBlock(chain, header, watched);
      const from = { headHash };
      await this.record(content, (tx) => advance(tx, this.chainId, from, header));
      headHash = header.hash;
    }
    return to < latest.number;
  }

  private async catchUp(place: Place, finalNumber: number): Promise<void> {
    const { chain, watched } = this.parts;
    await watched.refresh();
    const blocks = { from: place.headNumber + 1, to: finalNumber };
    const { first, last, ...content } = await readRange(chain, blocks, watched);
    if (first.parentHash !== place.headHash) throw new InconsistentNode('another chain');
    await this.record(content, (tx) => advanceFinal(tx, this.chainId, place, last));
  }

  private async record(
    { movements, spends }: BlockContent,
    move: (tx: Tx) => Promise<void>,
  ): Promise<void> {
    const { db, chain, watched } = this.parts;
    const { network } = chain;
    const arrivals = arrivalsOf(network, (address) => watched.checkoutOf(address), movements);
    await db.transaction(async (tx) => {
      await move(tx);
      await recordArrivals(tx, this.parts, arrivals);
      await recordSpends(tx, network, spends);
    });
  }

  /** What the node calls sure, as far as it was read and is the same block. @returns the final one */
  private async settle(heads: Heads): Promise<number> {
    const { db } = this.parts;
    const place = await findPlace(db, this.chainId);
    if (place === null || heads.finalized === null) return 0;
    const finalized = await this.knownSure(place, heads.finalized);
    const safe = Math.max(
      (await this.knownSure(place, heads.safe ?? heads.finalized)).number,
      finalized.number,
    );
    if (finalized.number > place.finalNumber || safe > place.safeNumber) {
      await setSure(db, this.chainId, safe, finalized);
    }
    const sure = { safe, finalized: finalized.number };
    await this.agreement.seek(sure);
    await settleDeposits(db, this.parts, sure);
    for (const { subject, detail } of await listUnexpected(db, this.chainId)) {
      await this.parts.alarms.raise('unexpected_deposit', subject, detail);
    }
    return finalized.number;
  }

  /** Once the new chain was read to its end. */
  private async reportMissing(): Promise<void> {
    for (const { subject, detail } of await listMissing(this.parts.db, this.chainId)) {
      await this.parts.alarms.raise('credited_deposit_gone', subject, detail);
    }
  }

  private async lookAtBalances(): Promise<void> {
    if (performance.now() - this.balancesAt < this.parts.balancesEveryMs) return;
    const place = await findPlace(this.parts.db, this.chainId);
    if (place === null || place.headNumber <= place.balancesNumber) return;
    await this.balances.look(place);
    this.balancesAt = performance.now();
  }

  private async knownSure(
    place: Place,
    { number, hash }: BlockHeader,
  ): Promise<{ number: number; hash: string }> {
    const known = { number: place.finalNumber, hash: place.finalHash };
    if (number <= place.finalNumber) return known;
    if (number > place.headNumber) {
      // Everything that was read is final: the chain links it to the finalized block.
      return { number: place.headNumber, hash: place.headHash };
    }
    const [block] = await listBlocks(this.parts.db, this.chainId, number, number);
    return block?.hash === hash ? { number, hash } : known;
  }
}
