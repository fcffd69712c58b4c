/**
 * The ports of `npm start`, and the free ports that its servers and the tests take.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { SetupError } from '../platform/lib/setup-error';

/**
 * The range is below the ports that systems give to outgoing connections, which could take one in
 * between.
 */
const FREE_PORT_MIN = 15_000;
const FREE_PORT_MAX = 29_999;
const FREE_PORT_TRIES_MAX = 100;

type PortState = 'free' | 'taken' | 'forbidden';

interface PortRule {
  env: string;
  standard: number;
  usedBy: string;
  /** Whether another port will do when the standard one is taken and nobody asked for it. */
  movable: boolean;
}

export const PORT_RULES = {
  api: { env: 'PORT', standard: 3000, usedBy: 'the API', movable: false },
  sandbox: { env: 'SANDBOX_PORT', standard: 3001, usedBy: 'the sandbox', movable: false },
  temporal: { env: 'TEMPORAL_PORT', standard: 7233, usedBy: 'Temporal', movable: true },
  temporalUi: {
    env: 'TEMPORAL_UI_PORT',
    standard: 8233,
    usedBy: 'the Temporal UI',
    movable: true,
  },
  postgres: { env: 'POSTGRES_PORT', standard: 5433, usedBy: 'PostgreSQL', movable: true },
  chain: { env: 'CHAIN_PORT', standard: 8545, usedBy: 'the local chain', movable: true },
  wallet: { env: 'WALLET_PORT', standard: 3002, usedBy: 'the wallet', movable: true },
} as const satisfies Record<string, PortRule>;

export type PortName = keyof typeof PORT_RULES;
export type Ports = Record<PortName, number>;

/**
 * Chooses every port before anything starts.
 * @param unused ports of parts that do not start here; they are not checked
 * @throws SetupError that names the port, what it is for and the variable that changes it
 */
export async function choosePorts(
  env: NodeJS.ProcessEnv,
  unused: ReadonlySet<PortName>,
): Promise<Ports> {
  const chosen: Partial<Ports> = {};
  const names = Object.keys(PORT_RULES) as PortName[];
  const wanted = new Set(
    names.filter((name) => !unused.has(name)).map((name) => wantedPort(name, env)),
  );
  for (const name of names) {
    const taken = new Map(Object.entries(chosen).map(([other, port]) => [port, other as PortName]));
    chosen[name] = unused.has(name) ? 0 : await choosePort(name, env, taken, wanted);
  }
  return chosen as Ports;
}

async function choosePort(
  name: PortName,
  env: NodeJS.ProcessEnv,
  taken: ReadonlyMap<number, PortName>,
  wanted: ReadonlySet<number>,
): Promise<number> {
  const rule: PortRule = PORT_RULES[name];
  const asked = env[rule.env];
  const port = wantedPort(name, env);
  const sibling = taken.get(port);
  const state = sibling === undefined ? await portState(port) : 'taken';
  if (state === 'free') return port;
  if (rule.movable && port === rule.standard && (asked ?? '') === '') return findFreePort(wanted);
  const reason =
    sibling !== undefined
      ? `is already assigned to ${PORT_RULES[sibling].usedBy}`
      : state === 'forbidden'
        ? 'is not allowed for this user'
        : 'is in use by another program';
  throw new SetupError(
    `Port ${port} for ${rule.usedBy} ${reason}; set ${rule.env} to another port.`,
  );
}

/** The port that the environment asks for, or the standard one. */
function wantedPort(name: PortName, env: NodeJS.ProcessEnv): number {
  const rule: PortRule = PORT_RULES[name];
  const asked = env[rule.env] ?? '';
  return asked === '' ? rule.standard : readPort(rule.env, asked);
}

function readPort(variable: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new SetupError(`${variable}=${text} is not a port: it must be a number from 1 to 65535.`);
}

/** The ports that this process has been given already; their servers may not listen yet. */
const givenPorts = new Set<number>();

/**
 * A free port, chosen at random so that processes that look at the same time rarely get the same
 * one. This process never gets the same port twice. Another program may still take the port: start
 * listening at once.
 * @param avoided ports that are meant for another server, which may not listen yet
 */
export async function findFreePort(avoided: ReadonlySet<number> = new Set()): Promise<number> {
  for (let tries = 0; tries < FREE_PORT_TRIES_MAX; tries += 1) {
    const port = randomInt(FREE_PORT_MIN, FREE_PORT_MAX + 1);
    if (givenPorts.has(port) || avoided.has(port)) continue;
    givenPorts.add(port);
    if ((await portState(port)) === 'free') return port;
  }
  throw new SetupError(`No free port was found between ${FREE_PORT_MIN} and ${FREE_PORT_MAX}.`);
}

/** Tries 127.0.0.1 and all addresses: a listener on either is in the way. */
async function portState(port: number): Promise<PortState> {
  for (const host of ['127.0.0.1', undefined]) {
    const state = await tryListening(port, host);
    if (state !== 'free') return state;
  }
  return 'free';
}

function tryListening(port: number, host: string | undefined): Promise<PortState> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'EACCES' ? 'forbidden' : 'taken');
    });
    server.listen({ port, exclusive: true, ...(host === undefined ? {} : { host }) }, () => {
      server.close(() => {
        resolve('free');
      });
    });
  });
}
