/**
 * Everything of the gateway on one machine, for development: starts PostgreSQL, Temporal, the
 * sandbox, the API and the worker, keeps them running and stops them in order.
 *
 * Called by src/bin/dev.ts (`npm start`).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataLayout } from '../platform/lib/data-folder';
import { SetupError } from '../platform/lib/setup-error';
import type { LocalChain } from './chain/local-chain';
import type { NetworkRouter } from './chain/network-router';
import { bundleCompiledWorkflows } from './compile';
import {
  gatewayEnvironment,
  loadSecrets,
  sandboxEnvironment,
  walletEnvironment,
} from './environment';
import { RunRecord, takeDataFolder } from './instance';
import { choosePorts, type PortName, type Ports } from './ports';
import { type PreparedDatabase, prepareDatabase } from './prepare-database';
import { sendSignal, stopProcess } from './processes';
import type { LogLine } from './progress';
import { startPostgres, startTemporal, type Temporal } from './servers';
import { type DevSettings, writeSettings } from './settings-file';
import { SupervisedChild } from './supervised-child';

const READY_TIMEOUT_MS = 60_000;
const READY_ATTEMPT_TIMEOUT_MS = 2_000;

/**
 * How long each part may take to stop before it is killed, in the order of stopping; less than ten
 * seconds in total. PostgreSQL is killed with SIGQUIT: SIGKILL would leave its children behind.
 */
const CHILD_STOPS = [
  { name: 'api', graceMs: 2_000 },
  { name: 'worker', graceMs: 2_500 },
  { name: 'sandbox', graceMs: 500 },
  { name: 'wallet', graceMs: 500 },
] as const;
const SERVER_STOPS = [
  // The chain writes its state when it stops.
  { name: 'chain', graceMs: 1_000, lastSignal: 'SIGKILL' },
  { name: 'Temporal', graceMs: 2_000, lastSignal: 'SIGKILL' },
  { name: 'PostgreSQL', graceMs: 1_500, lastSignal: 'SIGQUIT' },
] as const;

type ChildName = (typeof CHILD_STOPS)[number]['name'];

export class Supervisor {
  readonly #env: NodeJS.ProcessEnv;
  readonly #layout: DataLayout;
  readonly #log: LogLine;
  readonly #record: RunRecord;
  readonly #withChain: boolean;
  readonly #children = new Map<ChildName, SupervisedChild>();
  /** Null until this process has the data folder; before that there is nothing to stop. */
  #releaseFolder: (() => void) | null = null;
  #stopping = false;
  #chain: LocalChain | null = null;
  #router: NetworkRouter | null = null;

  /** @param withChain a local EVM chain and the wallet serve one network */
  constructor(env: NodeJS.ProcessEnv, layout: DataLayout, log: LogLine, withChain: boolean) {
    this.#env = env;
    this.#layout = layout;
    this.#log = log;
    this.#record = new RunRecord(layout.runRecord);
    this.#withChain = withChain;
  }

