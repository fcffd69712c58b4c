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

interface Metric {
  help: string;
  labels?: readonly string[];
  /** Values that are null are left out. */
  read: (status: NetworkStatus, network: Network) => readonly Sample[];
}

const ofWallets = (
  status: NetworkStatus,
  read: (wallet: NetworkStatus['hot_wallets'][number]) => number | null,
): Sample[] => status.hot_wallets.map((wallet) => [read(wallet), { address: wallet.address }]);

const METRICS: Readonly<Record<string, Metric>> = {
  wallet_node_head_block: {
    help: 'Newest block of a node; absent while it does not answer.',
    labels: ['node'],
    read: ({ node_heads: heads }, { rpcUrls }) =>
      rpcUrls.map((url, index) => [heads[index] ?? null, { node: new URL(url).host }]),
  },
  wallet_node_up: {
    help: '1 while a node answers, otherwise 0.',
    labels: ['node'],
    read: ({ node_heads: heads }, { rpcUrls }) =>
      rpcUrls.map((url, index) => [heads[index] == null ? 0 : 1, { node: new URL(url).host }]),
  },
  wallet_follower_head_block: {
    help: 'Newest block that the follower has read.',
    read: ({ follower }) => [[follower?.head ?? null]],
  },
  wallet_follower_head_timestamp_seconds: {
    help: 'Unix time of that block.',
    read: ({ follower }) => [[secondsOf(follower?.head_at)]],
  },
  wallet_follower_lag_blocks: {
    help: 'Blocks that a node has and the follower has not read.',
    read: ({ follower }) => [[follower?.lag_blocks ?? null]],
  },
  wallet_follower_paused: {
    help: '1 while the follower is paused, otherwise 0.',
    read: ({ follower }) => [[follower === null ? null : isSet(follower.paused_reason)]],
  },
  wallet_payouts_paused: {
    help: '1 while an operator has paused the network’s payouts, otherwise 0.',
    read: ({ payouts_paused_reason: reason }) => [[isSet(reason)]],
  },
  wallet_signer_stopped: {
    help: '1 while a hot wallet is stopped, otherwise 0.',
    labels: ['address'],
    read: (status) => ofWallets(status, ({ stopped_reason: reason }) => isSet(reason)),
  },
  wallet_signer_paused: {
    help: '1 while an operator has paused a hot wallet, otherwise 0.',
    labels: ['address'],
    read: (status) => ofWallets(status, ({ paused_reason: reason }) => isSet(reason)),
  },
  wallet_float: {
    help: 'What a hot wallet has of an asset.',
    labels: ['address', 'asset'],
    read: ({ hot_wallets: wallets }) =>
      wallets.flatMap(({ address, floats }) =>
        floats.map(({ asset, balance }): Sample => [figureOf(balance), { address, asset }]),
      ),
  },
  wallet_float_minimum: {
    help: 'float_minimum of the configuration.',
    labels: ['address', 'asset'],
    read: ({ hot_wallets: wallets }) =>
      wallets.flatMap(({ address, floats }) =>
        floats.map(({ asset, minimum }): Sample => [
          minimum === null ? null : figureOf(minimum),
          { address, asset },
        ]),
      ),
  },
  wallet_transactions_in_flight: {
    help: 'Transactions of a hot wallet that are not final.',
    labels: ['address'],
    read: (status) => ofWallets(status, ({ in_flight: count }) => count),
  },
  wallet_transactions_oldest_in_flight_timestamp_seconds: {
    help: 'Unix time at which the oldest of them got its nonce.',
    labels: ['address'],
    read: (status) => ofWallets(status, ({ oldest_in_flight_at: at }) => secondsOf(at)),
  },
  wallet_transfers_queued: {
    help: 'Transfers that have no nonce yet.',
    read: ({ transfers }) => [[transfers.queued]],
  },
  wallet_transfers_oldest_queued_timestamp_seconds: {
    help: 'Unix time at which the oldest queued transfer was ordered.',
    read: ({ transfers }) => [[secondsOf(transfers.oldest_queued_at)]],
  },
  wallet_transfers_waiting: {
    help: 'Queued transfers that something holds back, by the reason.',
    labels: ['reason'],
    read: ({ transfers }) =>
      Object.entries(transfers.waiting).map(([reason, count]) => [count, { reason }]),
  },
  wallet_deposits_unconfirmed: {
    help: 'Deposits in blocks that are not final.',
    read: ({ deposits }) => [[deposits.unconfirmed]],
  },
  wallet_deposits_oldest_unconfirmed_timestamp_seconds: {
    help: 'Unix time of the block of the oldest of them.',
    read: ({ deposits }) => [[secondsOf(deposits.oldest_unconfirmed_at)]],
  },
  wallet_deposits_held: {
    help: 'Deposits that the screening holds.',
    read: ({ deposits }) => [[deposits.held]],
  },
  wallet_refunds_open: {
    help: 'Refunds that need an address, or are being sent.',
    labels: ['state'],
    read: ({ refunds }) => [
      [refunds.needs_address, { state: 'needs_address' }],
      [refunds.sending, { state: 'sending' }],
    ],
  },
  wallet_alarms_open: {
    help: 'Open alarms, by kind.',
    labels: ['kind'],
    read: ({ alarms }) =>
      [...new Set(alarms.map(({ kind }) => kind))].map((kind) => [
        alarms.filter((alarm) => alarm.kind === kind).length,
        { kind },
      ]),
  },
};

export function measureNetworks(registry: Registry, db: Db, networks: readonly Network[]): void {
  const read = readAtMostEvery(STATUS_EVERY_MS, async () => ({
    statuses: await readStatus(db, networks),
    readAt: wallClockMs(),
  }));
  for (const [name, { help, labels = [], read: readSamples }] of Object.entries(METRICS)) {
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

function isSet(reason: string | null): number {
  return reason === null ? 0 : 1;
}

function secondsOf(time: string | null | undefined): number | null {
  return time == null ? null : Date.parse(time) / 1000;
}

/** It is for a graph, and no money is computed from it. */
function figureOf(amount: string): number {
  return Number(amount);
}
