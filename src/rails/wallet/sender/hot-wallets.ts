/**
 * The hot wallets of a chain that may take transfers now, with what each of them still can send, and
 * which of them sends which transfer. One that is stopped, paused, short or full stops no other.
 */
import type { Address } from 'viem';
import type { Chain } from '../chain/chain';
import { readL1Fee } from '../chain/l1-fee';
import type { Db } from '../db/database';
import type { PayoutRules } from '../networks';
import { amountOf, NATIVE_DECIMALS } from '../units';
import { TOKEN_TRANSACTION } from './fee-estimate';
import { type Fees, firstFees } from './fees';
import { exceededLimit, type Room, roomOf, type Rooms, smallerOf, takeFrom } from './limits';
import type { SignerKey } from './slots';
import type { Unpaid } from './transaction';
import { sendableDecimals } from './transfers';
import { type ChainView, readView } from './view';
import type { WaitingReason } from './waiting';

export interface HotWallet {
  key: SignerKey;
  view: ChainView;
  fees: Fees;
  /** The most that the network fee of one transfer may take, with its data on the first layer. */
  feeReserveWei: bigint;
  /** asset → units that no transaction outside of blocks will take */
  free: Map<string, bigint>;
  rooms: Rooms;
  /** Transactions outside of blocks. */
  inFlight: number;
  /** How many more of them it may have. */
  slotsLeft: number;
}

interface ReadParts {
  db: Db;
  chain: Chain;
  rules: PayoutRules;
}

/** @param rooms of all hot wallets that send on the chain */
export async function readHotWallets(
  { db, chain, rules }: ReadParts,
  rooms: ReadonlyMap<string, Rooms>,
): Promise<HotWallet[]> {
  const { chainId } = chain.network;
  const addresses = await listReady(db, chainId, [...rooms.keys()]);
  const l1FeeWei = addresses.length === 0 ? 0n : await readL1Fee(chain, TOKEN_TRANSACTION);
  return Promise.all(
    addresses.map(async (address) => {
      const view = await readView(chain, address);
      const key = { chainId, signer: address };
      const { inFlight, reserved } = await readReserved(db, key, view);
      const free = new Map(view.balances);
      for (const { asset, units, gas } of reserved) {
        take(free, asset, units);
        take(free, chain.network.native.asset, gas);
      }
      take(free, chain.network.native.asset, BigInt(inFlight) * l1FeeWei);
      const fees = firstFees(view, rules.maxFeePerGasWei);
      return {
        key,
        view,
        free,
        inFlight,
        rooms: rooms.get(address) ?? new Map<string, Room>(),
        fees,
        feeReserveWei: GAS_RESERVE * fees.maxFeePerGas + l1FeeWei,
        slotsLeft: Math.max(0, rules.inFlightMax - inFlight),
      };
    }),
  );
}

/** A signing service that hangs has not failed yet. */
const UNSIGNED_MAX = '3 seconds';

/**
 * Not stopped and not paused. One that cannot sign takes no more transfers, because those that it has
 * wait until it signs again.
 */
async function listReady(db: Db, chainId: number, signers: readonly string[]): Promise<Address[]> {
  const rows = await db.query<{ address: Address }>(
    `SELECT address FROM wallet.signer
     WHERE chain_id = $1 AND address = ANY($2::text[])
       AND stopped_reason IS NULL AND paused_at IS NULL
       AND NOT EXISTS (
         SELECT 1 FROM wallet.alarm WHERE alarm.chain_id = signer.chain_id
           AND kind = 'signing_failed' AND lower(subject) = address AND cleared_at IS NULL)
       AND NOT EXISTS (
         SELECT 1 FROM wallet.slot WHERE slot.chain_id = signer.chain_id
           AND slot.signer = address AND state = 'open' AND NOT is_signed
           AND created_at < clock_timestamp() - interval '${UNSIGNED_MAX}')
     ORDER BY address`,
    [chainId, signers],
  );
  return rows.map(({ address }) => address);
}

/** What transactions outside of blocks will take of the balance in the latest block. */
async function readReserved(
  db: Db,
  { chainId, signer }: SignerKey,
  { usedNonces }: ChainView,
): Promise<{ inFlight: number; reserved: { asset: string; units: bigint; gas: bigint }[] }> {
  const rows = await db.query<{ asset: string; count: number; units: string; gas: string }>(
    `SELECT asset, count(*)::int AS count, sum(units) AS units, sum(gas * max_fee_per_gas) AS gas
     FROM wallet.slot
     WHERE chain_id = $1 AND signer = $2 AND state = 'open' AND nonce >= $3 GROUP BY asset`,
    [chainId, signer, usedNonces],
  );
  return {
    inFlight: rows.reduce((sum, { count }) => sum + count, 0),
    reserved: rows.map(({ asset, units, gas }) => ({
      asset,
      units: BigInt(units),
      gas: BigInt(gas),
    })),
  };
}

function take(free: Map<string, bigint>, asset: string, units: bigint): void {
  free.set(asset, (free.get(asset) ?? 0n) - units);
}

/** More than any transfer of a known token takes; the estimate decides later. */
const GAS_RESERVE = 150_000n;

