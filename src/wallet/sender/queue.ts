/**
 * Gives queued transfers their slots: what the float covers, what the limits allow, what the node
 * estimates to succeed. A transfer that must wait stays queued with its reason; one that its recipient
 * or token refuses fails without using a nonce.
 */
import { type Address, getAddress, type Hex } from 'viem';
import type { Alarms } from '../alarms';
import { type Chain, toHex } from '../chain/chain';
import { isPaused } from '../chain/pause';
import type { RpcRefusal } from '../chain/rpc';
import type { Database, Db, Tx } from '../db/database';
import type { PayoutRules } from '../networks';
import { amountOf, NATIVE_DECIMALS, unitsOf } from '../units';
import { findDenied } from './denylist';
import { type Fees, firstFees } from './fees';
import { markGas } from './fingerprint';
import { advanceNonce, insertSlots, lockSigner, type Payment, type SignerKey } from './slots';
import { finishTransfer, sendableDecimals } from './transfers';
import { type ChainView, wordOf } from './view';

export interface QueueParts {
  db: Database;
  chain: Chain;
  rules: PayoutRules;
  key: SignerKey;
  alarms: Alarms;
}

/** Of one transaction; a request to the node holds fewer. */
const BATCH = 100;

/** Why transfers of an asset wait after this round: kind → asset → what to do. */
type Waiting = Record<(typeof WAITING_ALARMS)[number], Map<string, string>>;
const WAITING_ALARMS = ['limit_reached', 'float_low', 'gas_money_low', 'estimate_refused'] as const;

interface Round extends QueueParts {
  waiting: Waiting;
}

/** @returns how many slots were made */
export async function fillSlots(parts: QueueParts, view: ChainView): Promise<number> {
  const { db, rules, key } = parts;
  const [inFlight] = await db.query<{ count: string }>(
    `SELECT count(*) AS count FROM wallet.slot
     WHERE chain_id = $1 AND signer = $2 AND state = 'open' AND nonce >= $3`,
    [key.chainId, key.signer, view.usedNonces.toString()],
  );
  const room = Math.min(BATCH, rules.inFlightMax - Number(inFlight?.count ?? 0));
  if (room <= 0) return 0;
  const round: Round = {
    ...parts,
    waiting: {
      limit_reached: new Map(),
      float_low: new Map(),
      gas_money_low: new Map(),
      estimate_refused: new Map(),
    },
  };
  const queued = await findQueued(db, key.chainId, room);
  const made = queued.length === 0 ? 0 : await giveSlots(round, view, queued, room);
  await reportWaiting(round);
  return made;
}

async function giveSlots(
  round: Round,
  view: ChainView,
  queued: readonly Queued[],
  room: number,
): Promise<number> {
  const fees = firstFees(view, round.rules.maxFeePerGasWei);
  const allowed = await withoutDenied(round, queued);
  const limited = await withinLimits(round, round.db, allowed);
  const covered = await withinFloat(round, view, fees, limited);
  const payments = await estimate(round, covered.slice(0, room));
  return payments.length === 0 ? 0 : storeSlots(round, payments, fees);
}

async function reportWaiting({ chain, alarms, waiting }: Round): Promise<void> {
  const { native, tokens } = chain.network;
  for (const kind of WAITING_ALARMS) {
    for (const asset of [native.asset, ...tokens.map((token) => token.asset)]) {
      const detail = waiting[kind].get(asset);
      if (detail === undefined) await alarms.clear(kind, asset);
      else await alarms.raise(kind, asset, detail);
    }
  }
}

interface Queued {
  transferId: string;
  reference: string;
  asset: string;
  units: bigint;
  recipient: Address;
}

/** The oldest of each asset, because an asset without float must not make the others wait. */
async function findQueued(db: Db, chainId: number, limit: number): Promise<Queued[]> {
  const rows = await db.query<
    Record<'id' | 'reference' | 'asset' | 'units' | 'destination', string>
  >(
    `WITH assets AS (
       SELECT DISTINCT asset FROM wallet.transfer WHERE chain_id = $1 AND status = 'queued')
     SELECT oldest.* FROM assets, LATERAL (
       SELECT id, client_reference AS reference, asset, units, destination, created_at
       FROM wallet.transfer
       WHERE chain_id = $1 AND status = 'queued' AND asset = assets.asset
       ORDER BY created_at, id LIMIT $2) AS oldest
     ORDER BY created_at, id`,
    [chainId, limit],
  );
  return rows.map(({ id, reference, asset, units, destination }) => ({
    transferId: id,
    reference,
    asset,
    units: BigInt(units),
    recipient: getAddress(destination),
  }));
}

