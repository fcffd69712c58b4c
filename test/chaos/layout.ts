/**
 * The gateway as it is run on several machines, with a link between every two parts: two API
 * processes, three workers (two for everything but webhooks, one for those), PostgreSQL, Temporal,
 * the providers and a merchant's receiver.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildProgram } from '../support/child-program';
import { startGateway, type OwnGateway } from '../support/gateway';
import { runAdmin } from '../support/gateway-admin';
import { createMerchant, fund, type Merchant } from '../support/merchant';
import { type MortalServers, startMortalServers } from '../support/mortal-servers';
import { findFreePort } from '../../src/dev/ports';
import { type Receiver, startReceiver } from '../support/webhook-receiver';
import { type Link, startLink } from '../support/link';
import { LINKS, type LinkName, type ProgramName } from './plan';

export interface Layout {
  /** Its own programs do not run. */
  gateway: OwnGateway;
  servers: MortalServers;
  programs: Record<ProgramName, ChildProgram>;
  links: Record<LinkName, Link>;
  /** Of each API process, by way of its link; they end in /api/v1. */
  baseUrls: readonly string[];
  merchants: readonly ChaosMerchant[];
  /** @param seconds by which the program's clock is wrong: `+600` */
  setClock(name: ProgramName, seconds: string): void;
  stop(): Promise<void>;
}

export interface ChaosMerchant extends Merchant {
  /** Its payouts wait for an operator. */
  isReviewed: boolean;
  endpointId: string;
  secret: string;
  /** The same for all merchants. */
  receiver: Receiver;
}

export const MODE = 'test';
export const FUNDS = '1000000.00000000';

export async function startLayout(): Promise<Layout> {
  const servers = await startMortalServers({ onSmallDisk: true });
  const clocks = mkdtempSync(join(tmpdir(), 'payments-gateway-clocks-'));
  const setClock = (name: ProgramName, seconds: string): void => {
    writeFileSync(join(clocks, name), seconds);
  };
  const gateway = await startGateway({ providerTimeoutMs: 2_000 });
  await Promise.all([gateway.api.stop(), gateway.worker.stop()]);
  const links = Object.fromEntries(
    await Promise.all(LINKS.map(async (name) => [name, await startLink()] as const)),
  ) as Record<LinkName, Link>;
  const { api, worker, ports } = await environments(gateway, links);
  const create = (name: ProgramName, env: NodeJS.ProcessEnv): ChildProgram => {
    setClock(name, '+0');
    const program = name.startsWith('api') ? 'api' : 'worker';
    return new ChildProgram(program, { ...env, ...clockOf(join(clocks, name)) });
  };
  const money = { ...worker, WORKER_QUEUES: 'payouts,payments,providers' };
  const programs: Record<ProgramName, ChildProgram> = {
    'api-1': create('api-1', { ...api, PORT: String(ports[0]) }),
    'api-2': create('api-2', { ...api, PORT: String(ports[1]) }),
    'worker-1': create('worker-1', money),
    'worker-2': create('worker-2', money),
    'worker-webhooks': create('worker-webhooks', {
      ...worker,
      WORKER_QUEUES: 'webhooks,webhooks-retry',
    }),
  };
  await Promise.all(Object.values(programs).map((program) => program.start()));
  const receiver = await startReceiver();
  links['worker-receiver'].leadTo(Number(new URL(receiver.url).port));
  const merchants = [
    await openMerchant(gateway, links, receiver, false),
    await openMerchant(gateway, links, receiver, true),
  ];
  return {
    gateway,
    servers,
    programs,
    links,
    merchants,
    setClock,
    baseUrls: (['client-api-1', 'client-api-2'] as const).map(
      (name) => `http://127.0.0.1:${links[name].port}/api/v1`,
    ),
    stop: async () => {
      await Promise.all(Object.values(programs).map((program) => program.stop()));
      await Promise.all(Object.values(links).map((link) => link.stop()));
      await receiver.stop();
      await gateway.stop();
      await servers.stop();
      rmSync(clocks, { recursive: true });
    },
  };
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
export function missingFaults({ servers }: Pick<Layout, 'servers'>): string[] {
  return [
    ...(servers.disk === null ? ['disk_full does nothing: this user may not mount'] : []),
    ...(existsSync(FAKETIME) ? [] : ['clock does nothing: faketime is not installed']),
  ];
}

/** The gateway's own settings, with every address replaced by that of a link. */
async function environments({ env, sandbox }: OwnGateway, links: Record<LinkName, Link>) {
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
  const providers = Object.entries(env).flatMap(([name, value]) =>
    /^(ONCHAIN|EXCHANGE_PAY)_(TEST|LIVE)_URL$/.test(name)
      ? [[name, through('worker-provider', value ?? '')]]
      : [],
  );
  const worker = {
    ...env,
    TEST_WORKER_DATABASE_URL: through('worker-postgres', env['TEST_WORKER_DATABASE_URL'] ?? ''),
    TEMPORAL_ADDRESS: temporal('worker-temporal'),
    ...(Object.fromEntries(providers) as Record<string, string>),
  };
  return { api, worker, ports };
}

async function openMerchant(
  gateway: OwnGateway,
  links: Record<LinkName, Link>,
  receiver: Receiver,
  isReviewed: boolean,
): Promise<ChaosMerchant> {
  const merchant = await createMerchant(gateway.db, gateway.pepper, { rehearseReview: isReviewed });
  await fund(gateway.db, merchant.accountId, MODE, 'USDT', FUNDS);
  const url = new URL(receiver.url);
  url.port = String(links['worker-receiver'].port);
  const endpoint = ['--account', merchant.accountId, '--mode', MODE, '--url', url.href];
  const { id, secret } = (await runAdmin(gateway, 'webhooks', 'create', ...endpoint)) as {
    id: string;
    secret: string;
  };
  return { ...merchant, isReviewed, endpointId: id, secret, receiver };
}
