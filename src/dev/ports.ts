/**
 * The ports of `npm start`: which, what for, and what to do when one is taken.
 */
import { findFreePort, portState } from '../lib/free-port';
import { SetupError } from '../lib/setup-error';

interface PortRule {
  env: string;
  standard: number;
  wantedBy: string;
  /** Whether another port will do when the standard one is taken and nobody asked for it. */
  movable: boolean;
}

export const PORT_RULES = {
  api: { env: 'PORT', standard: 3000, wantedBy: 'the API', movable: false },
  sandbox: { env: 'SANDBOX_PORT', standard: 3001, wantedBy: 'the sandbox', movable: false },
  temporal: { env: 'TEMPORAL_PORT', standard: 7233, wantedBy: 'Temporal', movable: true },
  temporalUi: {
    env: 'TEMPORAL_UI_PORT',
    standard: 8233,
    wantedBy: 'the Temporal UI',
    movable: true,
  },
  postgres: { env: 'POSTGRES_PORT', standard: 5433, wantedBy: 'PostgreSQL', movable: true },
} as const satisfies Record<string, PortRule>;

export type PortName = keyof typeof PORT_RULES;
export type Ports = Record<PortName, number>;

/**
 * Chooses every port before anything starts.
 * @param unused ports of parts that do not start here; they are not checked
 * @throws SetupError that names the port, what wanted it and the variable that moves it
 */
export async function choosePorts(
  env: NodeJS.ProcessEnv,
  unused: ReadonlySet<PortName>,
): Promise<Ports> {
  const chosen: Partial<Ports> = {};
  for (const name of Object.keys(PORT_RULES) as PortName[]) {
    const taken = new Map(Object.entries(chosen).map(([other, port]) => [port, other as PortName]));
    chosen[name] = unused.has(name) ? 0 : await choosePort(name, env, taken);
  }
  return chosen as Ports;
}

async function choosePort(
  name: PortName,
  env: NodeJS.ProcessEnv,
  taken: ReadonlyMap<number, PortName>,
): Promise<number> {
  const rule: PortRule = PORT_RULES[name];
  const asked = env[rule.env];
  const port = asked === undefined || asked === '' ? rule.standard : readPort(rule.env, asked);
  const sibling = taken.get(port);
  const state = sibling === undefined ? await portState(port) : 'taken';
  if (state === 'free') return port;
  if (rule.movable && port === rule.standard && (asked ?? '') === '') return findFreePort();
  const reason =
    sibling !== undefined
      ? `goes to ${PORT_RULES[sibling].wantedBy}`
      : state === 'forbidden'
        ? 'is not allowed for this user'
        : 'is taken by another program';
  throw new SetupError(
    `Port ${port}, which ${rule.wantedBy} wants, ${reason}; set ${rule.env} to another port.`,
  );
}

function readPort(variable: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new SetupError(`${variable}=${text} is not a port: it takes a number from 1 to 65535.`);
}
