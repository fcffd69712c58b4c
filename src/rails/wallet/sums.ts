/**
 * The wallet's sums, for each asset of a chain at a final block:
 *
 *   on the deposit addresses = received − swept − network fees of the sweeps
 *
 * and, beside it, the float of the hot wallet and what it owes. A difference means that money moved
 * without the wallet's books: it is an alarm, and nothing is corrected.
 */
import { formatUnits } from 'viem';
import type { Alarms } from './alarms';
import type { Chain } from './chain/chain';
import { ignoreSilence, RpcRefusal } from './chain/rpc';
import type { Db } from './db/database';
import { readRow, type Row } from './db/rows';
import { findPlace, listBlocks } from './follower/place';
import { readBalances, readHeader } from './follower/reader';
import { type AddressTotal, ASKED_IN_TURN, keepBalances, readAddressTotal } from './kept-balances';
import { NATIVE_DECIMALS } from './units';

/** Figures in the asset's smallest unit. */
export interface AssetSums extends Record<Figure, bigint> {
  asset: string;
  decimals: number;
  /** The sums are those at this block. */
  block: number;
}

const FIGURES = [
  /** The balances by the nodes. */
  'on_addresses',
  ...(['received', 'swept', 'fees'] as const),
  /** The balances of the hot wallets. */
  'float',
  /** The amounts that are ordered and not final yet. */
  'owed',
  /** Zero unless something needs an explanation. */
  'difference',
] as const;
type Figure = (typeof FIGURES)[number];

/** The sums with the addresses that were asked about for them. */
interface AskedSums extends AssetSums {
  asked: AddressTotal['asked'];
  /** False if more addresses have moved than were asked about, and the figures are not whole. */
  isComplete: boolean;
}

/**
 * Null while the chain has not been read, or not all changed addresses were asked about.
 * @throws RpcRefusal when no old state is kept
 */
export async function readSums(db: Db, chain: Chain): Promise<AssetSums[] | null> {
  const sums = await readFinalSums(db, chain, 0);
  return sums?.every(({ isComplete }) => isComplete) === true ? sums : null;
}

async function readFinalSums(db: Db, chain: Chain, inTurn: number): Promise<AskedSums[] | null> {
  const place = await findPlace(db, chain.network.chainId);
  if (place === null) return null;
  // Coins that contracts sent are found later than the scan of blocks is final.
  const blocks = { coins: place.balancesNumber, tokens: place.finalNumber };
  return readSumsAt(db, chain, blocks, inTurn);
}

async function readSumsAt(
  db: Db,
  chain: Chain,
  blocks: { coins: number; tokens: number },
  inTurn: number,
): Promise<AskedSums[]> {
  const { chainId, native, tokens } = chain.network;
  const signers = await db.query<{ address: string }>(
    'SELECT address FROM wallet.signer WHERE chain_id = $1',
    [chainId],
  );
  const assets = [
    { asset: native.asset, token: null, decimals: NATIVE_DECIMALS },
    ...tokens.map(({ asset, address, decimals }) => ({ asset, token: address, decimals })),
  ];
  const sums: AskedSums[] = [];
  for (const { asset, token, decimals } of assets) {
    const block = token === null ? blocks.coins : blocks.tokens;
    const total = await readAddressTotal(db, chain, { asset, token }, { block, inTurn });
    const ofSigners = signers.map(({ address }) => ({ address, token }));
    const float = sumOf(await readBalances(chain, ofSigners, block));
    const booked = await readBooked(db, chainId, asset, block);
    const { units, asked, isComplete } = total;
    const difference = units - (booked.received - booked.swept - booked.fees);
    const figures = { asset, decimals, block, on_addresses: units, ...booked, float, difference };
    sums.push({ ...figures, asked, isComplete });
  }
  return sums;
}

function sumOf(all: readonly bigint[]): bigint {
  return all.reduce((sum, one) => sum + one, 0n);
}

/**
 * Raises an alarm for each asset whose sums do not agree, and clears it when they do. Where the nodes
 * do not keep the state of the final block, the balances of the newest block are compared once it is
 * final. Balances of final blocks are kept.
 */
export class SumsCheck {
  private look: { number: number; hash: string; sums: AskedSums[] } | null = null;

  constructor(
    private readonly db: Db,
    private readonly chain: Chain,
    private readonly alarms: Alarms,
    /** Addresses without a movement that a round asks about. */
    private readonly inTurn = ASKED_IN_TURN,
  ) {}

