/**
 * `wallet status`: what an operator must know of each chain, from the database and the nodes. It
 * needs no key and changes nothing. It contains neither RPC URLs nor signed transactions.
 */
import type { Address, Hex } from 'viem';
import { isLess } from '../../domain/money';
import { listAlarms, type OpenAlarm } from './alarm-decisions';
import { ChainUnavailable } from './chain/rpc';
import { type Chain, createChain } from './chain/chain';
import { listNewestDecisions, type PauseDecision } from './chain/pause';
import { type Db, findLockHolder } from './db/database';
import { chainLock } from './driver';
import type { Network, PayoutRules } from './networks';
import { describeFound, describeOpenFound, type OpenFound } from './sender/unknown';
import { readView } from './sender/view';
import { describeOpenSweeps, type OpenSweep } from './sweep/store';
import { readShownSums, type ShownSums } from './sums';
import { amountOf, NATIVE_DECIMALS } from './units';

export interface NetworkStatus {
  network: string;
  mode: string;
  chain_id: number;
  /** Host and process that work on the chain; null: none does. */
  worker: string | null;
  /** The newest block of each node, in the order of rpc_urls; null: it does not answer. */
  node_heads: (number | null)[];
  follower: {
    head: number;
    head_at: string;
    /** Blocks that a node has and the follower has not read. */
    lag_blocks: number | null;
    safe: number;
    final: number;
    paused_reason: string | null;
  } | null;
  /** The kill switch: nothing is signed or broadcast. */
  payouts_paused_reason: string | null;
  /** The last pause or resume of the whole chain, and the last one of its payouts. */
  decisions: PauseDecision[];
  hot_wallets: HotWallet[];
  transfers: { queued: number; waiting: Record<string, number>; oldest_queued_at: string | null };
  deposits: { unconfirmed: number; oldest_unconfirmed_at: string | null; held: number };
  refunds: { needs_address: number; sending: number };
  /** Sweeps that are under way. */
  sweeps: OpenSweep[];
  /** Null when it was not asked for, no node tells, or the chain has not been read. */
  sums: ShownSums[] | null;
  alarms: OpenAlarm[];
}

interface HotWallet {
  address: string;
  /** When another key took its place, after which it has no minimum; null while it sends. */
  replaced_at: string | null;
  stopped_reason: string | null;
  /** An operator paused it, so no transfer gets a nonce of it. */
  paused_reason: string | null;
  next_nonce: string;
  in_flight: number;
  /** Nonces in flight that an operator frees. */
  freeing: string[];
  oldest_in_flight_at: string | null;
  /** What the chain or a pool has of it and the database has not; it is stopped until each is explained. */
  unknown_transactions: OpenFound[];
  /** Empty when no node answers. */
  floats: { asset: string; balance: string; minimum: string | null; is_low: boolean }[];
}

/** @param options.sums costs a question to the nodes for each address and asset with a new movement */
export function readStatus(
  db: Db,
  networks: readonly Network[],
  options: { sums?: boolean } = {},
): Promise<NetworkStatus[]> {
  const read = (network: Network): Promise<NetworkStatus> =>
    readNetworkStatus(db, createChain(network), options);
  return Promise.all(networks.map(read));
}

async function readNetworkStatus(
  db: Db,
  chain: Chain,
  { sums = false }: { sums?: boolean },
): Promise<NetworkStatus> {
  const { chainId, name, mode } = chain.network;
  const heads = await Promise.all(chain.rpc.each().map(readHeadNumber));
  const highest = heads.reduce<number | null>(
    (most, head) => (head !== null && (most === null || head > most) ? head : most),
    null,
  );
  const [paused] = await db.query<{ reason: string }>(
    'SELECT reason FROM wallet.pause WHERE chain_id = $1 ORDER BY stops',
    [chainId],
  );
  return {
    network: name,
    mode,
    chain_id: chainId,
    node_heads: heads,
    worker: (await findLockHolder(db, chainLock(chainId)))?.name ?? null,
    follower: await readFollower(db, chainId, highest),
    payouts_paused_reason: paused?.reason ?? null,
    decisions: await listNewestDecisions(db, chainId),
    hot_wallets: await readHotWallets(db, chain),
    ...(await readCounts(db, chainId)),
    sweeps: await describeOpenSweeps(db, chainId),
    sums: sums ? await readShownSums(db, chain) : null,
    alarms: (await listAlarms(db)).filter((one) => one.chain_id === chainId),
  };
}

const ISO = `'YYYY-MM-DD"T"HH24:MI:SS"Z"'`;