  /**
   * Starts everything and resolves when all of it answers.
   * @throws when a part does not start; the caller then stops the others
   */
  async start(): Promise<DevSettings> {
    this.#releaseFolder = await takeDataFolder(this.#layout, this.#log);
    const given = {
      ownerUrl: this.#given('DATABASE_OWNER_URL'),
      appUrl: this.#given('DATABASE_URL'),
      temporal: this.#given('TEMPORAL_ADDRESS'),
    };
    const ports = await choosePorts(this.#env, unusedPorts(given, this.#withChain));
    const secrets = loadSecrets(this.#layout.secrets, this.#env);
    const context = {
      layout: this.#layout,
      ports,
      log: this.#log,
      onSpawn: (name: string, pid: number, command: string) => {
        this.#recordProcess(name, pid, command);
      },
    };
    const { layout } = context;
    const startDatabase = async (): Promise<PreparedDatabase> => {
      const ownerUrl = await startPostgres(context, given.ownerUrl);
      return prepareDatabase({
        ownerUrl,
        givenAppUrl: given.appUrl,
        secrets,
        inboxUrl: `http://localhost:${ports.sandbox}/inbox`,
        layout,
        log: this.#log,
      });
    };
    const [database, temporal, bundles] = await Promise.all([
      startDatabase(),
      startTemporal(context, given.temporal),
      bundleCompiledWorkflows(),
    ]);
    Object.assign(process.env, bundles);
    if (this.#withChain) await this.#startChain(ports, secrets, database, temporal);
    this.#startGateway(ports, secrets, database, temporal);
    const chain = this.#chain?.settings ?? null;
    const settings = writeSettings(layout.settings, ports, temporal, database, chain);
    await this.#waitUntilReady(ports);
    return settings;
  }

  /** Stops everything in order; what does not stop in time is killed. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#releaseFolder === null) return;
    this.#router?.stop();
    this.#chain?.stopMining();
    for (const { name, graceMs } of CHILD_STOPS) await this.#children.get(name)?.stop(graceMs);
    for (const { name, graceMs, lastSignal } of SERVER_STOPS) {
      const pid = this.#record.runningPid(name);
      if (pid !== null) await stopProcess(pid, { signal: 'SIGINT', graceMs, lastSignal });
    }
    this.#record.clear();
    this.#releaseFolder();
  }

  /** Ends everything at once. */
  killAll(): void {
    this.#stopping = true;
    if (this.#releaseFolder === null) return;
    for (const child of this.#children.values()) child.kill();
    for (const { name, lastSignal } of SERVER_STOPS) {
      const pid = this.#record.runningPid(name);
      if (pid !== null) sendSignal(pid, lastSignal);
    }
    this.#releaseFolder();
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  #given(variable: string): string | null {
    const value = this.#env[variable] ?? '';
    return value === '' ? null : value;
  }

  /**
   * Starts the chain, then the wallet on it, then the router that sends the network's calls to the
   * wallet.
   */
  async #startChain(
    ports: Ports,
    secrets: Record<string, string>,
    { ownerUrl }: PreparedDatabase,
    { address: temporalAddress }: Temporal,
  ): Promise<void> {
    // They load slowly, and most starts have no chain.
    const { startLocalChain } = await import('./chain/local-chain.js');
    const { prepareWalletDatabase, prepareWalletFiles } = await import('./chain/local-wallet.js');
    const { startNetworkRouter } = await import('./chain/network-router.js');
    const chain = await startLocalChain(this.#layout, {
      port: ports.chain,
      log: this.#log,
      onSpawn: (pid) => {
        this.#recordProcess('chain', pid, 'anvil');
      },
    });
    this.#chain = chain;
    const files = prepareWalletFiles(this.#layout, chain.settings);
    await chain.fund(files.address);
    const databaseUrl = await prepareWalletDatabase(
      ownerUrl,
      secrets['WALLET_DATABASE_PASSWORD'] ?? '',
    );
    const { networks: networksFile, xpub } = files;
    const wallet = { databaseUrl, networksFile, xpub, temporalAddress };
    this.#startChild('wallet', walletEnvironment(ports, secrets, wallet));
    this.#router = await startNetworkRouter({
      wallet: `http://127.0.0.1:${ports.wallet}`,
      sandbox: `http://127.0.0.1:${ports.sandbox}/onchain`,
      network: chain.settings.network,
    });
  }

  #startGateway(
    ports: Ports,
    secrets: Record<string, string>,
    database: PreparedDatabase,
    temporal: Temporal,
  ): void {
    const environment = (databaseUrl: string, dashboardUrl: string | null) =>
      gatewayEnvironment(ports, secrets, {
        databaseUrl,
        dashboardUrl,
        temporalAddress: temporal.address,
        temporalUiUrl: temporal.uiUrl,
        chainUrl: this.#router?.url ?? null,
      });
    const { test_webhook_secret: webhookSecret } = database.credentials;
    this.#startChild('sandbox', sandboxEnvironment(this.#layout, ports, secrets, webhookSecret));
    this.#startChild('api', environment(database.apiUrl, database.dashboardUrl));
    this.#startChild('worker', environment(database.workerUrl, null));
  }

  #startChild(name: ChildName, env: NodeJS.ProcessEnv): void {
    if (this.#stopping) throw new SetupError('stopped while starting');
    const script = `src/bin/${name}.js`;
    const child = new SupervisedChild({
      name,
      script,
      env,
      logFile: this.#layout.logOf(name),
      print: this.#log,
      onSpawn: (pid) => {
        this.#recordProcess(name, pid, script);
      },
    });
    this.#children.set(name, child);
  }

  /** A process that starts while everything is being stopped is stopped too. */
  #recordProcess(name: string, pid: number, command: string): void {
    this.#record.add(name, pid, command);
    if (this.#stopping) sendSignal(pid, 'SIGINT');
  }

  async #waitUntilReady(ports: Ports): Promise<void> {
    const whenReady = async (name: ChildName, url: string | null): Promise<void> => {
      const child = this.#children.get(name);
      if (child === undefined) return;
      await child.ready;
      if (url !== null) await waitForHttp(url, READY_TIMEOUT_MS);
      this.#log(`${name} is ready`);
    };
    await Promise.all([
      whenReady('api', `http://127.0.0.1:${ports.api}/readyz`),
      whenReady('sandbox', `http://127.0.0.1:${ports.sandbox}/healthz`),
      whenReady('worker', null),
      whenReady('wallet', `http://127.0.0.1:${ports.wallet}/healthz`),
    ]);
  }
}

function unusedPorts(
  given: { ownerUrl: string | null; temporal: string | null },
  withChain: boolean,
): Set<PortName> {
  return new Set<PortName>([
    ...(given.ownerUrl === null ? [] : (['postgres'] as const)),
    ...(given.temporal === null ? [] : (['temporal', 'temporalUi'] as const)),
    ...(withChain ? [] : (['chain', 'wallet'] as const)),
  ]);
}

/** @throws SetupError with the last answer when none is 200 within the time */
async function waitForHttp(url: string, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let last = 'no answer';
  while (performance.now() < deadline) {
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(READY_ATTEMPT_TIMEOUT_MS) });
      const body = await response.text();
      if (response.status === 200) return;
      last = `${response.status} ${body.slice(0, 300)}`;
    } catch (error) {
      last = error instanceof Error ? error.message : 'no answer';
    }
    await sleep(50);
  }
  throw new SetupError(`${url} is not ready after ${timeoutMs / 1000} s: ${last}`);
}