  /** @returns 'more' when not all of the changed addresses have been asked about */
  async check(): Promise<'more' | undefined> {
    const { db, chain } = this;
    if (this.look !== null) return this.compareLook();
    try {
      const sums = (await readFinalSums(db, chain, this.inTurn)) ?? [];
      for (const one of sums) await this.keepAndReport(one);
      return sums.every(({ isComplete }) => isComplete) ? undefined : 'more';
    } catch (error) {
      if (!(error instanceof RpcRefusal)) throw error;
      await this.lookAtHead();
      return undefined;
    }
  }

  private async lookAtHead(): Promise<void> {
    const { db, chain } = this;
    const place = await findPlace(db, chain.network.chainId);
    if (place === null) return;
    const { headNumber: number, headHash: hash } = place;
    const sums = await readSumsAt(db, chain, { coins: number, tokens: number }, this.inTurn);
    const after = await readHeader(chain, number);
    // A reorganization in between would have mixed the balances of two blocks.
    if (after?.hash === hash) this.look = { number, hash, sums };
  }

  private async compareLook(): Promise<undefined> {
    const { db, chain, look } = this;
    const { chainId } = chain.network;
    const place = await findPlace(db, chainId);
    if (look === null || place === null) return;
    if (place.finalNumber < look.number || place.balancesNumber < look.number) return;
    this.look = null;
    const [block] = await listBlocks(db, chainId, look.number, look.number);
    if (block?.hash !== look.hash) return;
    for (const one of look.sums) {
      const booked = await readBooked(db, chainId, one.asset, look.number);
      const difference = one.on_addresses - (booked.received - booked.swept - booked.fees);
      const later = await readFoundLater(db, chainId, one.asset, look.number);
      const isExplained = difference >= 0n && difference <= later;
      await this.keepAndReport({ ...one, ...booked, difference: isExplained ? 0n : difference });
    }
  }

  private async keepAndReport(one: AskedSums): Promise<void> {
    const { chainId } = this.chain.network;
    await keepBalances(this.db, chainId, one, one.asked);
    if (!one.isComplete) return;
    if (one.difference === 0n) {
      await this.alarms.clear('sums_differ', one.asset);
      return;
    }
    const { asset, block, on_addresses: has, difference } = presentSums(one);
    const detail = `At block ${block} the deposit addresses have ${has} ${asset}; that differs by ${difference} from what the deposits, sweeps and network fees explain. Compare the addresses with the chain: docs/wallet.md, "The sums".`;
    await this.alarms.raise('sums_differ', asset, detail);
  }
}

/** Coins of contracts that were booked at a later block than the one that brought them. */
async function readFoundLater(
  db: Db,
  chainId: number,
  asset: string,
  after: number,
): Promise<bigint> {
  const [row] = await db.query<{ units: string }>(
    `SELECT coalesce(sum(units), 0)::text AS units FROM wallet.deposit
     WHERE chain_id = $1 AND asset = $2 AND block_number > $3 AND tx_hash IS NULL
       AND state <> 'vanished'`,
    [chainId, asset, after],
  );
  return BigInt(row?.units ?? 0);
}

/** Exact: as many decimals as the asset has. */
export type ShownSums = Record<Figure | 'asset', string> & { block: number };

function presentSums({ asset, block, decimals, ...sums }: AssetSums): ShownSums {
  const shown = FIGURES.map((name) => [name, formatUnits(sums[name], decimals)]);
  return { asset, block, ...(Object.fromEntries(shown) as Record<Figure, string>) };
}

/** `wallet status` shows it; null while no node can tell. */
export async function readShownSums(db: Db, chain: Chain): Promise<ShownSums[] | null> {
  const sums = await readSums(db, chain).catch(ignoreSilence);
  return sums?.map(presentSums) ?? null;
}

type Booked = Record<'received' | 'swept' | 'fees' | 'owed', bigint>;

/** Vanished deposits are in no block. */
async function readBooked(db: Db, chainId: number, asset: string, at: number): Promise<Booked> {
  const [row] = await db.query<Row<Booked>>(
    `SELECT
       (SELECT coalesce(sum(units), 0) FROM wallet.deposit
        WHERE chain_id = $1 AND asset = $2 AND block_number <= $3 AND state <> 'vanished')::text
         AS received,
       (SELECT coalesce(sum(units), 0) FROM wallet.address_spend
        WHERE chain_id = $1 AND asset = $2 AND block_number <= $3)::text AS swept,
       (SELECT coalesce(sum(fee_units), 0) FROM wallet.address_spend
        WHERE chain_id = $1 AND asset = $2 AND block_number <= $3)::text AS fees,
       (SELECT coalesce(sum(units), 0) FROM wallet.transfer
        WHERE chain_id = $1 AND asset = $2 AND status IN ('queued', 'sending'))::text AS owed`,
    [chainId, asset, at],
  );
  if (row === undefined) throw new Error('PostgreSQL gave no sums');
  return readRow<Booked>(row, 'received', 'swept', 'fees', 'owed');
}
