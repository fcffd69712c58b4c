/**
 * The gateway as it is run on several machines, with a link between every two parts: two API
 * processes, three workers (two for everything but webhooks, one for those), PostgreSQL behind
 * PgBouncer, Temporal, the simulated providers or the wallet with a chain, and a merchant's receiver.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildProgram } from '../support/servers/child-program';
import { startGateway, type OwnGateway } from '../support/servers/gateway';
import { runAdmin } from '../support/servers/gateway-admin';
import type { Mode } from '../../src/domain/mode';
import { createMerchant, fund, type Merchant } from '../support/merchant/merchant';
import { type MortalServers, startMortalServers } from '../support/chaos/mortal-servers';
import { findPgBouncer, type PgBouncer, startPgBouncer } from '../support/servers/pgbouncer';
import { findFreePort } from '../../src/dev/ports';
import { type PreparedWallet, prepareWallet } from '../support/wallet/gateway-wallet';
import { type Receiver, startReceiver } from '../support/webhook/webhook-receiver';
import { type Link, startLink } from '../support/chaos/link';
import { startChainRail } from './chain-rail';
import { LINKS, type LinkName, type ProgramName, WALLET_LINKS } from './plan';
import { createSimulatedRail, MODE, type Rail } from './rail';
import { addKey, type NamedKey } from '../support/payout/payout-steps';

export interface Layout {
  /** Its own programs do not run. */
  gateway: OwnGateway;
  servers: MortalServers;
  program(name: ProgramName): ChildProgram;
  /** Those that a fault should not have ended. */
  endedByThemselves(): ProgramName[];
  /** PgBouncer, which no fault ends, is gone. */
  lacksBouncer(): boolean;
  /** The node of the chain; null without one. */
  node: Pick<PreparedWallet['chain'], 'suspend' | 'resume'> | null;
  rail: Rail;
  links: Record<LinkName, Link>;
  /** The address of each API process, through its link; each ends in /api/v1. */
  baseUrls: readonly string[];
  merchants: readonly ChaosMerchant[];
  /** @param seconds by which the program's clock is wrong: `+600` */
  setClock(name: ProgramName, seconds: string): void;
  stop(): Promise<void>;
}

export interface ChaosMerchant extends Merchant {
  mode: Mode;
  /** The key of that mode. */
  key: string;
  /** Another one, which releases payouts. */
  release: NamedKey;
  /** Null in live mode, in which endpoints need TLS. */
  endpoint: Endpoint | null;
}

interface Endpoint {
  id: string;
  secret: string;
  /** The same for all merchants. */
  receiver: Receiver;
}

const WALLET_POLL_MS = 500;
export const FUNDS = '1000000.00000000';

/** @param onChain with the wallet in place of the simulated provider */
export async function startLayout(onChain: boolean): Promise<Layout> {
  const logFolder = process.env['TEST_PROGRAM_OUTPUT'];
  const servers = await startMortalServers({ onSmallDisk: true, logFolder });
  const clocks = mkdtempSync(join(tmpdir(), 'payments-gateway-clocks-'));
  const setClock = (name: ProgramName, seconds: string): void => {
    writeFileSync(join(clocks, name), seconds);
  };
  const links = Object.fromEntries(
    await Promise.all(
      [...LINKS, ...WALLET_LINKS].map(async (name) => [name, await startLink()] as const),
    ),
  ) as Record<LinkName, Link>;
  const wallet = onChain
    ? await prepareWallet({
        rpcUrls: (node) => {
          links['wallet-node'].leadTo(Number(node.port));
          return [`http://127.0.0.1:${links['wallet-node'].port}`];
        },
        pollMs: WALLET_POLL_MS,
      })
    : null;
  const bouncer = await startBouncer();
  const gateway = await startGateway({
    ...{ providerTimeoutMs: 2_000, env: wallet?.providerEnv ?? {}, hasScreening: !onChain },
    ...(bouncer === null ? {} : { databasePort: bouncer.port }),
  });
  await Promise.all([gateway.api.stop(), gateway.worker.stop()]);
  const { api, worker, walletEnv, ports } = await environments(gateway, links, wallet);
  const programs = new Map<ProgramName, ChildProgram>();
  const add = (name: ProgramName, env: NodeJS.ProcessEnv): void => {
    setClock(name, '+0');
    const program = name.split('-')[0] ?? '';
    programs.set(name, new ChildProgram(program, { ...env, ...clockOf(join(clocks, name)) }));
  };
  const money = { ...worker, WORKER_QUEUES: 'payouts,batches,payments,providers' };
  add('api-1', { ...api, PORT: String(ports[0]) });
  add('api-2', { ...api, PORT: String(ports[1]) });
  add('worker-1', money);
  add('worker-2', money);
  add('worker-webhooks', { ...worker, WORKER_QUEUES: 'webhooks,webhooks-retry' });
  if (walletEnv !== null) add('wallet', walletEnv);
  await Promise.all([...programs.values()].map((program) => program.start()));
  const receiver = await startReceiver();
  links['worker-receiver'].leadTo(Number(new URL(receiver.url).port));
  const rail =
    wallet === null ? createSimulatedRail(gateway.sandbox.url) : await startChainRail(wallet);
  const open = (mode: Mode, settings: MerchantSettings): Promise<ChaosMerchant> =>
    openMerchant({ gateway, links, rail }, receiver, mode, settings);
  const merchants = [
    await open(MODE, { rehearseReview: false }),
    await open(MODE, { rehearseReview: true }),
    ...(rail.isScreened ? [await open('live', { reviewAll: false })] : []),
  ];
  return {
    ...{ gateway, servers, links, rail, merchants },
    program: (name) => {
      const program = programs.get(name);
      if (program === undefined) throw new Error(`there is no program ${name}`);
      return program;
    },
    endedByThemselves: () =>
      [...programs].flatMap(([name, program]) => (program.endedByItself ? [name] : [])),
    lacksBouncer: () => bouncer?.hasEnded() ?? false,
    node: wallet?.chain ?? null,
    setClock,
    baseUrls: (['client-api-1', 'client-api-2'] as const).map(
      (name) => `http://127.0.0.1:${links[name].port}/api/v1`,
    ),
    stop: async () => {
      await Promise.all([...programs.values()].map((program) => program.stop()));
      await rail.stop();
      await Promise.all(Object.values(links).map((link) => link.stop()));
      await receiver.stop();
      await gateway.stop();
      await wallet?.stop();
      await bouncer?.stop();
      await servers.stop();
      rmSync(clocks, { recursive: true });
    },
  };
}

