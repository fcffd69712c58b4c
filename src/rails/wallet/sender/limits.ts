/**
 * What the limits of the hour and of the day leave for each asset and hot wallet. The limits are of
 * each hot wallet; all together, with those that were replaced, send no more than the limits times the
 * number of hot wallets, so that a new key is no new limit. A transfer that has waited long for its
 * limit is not overtaken any more: what becomes free is kept for it until it is sent.
 */
import type { Chain } from '../chain/chain';
import type { Db } from '../db/database';
import { unitsOf } from '../units';
import { max, min } from './fees';
import type { Unpaid } from './transaction';
import { sendableDecimals } from './transfers';
import { LONG_WAIT } from './waiting';

/** The sums are in the asset's units. */
export interface Room {
  hour: bigint;
  day: bigint;
}

/** asset → what one hot wallet may send of it */
export type Rooms = Map<string, Room>;

const NOTHING: Room = { hour: 0n, day: 0n };

interface SpentRow {
  asset: string;
  /** Null when nothing was sent in the last 24 hours. */
  signer: string | null;
  hour: string | null;
  day: string | null;
  patient: string | null;
}

/**
 * @param signers the hot wallets that send on the chain, in lower case
 * @returns for each of them the assets in which transfers are queued
 */
export async function findRooms(
  db: Db,
  chain: Chain,
  signers: readonly string[],
): Promise<Map<string, Rooms>> {
  // Failed transactions moved nothing. The recipient's contract decides what coins cost to send, so that
  // the network fee counts at most as high as it was offered.
  const rows = await db.query<SpentRow>(
    `SELECT queued.asset, spent.signer, spent.hour, spent.day, patient
     FROM (SELECT DISTINCT asset FROM wallet.transfer WHERE chain_id = $1 AND status = 'queued')
       AS queued
     LEFT JOIN LATERAL (
       SELECT signer, coalesce(sum(taken)
           FILTER (WHERE created_at > clock_timestamp() - interval '1 hour'), 0) AS hour,
         sum(taken) AS day
       FROM (
         SELECT signer, created_at, CASE WHEN state IN ('open', 'sent') THEN units ELSE 0 END
           + CASE WHEN asset = $3 THEN gas * max_fee_per_gas ELSE 0 END AS taken
         FROM wallet.slot
         WHERE chain_id = $1 AND slot.asset = queued.asset
           AND created_at > clock_timestamp() - interval '1 day') AS slot
       GROUP BY signer
     ) AS spent ON true
     LEFT JOIN LATERAL (
       SELECT units AS patient FROM wallet.transfer
       WHERE chain_id = $1 AND status = 'queued' AND asset = queued.asset
         AND waiting_for = 'limit' AND waiting_since < clock_timestamp() - interval '${LONG_WAIT}'
         AND units <= coalesce(($2::jsonb ->> asset)::numeric, 0)
       ORDER BY due_at, id LIMIT 1
     ) AS oldest ON true`,
    [chain.network.chainId, JSON.stringify(largestByLimits(chain)), chain.network.native.asset],
  );
  const found = new Map<string, Rooms>(signers.map((signer) => [signer, new Map()]));
  for (const asset of new Set(rows.map((row) => row.asset))) {
    const spent = rows.filter((row) => row.asset === asset);
    const left = signers.map((signer) => roomLeft(chain, asset, signers, spent, signer));
    keepForPatient(left, spent[0]?.patient ?? null);
    for (const [index, signer] of signers.entries()) {
      found.get(signer)?.set(asset, left[index] ?? NOTHING);
    }
  }
  return found;
}

function roomLeft(
  chain: Chain,
  asset: string,
  signers: readonly string[],
  spent: readonly SpentRow[],
  signer: string,
): Room {
  const limits = readLimits(chain, asset);
  const own = spent.find((row) => row.signer === signer);
  const left = (period: 'hour' | 'day'): bigint => {
    const byAll = spent.reduce((sum, row) => sum + BigInt(row[period] ?? 0), 0n);
    const byOwn = limits[period] - BigInt(own?.[period] ?? 0);
    return min(byOwn, BigInt(signers.length) * limits[period] - byAll);
  };
  return { hour: left('hour'), day: left('day') };
}

/** Answers for the hot wallet that has the most left, unless one of them can send it now. */
function keepForPatient(left: Room[], patient: string | null): void {
  if (patient === null) return;
  const most = left.reduce(
    (best, room) => max(best, smallerOf(room)),
    smallerOf(left[0] ?? NOTHING),
  );
  if (most >= BigInt(patient)) return;
  const index = left.findIndex((room) => smallerOf(room) === most);
  left[index] = { ...NOTHING };
}

export function smallerOf({ hour, day }: Room): bigint {
  return hour < day ? hour : day;
}

/** The limit that has no room for it, or null. */
export function exceededLimit({ hour, day }: Room, units: bigint): 'hour' | 'day' | null {
  if (units > hour) return 'hour';
  if (units > day) return 'day';
  return null;
}

export function roomOf(rooms: Rooms | undefined, asset: string): Room {
  return rooms?.get(asset) ?? NOTHING;
}

export function takeFrom(rooms: Rooms, { asset, units }: Pick<Unpaid, 'asset' | 'units'>): void {
  const { hour, day } = roomOf(rooms, asset);
  rooms.set(asset, { hour: hour - units, day: day - units });
}

function readLimits({ network }: Chain, asset: string): Room {
  const limits = network.payouts?.limits[asset];
  const decimals = sendableDecimals(network, asset);
  if (limits === undefined || decimals === null) return NOTHING;
  return { hour: unitsOf(limits.hour, decimals) ?? 0n, day: unitsOf(limits.day, decimals) ?? 0n };
}

/** asset → the largest transfer that its limits allow at all */
function largestByLimits(chain: Chain): Record<string, string> {
  const assets = Object.keys(chain.network.payouts?.limits ?? {});
  return Object.fromEntries(
    assets.map((asset) => [asset, smallerOf(readLimits(chain, asset)).toString()]),
  );
}
