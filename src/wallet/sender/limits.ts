/**
 * What the limits of the hour and of the day leave for each asset. A transfer that has waited long for
 * its limit is not overtaken any more: what becomes free is kept for it until it is sent.
 */
import type { Chain } from '../chain/chain';
import type { Db } from '../db/database';
import { unitsOf } from '../units';
import type { Unpaid } from './transaction';
import { sendableDecimals } from './transfers';
import { LONG_WAIT } from './waiting';

/** In the asset's units. */
export interface Room {
  hour: bigint;
  day: bigint;
}

const NOTHING: Room = { hour: 0n, day: 0n };

/** Of each asset in which transfers are queued. An asset without limits is not sent. */
export async function findRooms(db: Db, chain: Chain, chainId: number): Promise<Map<string, Room>> {
  // Failed transactions moved nothing; foreign slots are not ours.
  const rows = await db.query<{ asset: string; hour: string; day: string; patient: string | null }>(
    `SELECT queued.asset, hour, day, patient
     FROM (SELECT DISTINCT asset FROM wallet.transfer WHERE chain_id = $1 AND status = 'queued')
       AS queued,
     LATERAL (
       SELECT coalesce(sum(units) FILTER (WHERE created_at > clock_timestamp() - interval '1 hour'), 0)
           AS hour, coalesce(sum(units), 0) AS day
       FROM wallet.slot
       WHERE chain_id = $1 AND slot.asset = queued.asset
         AND created_at > clock_timestamp() - interval '1 day' AND state IN ('open', 'sent')
     ) AS spent
     LEFT JOIN LATERAL (
       SELECT units AS patient FROM wallet.transfer
       WHERE chain_id = $1 AND status = 'queued' AND asset = queued.asset
         AND waiting_for = 'limit' AND waiting_since < clock_timestamp() - interval '${LONG_WAIT}'
         AND units <= coalesce(($2::jsonb ->> asset)::numeric, 0)
       ORDER BY due_at, id LIMIT 1
     ) AS oldest ON true`,
    [chainId, JSON.stringify(limitsOf(chain))],
  );
  return new Map(
    rows.map(({ asset, hour, day, patient }) => {
      const limits = readLimits(chain, asset);
      const left = { hour: limits.hour - BigInt(hour), day: limits.day - BigInt(day) };
      const isKept =
        patient !== null && (BigInt(patient) > left.hour || BigInt(patient) > left.day);
      return [asset, isKept ? { ...NOTHING } : left];
    }),
  );
}

export function roomOf(rooms: ReadonlyMap<string, Room>, asset: string): Room {
  return rooms.get(asset) ?? NOTHING;
}

export function takeFrom(rooms: Map<string, Room>, { asset, units }: Unpaid): void {
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
function limitsOf(chain: Chain): Record<string, string> {
  const assets = Object.keys(chain.network.payouts?.limits ?? {});
  return Object.fromEntries(
    assets.map((asset) => {
      const { hour, day } = readLimits(chain, asset);
      return [asset, (hour < day ? hour : day).toString()];
    }),
  );
}