const CONNECTIONS_PER_LOGIN = 20;

/** Null: it is not installed, and the programs connect to PostgreSQL directly. */
async function startBouncer(): Promise<PgBouncer | null> {
  const server = new URL(process.env['TEST_POSTGRES_URL'] ?? '');
  return findPgBouncer() === null ? null : startPgBouncer(server, CONNECTIONS_PER_LOGIN);
}

const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

/** A clock of the process's own, whose error stands in the file; none without Debian's faketime. */
function clockOf(file: string): Record<string, string> {
  if (!existsSync(FAKETIME)) return {};
  return {
    LD_PRELOAD: FAKETIME,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

/** What this machine cannot play, for the person who reads the plan. */
export function missingParts({ servers }: Pick<Layout, 'servers'>): string[] {
  return [
    ...(findPgBouncer() === null ? ['PgBouncer is not installed: the programs do without it'] : []),
    ...(servers.disk === null ? ['disk_full does nothing: this user may not mount'] : []),
    ...(existsSync(FAKETIME) ? [] : ['clock does nothing: faketime is not installed']),
  ];
}

/** The gateway's own settings, with every address replaced by that of a link. */
async function environments(
  gateway: OwnGateway,
  links: Record<LinkName, Link>,
  wallet: PreparedWallet | null,
) {
  const { env, sandbox } = gateway;
  const through = (name: LinkName, address: string): string => {
    const url = new URL(address);
    links[name].leadTo(Number(url.port));
    url.port = String(links[name].port);
    return url.href.replace(/\/$/, '');
  };
  const temporal = (name: LinkName): string =>
    new URL(through(name, `http://${env['TEMPORAL_ADDRESS'] ?? ''}`)).host;
  const ports = [await findFreePort(), await findFreePort()] as const;
  for (const [n, name] of (['client-api-1', 'client-api-2'] as const).entries()) {
    links[name].leadTo(ports[n] ?? 0);
  }
  links['provider-api'].leadTo(ports[0]);
  sandbox.setCallbackBaseUrl(`http://127.0.0.1:${links['provider-api'].port}`);
  const api = {
    ...env,
    DATABASE_URL: through('api-postgres', env['DATABASE_URL'] ?? ''),
    DASHBOARD_DATABASE_URL: through('api-postgres', env['DASHBOARD_DATABASE_URL'] ?? ''),
    TEMPORAL_ADDRESS: temporal('api-temporal'),
  };
  // The simulated providers and the screening service are one server.
  const used =
    wallet === null ? /^((ONCHAIN|EXCHANGE_PAY)_(TEST|LIVE)|SCREENING)_URL$/ : /^ONCHAIN_TEST_URL$/;
  const providers = Object.entries(env).flatMap(([name, value]) =>
    used.test(name) ? [[name, through('worker-provider', value ?? '')]] : [],
  );
  const worker = {
    ...env,
    TEST_WORKER_DATABASE_URL: through('worker-postgres', env['TEST_WORKER_DATABASE_URL'] ?? ''),
    TEMPORAL_ADDRESS: temporal('worker-temporal'),
    ...(Object.fromEntries(providers) as Record<string, string>),
  };
  const own = wallet?.env(gateway);
  const walletEnv =
    own === undefined
      ? null
      : {
          ...{ ...env, ...own },
          WALLET_DATABASE_URL: through('wallet-postgres', own['WALLET_DATABASE_URL'] ?? ''),
          WALLET_CALLBACK_BASE_URL: `http://127.0.0.1:${links['provider-api'].port}`,
          TEMPORAL_ADDRESS: temporal('wallet-temporal'),
        };
  return { api, worker, walletEnv, ports };
}

type MerchantSettings = Parameters<typeof createMerchant>[2];

async function openMerchant(
  { gateway, links, rail }: Pick<Layout, 'gateway' | 'links' | 'rail'>,
  receiver: Receiver,
  mode: Mode,
  settings: MerchantSettings,
): Promise<ChaosMerchant> {
  const merchant = await createMerchant(gateway.db, gateway.pepper, settings);
  const { accountId, liveKey, testKey } = merchant;
  await fund(gateway.db, accountId, mode, rail.currency, FUNDS);
  const release = await addKey(gateway, { accountId, mode });
  if (mode === 'live') return { ...merchant, mode, key: liveKey, release, endpoint: null };
  const url = new URL(receiver.url);
  url.port = String(links['worker-receiver'].port);
  const wanted = ['--account', accountId, '--mode', mode, '--url', url.href];
  const { id, secret } = (await runAdmin(gateway, 'webhooks', 'create', ...wanted)) as {
    id: string;
    secret: string;
  };
  return { ...merchant, mode, key: testKey, release, endpoint: { id, secret, receiver } };
}