/** An address that was put on the denylist after the order was accepted. */
async function withoutDenied({ db }: Round, queued: readonly Queued[]): Promise<Queued[]> {
  const denied = await findDenied(
    db,
    queued.map(({ recipient }) => recipient),
  );
  for (const { transferId, recipient } of queued) {
    if (denied.has(recipient)) await failUnsent(db, transferId);
  }
  return queued.filter(({ recipient }) => !denied.has(recipient));
}

async function failUnsent(db: Database, transferId: string): Promise<void> {
  await db.transaction((tx) =>
    finishTransfer(tx, {
      ...{ transferId, status: 'failed', failureCode: 'destination_unreachable', txHash: null },
    }),
  );
}

/** What the limits of the hour and of the day leave for each transfer, the oldest first. */
async function withinLimits(
  { chain, key, waiting }: Round,
  db: Db | Tx,
  queued: readonly Queued[],
): Promise<Queued[]> {
  const left = new Map<string, { hour: bigint; day: bigint }>();
  const allowed: Queued[] = [];
  for (const one of queued) {
    const room = left.get(one.asset) ?? (await readRoom(db, chain, key, one.asset));
    left.set(one.asset, room);
    if (one.units > room.hour || one.units > room.day) {
      const period = one.units > room.hour ? 'hour' : 'day';
      await keepWaiting(db, one.transferId, 'limit');
      waiting.limit_reached.set(
        one.asset,
        `Payouts wait for the ${period} limit. If this volume is expected, raise limits.${one.asset}.${period}.`,
      );
      continue;
    }
    room.hour -= one.units;
    room.day -= one.units;
    allowed.push(one);
  }
  return allowed;
}

/** Failed transactions moved nothing; foreign slots are not ours. */
async function readRoom(
  db: Db,
  { network }: Chain,
  { chainId }: SignerKey,
  asset: string,
): Promise<{ hour: bigint; day: bigint }> {
  const limits = network.payouts?.limits[asset];
  const decimals = sendableDecimals(network, asset);
  if (limits === undefined || decimals === null) return { hour: 0n, day: 0n };
  const [spent] = await db.query<{ hour: string; day: string }>(
    `SELECT coalesce(sum(units) FILTER (WHERE created_at > clock_timestamp() - interval '1 hour'), 0) AS hour,
       coalesce(sum(units), 0) AS day
     FROM wallet.slot
     WHERE chain_id = $1 AND asset = $2 AND created_at > clock_timestamp() - interval '1 day'
       AND state IN ('open', 'sent')`,
    [chainId, asset],
  );
  return {
    hour: (unitsOf(limits.hour, decimals) ?? 0n) - BigInt(spent?.hour ?? 0),
    day: (unitsOf(limits.day, decimals) ?? 0n) - BigInt(spent?.day ?? 0),
  };
}

/** More than any transfer of a known token takes; the estimate decides later. */
const GAS_RESERVE = 150_000n;

/** The balance in the latest block, less what transactions outside of blocks will take of it. */
async function withinFloat(
  { db, chain, key, waiting }: Round,
  view: ChainView,
  { maxFeePerGas }: Fees,
  queued: readonly Queued[],
): Promise<Queued[]> {
  const native = chain.network.native.asset;
  const reserved = await db.query<{ asset: string; units: string; gas: string }>(
    `SELECT asset, sum(units) AS units, sum(gas * max_fee_per_gas) AS gas FROM wallet.slot
     WHERE chain_id = $1 AND signer = $2 AND state = 'open' AND nonce >= $3 GROUP BY asset`,
    [key.chainId, key.signer, view.usedNonces.toString()],
  );
  const free = new Map(view.balances);
  const take = (asset: string, units: bigint): void => {
    free.set(asset, (free.get(asset) ?? 0n) - units);
  };
  for (const { asset, units, gas } of reserved) {
    take(asset, BigInt(units));
    take(native, BigInt(gas));
  }
  const covered: Queued[] = [];
  const gasCost = GAS_RESERVE * maxFeePerGas;
  for (const one of queued) {
    const coins = (free.get(native) ?? 0n) - gasCost;
    const balance = one.asset === native ? coins : (free.get(one.asset) ?? 0n);
    if (coins >= 0n && balance >= one.units) {
      take(one.asset, one.units);
      take(native, gasCost);
      covered.push(one);
      continue;
    }
    const short = coins < 0n ? native : one.asset;
    const decimals = sendableDecimals(chain.network, short) ?? NATIVE_DECIMALS;
    const held = amountOf(view.balances.get(short) ?? 0n, decimals);
    const detail = `The hot wallet has ${held} ${short}, which does not cover the queued payouts. Send ${short} to it.`;
    waiting[coins < 0n ? 'gas_money_low' : 'float_low'].set(short, detail);
    await keepWaiting(db, one.transferId, coins < 0n ? 'network fees' : 'float');
  }
  return covered;
}