async function readHeadNumber(rpc: Chain['rpc']): Promise<number | null> {
  try {
    return Number(BigInt(await rpc.call<Hex>('eth_blockNumber')));
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}

async function readFollower(
  db: Db,
  chainId: number,
  highest: number | null,
): Promise<NetworkStatus['follower']> {
  const [row] = await db.query<
    Record<'head' | 'safe' | 'final', string> & { head_at: string; paused_reason: string | null }
  >(
    `SELECT head_number AS head, safe_number AS safe, final_number AS final, paused_reason,
       to_char(head_at AT TIME ZONE 'UTC', ${ISO}) AS head_at
     FROM wallet.followed_chain WHERE chain_id = $1`,
    [chainId],
  );
  if (row === undefined) return null;
  const head = Number(row.head);
  return {
    head,
    head_at: row.head_at,
    lag_blocks: highest === null ? null : Math.max(0, highest - head),
    safe: Number(row.safe),
    final: Number(row.final),
    paused_reason: row.paused_reason,
  };
}

export async function readHotWallets(db: Db, chain: Chain): Promise<HotWallet[]> {
  const rows = await db.query<
    Omit<HotWallet, 'floats' | 'unknown_transactions'> & { address: Address }
  >(
    `SELECT address, stopped_reason, paused_reason, next_nonce, in_flight, freeing,
       to_char(replaced_at AT TIME ZONE 'UTC', ${ISO}) AS replaced_at,
       to_char(oldest AT TIME ZONE 'UTC', ${ISO}) AS oldest_in_flight_at
     FROM wallet.signer, LATERAL (
       SELECT count(*)::int AS in_flight, min(created_at) AS oldest,
         coalesce(array_agg(nonce::text ORDER BY nonce) FILTER (WHERE freed_at IS NOT NULL AND transfer_id IS NOT NULL), '{}')
           AS freeing
       FROM wallet.slot
       WHERE slot.chain_id = signer.chain_id AND slot.signer = signer.address AND state = 'open'
     ) AS open_slots
     WHERE chain_id = $1 ORDER BY address`,
    [chain.network.chainId],
  );
  return Promise.all(
    rows.map(async (row) => {
      const minimums = row.replaced_at === null ? (chain.network.payouts?.floatMinimum ?? {}) : {};
      const key = { chainId: chain.network.chainId, signer: row.address };
      return {
        ...row,
        unknown_transactions: await describeFound(db, chain, key),
        floats: await readFloats(chain, row.address, minimums),
      };
    }),
  );
}

async function readFloats(
  chain: Chain,
  address: Address,
  minimums: PayoutRules['floatMinimum'],
): Promise<HotWallet['floats']> {
  const { native, tokens } = chain.network;
  const assets = [{ asset: native.asset, decimals: NATIVE_DECIMALS }, ...tokens];
  try {
    const { balances } = await readView(chain, address);
    return assets.map(({ asset, decimals }) => {
      const balance = amountOf(balances.get(asset) ?? 0n, decimals);
      const minimum = minimums[asset] ?? null;
      const isLow = minimum !== null && isLess(balance, minimum);
      return { asset, balance, minimum, is_low: isLow };
    });
  } catch (error) {
    if (error instanceof ChainUnavailable) return [];
    throw error;
  }
}

type Counts = Pick<NetworkStatus, 'transfers' | 'deposits' | 'refunds'>;

async function readCounts(db: Db, chainId: number): Promise<Counts> {
  const [counts] = await db.query<Counts>(
    `SELECT (
       SELECT jsonb_build_object('queued', count(*),
         'oldest_queued_at', to_char(min(created_at) AT TIME ZONE 'UTC', ${ISO}),
         'waiting', (SELECT coalesce(jsonb_object_agg(waiting_for, many), '{}') FROM (
           SELECT waiting_for, count(*) AS many FROM wallet.transfer
           WHERE chain_id = $1 AND waiting_for IS NOT NULL GROUP BY 1) AS reasons))
       FROM wallet.transfer WHERE chain_id = $1 AND status = 'queued') AS transfers, (
       SELECT jsonb_build_object('unconfirmed', count(*) FILTER (WHERE state = 'detected'),
         'oldest_unconfirmed_at', to_char(min(seen_at) FILTER (WHERE state = 'detected') AT TIME ZONE 'UTC', ${ISO}),
         'held', count(*) FILTER (WHERE screening = 'held'))
       FROM wallet.deposit
       WHERE chain_id = $1 AND (state = 'detected' OR screening = 'held')) AS deposits, (
       SELECT jsonb_build_object('needs_address', count(*) FILTER (WHERE refund.state = 'needs_address'),
         'sending', count(*) FILTER (WHERE refund.state = 'sending'))
       FROM wallet.refund JOIN wallet.checkout ON checkout.id = refund.checkout_id
       WHERE checkout.chain_id = $1 AND refund.state <> 'sent') AS refunds`,
    [chainId],
  );
  if (counts === undefined) throw new Error('PostgreSQL gave no counts');
  return counts;
}

/** People read it; `--json` prints the documents themselves. */
export function describeStatus(networks: readonly NetworkStatus[]): string {
  return networks.map(describeNetwork).join('\n');
}

function describeNetwork(status: NetworkStatus): string {
  const { follower, transfers, deposits, refunds } = status;
  const nodes = status.node_heads.map((head, at) => `node ${at + 1}: ${head ?? 'no answer'}`);
  const worker = status.worker ?? 'NONE: is a wallet running? Is the chain paused?';
  const lines: [string, string][] = [
    ['worker', worker],
    ['nodes', nodes.join(', ')],
    ['follower', follower === null ? 'has not begun' : describeFollower(follower)],
    [
      'payouts',
      status.payouts_paused_reason === null ? 'on' : `PAUSED: ${status.payouts_paused_reason}`,
    ],
    ...status.decisions.map(describeDecision),
    ...status.hot_wallets.flatMap(describeHotWallet),
    [
      'queued',
      `${transfers.queued}${since(transfers.oldest_queued_at)}${listWaiting(transfers.waiting)}`,
    ],
    [
      'deposits',
      `${deposits.unconfirmed} unconfirmed${since(deposits.oldest_unconfirmed_at)}, ${deposits.held} held`,
    ],
    ['refunds', `${refunds.needs_address} need an address, ${refunds.sending} being sent`],
    ...status.sweeps.flatMap(describeSweep),
    ...(status.sums ?? []).map(describeSums),
    ...status.alarms.map(({ kind, subject, detail, raised_at: at }): [string, string] => [
      'ALARM',
      `${kind} (${subject}) since ${at}: ${detail}`,
    ]),
  ];
  const rows = lines.map(([name, text]) => `  ${name.padEnd(10)} ${text.trimEnd()}`);
  return `${status.network} (${status.mode} mode, chain ${status.chain_id})\n${rows.join('\n')}\n`;
}

function describeDecision({ stops, kind, by, reason, at }: PauseDecision): [string, string] {
  const what = stops === 'chain' ? 'the chain was' : 'payouts were';
  const why = reason === null ? '' : `: ${reason}`;
  return ['', `${what} ${kind}d by ${by} at ${at}${why}`];
}

function describeFollower(follower: NonNullable<NetworkStatus['follower']>): string {
  const { head, head_at: at, lag_blocks: lag, safe, final, paused_reason: paused } = follower;
  const behind = lag === null ? 'lag unknown' : `${lag} blocks behind`;
  const place = `block ${head} of ${at}, ${behind}, safe ${safe}, final ${final}`;
  return paused === null ? place : `PAUSED: ${paused} (${place})`;
}

function describeSweep(sweep: OpenSweep): [string, string][] {
  const { id, asset, destination, addresses, open, refused } = sweep;
  return [
    ['sweep', `${id}: ${asset} to ${destination}, ${open} of ${addresses} addresses open`],
    ...refused.map(({ address, refusal }): [string, string] => ['', `${address}: ${refusal}`]),
  ];
}

function describeSums(sums: ShownSums): [string, string] {
  const { asset, received, swept, fees, on_addresses: has, difference } = sums;
  const agrees = difference === '0' ? 'agrees' : `DIFFERS by ${difference}`;
  const booked = `${received} received − ${swept} swept − ${fees} fees`;
  const hot = `hot wallets have ${sums.float}, owe ${sums.owed}`;
  return [
    'sums',
    `${asset}: addresses have ${has} = ${booked}, ${agrees} (block ${sums.block}); ${hot}`,
  ];
}

function describeHotWallet(wallet: HotWallet): [string, string][] {
  const stopped =
    wallet.stopped_reason === null ? '' : `STOPPED: ${wallet.stopped_reason.replace(/\.$/, '')}, `;
  const paused =
    wallet.paused_reason === null ? '' : `PAUSED: ${wallet.paused_reason.replace(/\.$/, '')}, `;
  const replaced = wallet.replaced_at === null ? '' : `replaced at ${wallet.replaced_at}, `;
  const freeing = wallet.freeing.length === 0 ? '' : `, freeing nonce ${wallet.freeing.join(', ')}`;
  const inFlight = `${wallet.in_flight} in flight${since(wallet.oldest_in_flight_at)}${freeing}`;
  return [
    [
      'hot wallet',
      `${wallet.address} ${replaced}${stopped}${paused}next nonce ${wallet.next_nonce}, ${inFlight}`,
    ],
    ...wallet.unknown_transactions.map((one): [string, string] => ['', describeOpenFound(one)]),
    ...wallet.floats.map(({ asset, balance, minimum, is_low: isLow }): [string, string] => [
      '',
      `${balance} ${asset}${minimum === null ? '' : ` (minimum ${minimum}${isLow ? ', LOW' : ''})`}`,
    ]),
  ];
}

function since(time: string | null): string {
  return time === null ? '' : ` (oldest of ${time})`;
}

function listWaiting(waiting: Readonly<Record<string, number>>): string {
  const reasons = Object.entries(waiting).map(([reason, many]) => `${many} for ${reason}`);
  return reasons.length === 0 ? '' : `, waiting: ${reasons.join(', ')}`;
}