function coinsLeft({ network }: Chain, { free, feeReserveWei }: HotWallet): bigint {
  return (free.get(network.native.asset) ?? 0n) - feeReserveWei;
}

/** What one transfer of the asset may have at most; the coin also pays its network fee. */
function largestOf(chain: Chain, wallet: HotWallet, asset: string): bigint {
  if (asset === chain.network.native.asset) return coinsLeft(chain, wallet);
  return wallet.free.get(asset) ?? 0n;
}

/** What one transfer of an asset can have, and why a larger one waits. */
export interface Capacity {
  room: Room;
  /** The amount that the balance covers. */
  largest: bigint;
  /** The amount that the balance and the limits allow. */
  units: bigint;
  /** The reason why a transfer that the limits allow has to wait. */
  short: Obstacle;
}

/** Describes the hot wallet that can send the largest transfer of the asset. */
export function capacityOf(chain: Chain, wallets: readonly HotWallet[], asset: string): Capacity {
  const capacities = wallets.map((wallet) => {
    const room = roomOf(wallet.rooms, asset);
    const largest = largestOf(chain, wallet, asset);
    const allowed = smallerOf(room);
    const units = allowed < largest ? allowed : largest;
    const hasFees = coinsLeft(chain, wallet) >= 0n;
    return { hasFees, room, largest, units, short: shortOf(chain, wallet, asset) };
  });
  return capacities.reduce((best, one) => {
    if (one.hasFees !== best.hasFees) return one.hasFees ? one : best;
    return one.units > best.units ? one : best;
  });
}

interface Obstacle {
  reason: WaitingReason;
  detail: string;
}

function shortOf(chain: Chain, wallet: HotWallet, asset: string): Obstacle {
  const { network } = chain;
  const hasFees = coinsLeft(chain, wallet) >= 0n;
  const lacking = hasFees ? asset : network.native.asset;
  const decimals = sendableDecimals(network, lacking) ?? NATIVE_DECIMALS;
  const held = amountOf(wallet.view.balances.get(lacking) ?? 0n, decimals);
  return {
    reason: hasFees ? 'float' : 'network fees',
    detail: `The hot wallet ${wallet.key.signer} has ${held} ${lacking}, which does not cover the queued payouts. Send ${lacking} to it.`,
  };
}

export function limitDetail(asset: string, period: 'hour' | 'day'): string {
  return `Payouts wait for the ${period} limit. If this volume is expected, raise limits.${asset}.${period}.`;
}

/** Returns null when the hot wallet can send it. */
function obstacleOf(chain: Chain, wallet: HotWallet, transfer: Unpaid): Obstacle | null {
  const { asset, units } = transfer;
  const period = exceededLimit(roomOf(wallet.rooms, asset), units);
  if (period !== null) return { reason: 'limit', detail: limitDetail(asset, period) };
  const isCovered = coinsLeft(chain, wallet) >= 0n && largestOf(chain, wallet, asset) >= units;
  return isCovered ? null : shortOf(chain, wallet, asset);
}

interface Spread<T> {
  /** They are in the order in which they are due. */
  chosen: Map<HotWallet, T[]>;
  /** No hot wallet can send them. */
  obstructed: { transfer: T; obstacle: Obstacle }[];
}

/**
 * The hot wallet with the fewest transactions in flight that can send it gets each transfer. One that
 * only full hot wallets can send is in neither list.
 * @param mayTry false: the hot wallet was asked already
 */
export function spread<T extends Unpaid>(
  chain: Chain,
  wallets: readonly HotWallet[],
  transfers: readonly T[],
  mayTry: (transfer: T, wallet: HotWallet) => boolean,
): Spread<T> {
  const found: Spread<T> = { chosen: new Map(), obstructed: [] };
  for (const transfer of transfers) {
    const able: HotWallet[] = [];
    let obstacle: Obstacle | null = null;
    for (const wallet of wallets) {
      if (!mayTry(transfer, wallet)) continue;
      const own = obstacleOf(chain, wallet, transfer);
      if (own === null) able.push(wallet);
      else obstacle ??= own;
    }
    const [wallet] = able
      .filter(({ slotsLeft }) => slotsLeft > 0)
      .sort((a, b) => a.inFlight - b.inFlight);
    if (wallet !== undefined) {
      reserve(chain, wallet, transfer);
      found.chosen.set(wallet, [...(found.chosen.get(wallet) ?? []), transfer]);
    } else if (able.length === 0 && obstacle !== null) {
      found.obstructed.push({ transfer, obstacle });
    }
  }
  return found;
}

function reserve(chain: Chain, wallet: HotWallet, transfer: Unpaid): void {
  move(chain, wallet, transfer, 1);
}

/** The hot wallet does not send it after all. */
export function release(chain: Chain, wallet: HotWallet, transfer: Unpaid): void {
  move(chain, wallet, transfer, -1);
}

function move(
  { network }: Chain,
  wallet: HotWallet,
  { asset, units }: Unpaid,
  transfers: 1 | -1,
): void {
  const sign = BigInt(transfers);
  takeFrom(wallet.rooms, { asset, units: sign * units });
  take(wallet.free, asset, sign * units);
  take(wallet.free, network.native.asset, sign * wallet.feeReserveWei);
  wallet.inFlight += transfers;
  wallet.slotsLeft -= transfers;
}