const TRANSFER = '0xa9059cbb';
/** The recipient's contract may need more when the transaction is mined than it needs now. */
const GAS_MARGIN = { times: 5n, dividedBy: 4n } as const;
const REVERT_CODE = 3;

async function estimate(parts: Round, queued: readonly Queued[]): Promise<(Queued & Payment)[]> {
  const { chain, key } = parts;
  const calls = queued.map((one) => transactionOf(chain, one));
  const answers = await chain.rpc.batches<Hex>(
    calls.map(({ to, data, valueWei }) => ({
      method: 'eth_estimateGas',
      // Without a tag, some nodes execute their whole pool first.
      params: [{ from: key.signer, to, data, value: toHex(valueWei) }, 'latest'],
    })),
  );
  const payments: (Queued & Payment)[] = [];
  for (const [index, one] of queued.entries()) {
    const answer = answers[index];
    const call = calls[index];
    if (answer === undefined || call === undefined) continue;
    if ('refusal' in answer) {
      await handleRefusedEstimate(parts, one, answer.refusal);
      continue;
    }
    const estimated = BigInt(answer.result);
    if (estimated > parts.rules.gasMax) {
      await failUnsent(parts.db, one.transferId);
      continue;
    }
    const gas = markGas(withGasMargin(estimated), one.reference);
    payments.push({ ...one, data: call.data, valueWei: call.valueWei, gas });
  }
  return payments;
}

async function handleRefusedEstimate(
  { db, chain, waiting }: Round,
  one: Queued,
  { code, detail }: RpcRefusal,
): Promise<void> {
  const native = chain.network.native.asset;
  if (/insufficient (funds|balance)|lack of funds/i.test(detail)) {
    await keepWaiting(db, one.transferId, 'network fees');
    const detailOfFees = `The hot wallet has too little ${native} for network fees. Send ${native} to it.`;
    waiting.gas_money_low.set(native, detailOfFees);
  } else if (code === REVERT_CODE || /revert/i.test(detail)) {
    await failUnsent(db, one.transferId);
  } else {
    await keepWaiting(db, one.transferId, 'estimate');
    waiting.estimate_refused.set(one.asset, `The node cannot estimate a payout: ${detail}`);
  }
}

export function withGasMargin(estimated: bigint): bigint {
  return (estimated * GAS_MARGIN.times) / GAS_MARGIN.dividedBy;
}

/** The transaction that pays: the coin itself, or a call of the token. */
export function transactionOf(
  { network }: Chain,
  { asset, recipient, units }: Pick<Payment, 'asset' | 'recipient' | 'units'>,
): { to: Address; data: Hex; valueWei: bigint } {
  const token = network.tokens.find((one) => one.asset === asset);
  if (token === undefined) return { to: recipient, data: '0x', valueWei: units };
  const data: Hex = `${TRANSFER}${wordOf(recipient)}${wordOf(units)}`;
  return { to: token.address, data, valueWei: 0n };
}

async function storeSlots(
  parts: Round,
  payments: readonly (Queued & Payment)[],
  fees: Fees,
): Promise<number> {
  const { db, key } = parts;
  return db.transaction(async (tx) => {
    const signer = await lockSigner(tx, key);
    if (signer.stoppedReason !== null || (await isPaused(tx, key.chainId))) return 0;
    // Again, now that nobody else can give slots.
    const allowed = new Set(
      (await withinLimits(parts, tx, payments)).map(({ transferId }) => transferId),
    );
    const taken = await tx.query<{ id: string }>(
      `UPDATE wallet.transfer SET status = 'sending', waiting_for = NULL
       WHERE id = ANY($1::text[]) AND status = 'queued' RETURNING id`,
      [[...allowed]],
    );
    const ids = new Set(taken.map(({ id }) => id));
    const chosen = payments.filter(({ transferId }) => ids.has(transferId));
    if (chosen.length > 0) {
      await insertSlots(tx, key, signer.nextNonce, chosen, fees);
      await advanceNonce(tx, key, signer.nextNonce + BigInt(chosen.length));
    }
    return chosen.length;
  });
}

async function keepWaiting(db: Db, transferId: string, reason: string): Promise<void> {
  await db.query(
    `UPDATE wallet.transfer SET waiting_for = $2
     WHERE id = $1 AND status = 'queued' AND waiting_for IS DISTINCT FROM $2`,
    [transferId, reason],
  );
}
