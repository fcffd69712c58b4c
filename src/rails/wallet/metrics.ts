/**
 * The wallet's metrics: of each network what `wallet status` shows, and what became of the requests to
 * its nodes. Nodes are named by their host, because a URL may contain a key.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { readAtMostEvery, setAll } from '../../platform/lib/metrics';
import { wallClockMs } from '../../platform/lib/wall-clock';
import type { RpcRequest } from './chain/rpc';
import type { Db } from './db/database';
import type { Network } from './networks';
import { type NetworkStatus, readStatus } from './status';

/** The status asks the database and each node. */
const STATUS_EVERY_MS = 15_000;

export type NodeObserver = (network: Network) => (request: RpcRequest) => void;

export function measureNodes(registry: Registry): NodeObserver {
  const registers = [registry];
  const requests = new Histogram({
    name: 'wallet_rpc_request_duration_seconds',
    help: 'Time of a request to a node, which may be a batch of calls.',
    labelNames: ['network', 'mode', 'node', 'outcome'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const broadcasts = new Counter({
    name: 'wallet_broadcasts_total',
    help: 'Signed transactions sent to a node, repeated ones included.',
    labelNames: ['network', 'mode', 'outcome'],
    registers,
  });
  return ({ name: network, mode }) =>
    ({ node, method, calls, refusals, isAnswered, seconds }) => {
      const outcome = isAnswered ? (refusals === 0 ? 'ok' : 'refused') : 'no_answer';
      requests.observe({ network, mode, node, outcome }, seconds);
      if (method !== 'eth_sendRawTransaction') return;
      if (!isAnswered) broadcasts.inc({ network, mode, outcome }, calls);
      else {
        broadcasts.inc({ network, mode, outcome: 'accepted' }, calls - refusals);
        broadcasts.inc({ network, mode, outcome: 'refused' }, refusals);
      }
    };
}

type Sample = [value: number | null, labels?: Record<string, string>];
type HotWallet = NetworkStatus['hot_wallets'][number];
type Follower = NonNullable<NetworkStatus['follower']>;

interface Metric {
  help: string;
  labels: readonly string[];
  /** Values that are null are left out. */
  read: (status: NetworkStatus, network: Network) => readonly Sample[];
}

function ofNetwork(help: string, read: (status: NetworkStatus) => number | null): Metric {
  return { help, labels: [], read: (status) => [[read(status)]] };
}

function ofFollower(help: string, read: (follower: Follower) => number | null): Metric {
  return ofNetwork(help, ({ follower }) => (follower === null ? null : read(follower)));
}

function byNode(help: string, read: (head: number | null) => number | null): Metric {
  return {
    ...{ help, labels: ['node'] },
    read: ({ node_heads: heads }, { rpcUrls }) =>
      rpcUrls.map((url, index) => [read(heads[index] ?? null), { node: new URL(url).host }]),
  };
}

function byWallet(help: string, read: (wallet: HotWallet) => number | null): Metric {
  return {
    ...{ help, labels: ['address'] },
    read: ({ hot_wallets: wallets }) =>
      wallets.map((wallet) => [read(wallet), { address: wallet.address }]),
  };
}

/** It is for a graph, and no money is computed from it. */
function byFloat(help: string, name: 'balance' | 'minimum'): Metric {
  return {
    ...{ help, labels: ['address', 'asset'] },
    read: ({ hot_wallets: wallets }) =>
      wallets.flatMap(({ address, floats }) =>
        floats.map(({ asset, [name]: amount }): Sample => [
          amount === null ? null : Number(amount),
          { address, asset },
        ]),
      ),
  };
}

function by(
  label: string,
  help: string,
  read: (status: NetworkStatus) => Record<string, number>,
): Metric {
  return {
    ...{ help, labels: [label] },
    read: (status) =>
      Object.entries(read(status)).map(([name, value]) => [value, { [label]: name }]),
  };
}

const METRICS: Readonly<Record<string, Metric>> = {
  wallet_node_head_block: byNode(
    'Newest block of a node; absent while it does not answer.',
    (head) => head,
  ),
  wallet_node_up: byNode('1 while a node answers, otherwise 0.', isSet),
  wallet_follower_head_block: ofFollower(
    'Newest block that the follower has read.',
    ({ head }) => head,
  ),
  wallet_follower_head_timestamp_seconds: ofFollower(
    'Unix time of that block.',
    ({ head_at: at }) => secondsOf(at),
  ),
  wallet_follower_lag_blocks: ofFollower(
    'Blocks that a node has and the follower has not read.',
    ({ lag_blocks: lag }) => lag,
  ),
  wallet_follower_paused: ofFollower(
    '1 while the follower is paused, otherwise 0.',
    ({ paused_reason: reason }) => isSet(reason),
  ),
  wallet_payouts_paused: ofNetwork(
    '1 while an operator has paused the network’s payouts, otherwise 0.',
    ({ payouts_paused_reason: reason }) => isSet(reason),
  ),
  wallet_signer_stopped: byWallet(
    '1 while a hot wallet is stopped, otherwise 0.',
    ({ stopped_reason: reason }) => isSet(reason),
  ),
  wallet_signer_paused: byWallet(
    '1 while an operator has paused a hot wallet, otherwise 0.',
    ({ paused_reason: reason }) => isSet(reason),
  ),
  wallet_float: byFloat('What a hot wallet has of an asset.', 'balance'),
  wallet_float_minimum: byFloat('float_minimum of the configuration.', 'minimum'),
  wallet_transactions_in_flight: byWallet(
    'Transactions of a hot wallet that are not final.',
    ({ in_flight: count }) => count,
  ),
  wallet_transactions_oldest_in_flight_timestamp_seconds: byWallet(
    'Unix time at which the oldest of them got its nonce.',
    ({ oldest_in_flight_at: at }) => secondsOf(at),
  ),
  wallet_transfers_queued: ofNetwork(
    'Transfers that have no nonce yet.',
    ({ transfers }) => transfers.queued,
  ),
  wallet_transfers_oldest_queued_timestamp_seconds: ofNetwork(
    'Unix time at which the oldest queued transfer was ordered.',
    ({ transfers }) => secondsOf(transfers.oldest_queued_at),
  ),
  wallet_transfers_waiting: by(
    'reason',
    'Queued transfers that something holds back, by the reason.',
    ({ transfers }) => transfers.waiting,
  ),
  wallet_deposits_unconfirmed: ofNetwork(
    'Deposits in blocks that are not final.',
    ({ deposits }) => deposits.unconfirmed,
  ),
  wallet_deposits_oldest_unconfirmed_timestamp_seconds: ofNetwork(
    'Unix time of the block of the oldest of them.',
    ({ deposits }) => secondsOf(deposits.oldest_unconfirmed_at),
  ),
  wallet_deposits_held: ofNetwork(
    'Deposits that the screening holds.',
    ({ deposits }) => deposits.held,
  ),
  wallet_refunds_open: by(
    'state',
    'Refunds that need an address, or are being sent.',
    (status) => ({
      ...status.refunds,
    }),
  ),
  wallet_alarms_open: by('kind', 'Open alarms, by kind.', ({ alarms }) =>
    countBy(alarms.map(({ kind }) => kind)),
  ),
};

export function measureNetworks(registry: Registry, db: Db, networks: readonly Network[]): void {
  const read = readAtMostEvery(STATUS_EVERY_MS, async () => ({
    statuses: await readStatus(db, networks),
    readAt: wallClockMs(),
  }));
  for (const [name, { help, labels, read: readSamples }] of Object.entries(METRICS)) {
    new Gauge({
      name,
      help,
      labelNames: ['network', 'mode', ...labels],
      registers: [registry],
      async collect() {
        const found = await read();
        const samples = networks.flatMap((network, index) => {
          const status = found?.statuses[index];
          if (status === undefined) return [];
          const where = { network: network.name, mode: network.mode };
          return readSamples(status, network).map(([value, of]) => ({
            of: { ...where, ...of },
            value,
          }));
        });
        setAll(
          this,
          samples.flatMap(({ of, value }) => (value === null ? [] : [[of, value]])),
        );
      },
    });
  }
  new Gauge({
    name: 'wallet_status_timestamp_seconds',
    help: 'Unix time at which the status of the networks was read.',
    registers: [registry],
    async collect() {
      const found = await read();
      setAll(this, found === null ? [] : [[{}, found.readAt / 1000]]);
    },
  });
}

function isSet(value: unknown): number {
  return value === null ? 0 : 1;
}

function secondsOf(time: string | null): number | null {
  return time === null ? null : Date.parse(time) / 1000;
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
