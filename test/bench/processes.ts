/** What the processes of a gateway use: time of the processor and memory, from /proc. */
import { readdirSync, readFileSync } from 'node:fs';
import { withClient } from '../../src/db/provision';
import { commandLineOf } from '../../src/dev/processes';
import type { OwnGateway } from '../support/servers/gateway';

/** Linux counts in hundredths of a second. */
const MS_PER_TICK = 10;

export type ProcessName = 'api' | 'worker' | 'Temporal' | 'PostgreSQL';

export async function findProcesses(gateway: OwnGateway): Promise<Record<ProcessName, number>> {
  const { api, worker, env } = gateway;
  if (api.pid === null || worker.pid === null) throw new Error('the gateway is not running');
  const port = new URL(`http://${env['TEMPORAL_ADDRESS'] ?? ''}`).port;
  const temporal = listPids().find((pid) => {
    const command = commandLineOf(pid);
    return command.includes('server start-dev') && command.includes(`--port ${port} `);
  });
  if (temporal === undefined) throw new Error('the Temporal server was not found');
  const backend = await withClient(process.env['TEST_POSTGRES_URL'] ?? '', async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return readStat(rows[0]?.pid ?? 0).parent;
  });
  return { api: api.pid, worker: worker.pid, Temporal: temporal, PostgreSQL: backend };
}

/** The CPU time of the process and its children, also of those that have ended. */
export function processorMs(pid: number): number {
  const own = readStat(pid);
  const children = listPids().filter((one) => statOf(one)?.parent === pid);
  const ofChildren = children.map((one) => statOf(one)?.ticks ?? 0);
  return [own.ticks, own.ticksOfEnded, ...ofChildren].reduce((a, b) => a + b) * MS_PER_TICK;
}

export function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

function listPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

interface Stat {
  parent: number;
  ticks: number;
  ticksOfEnded: number;
}

function readStat(pid: number): Stat {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may contain spaces. The next field is the third.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const at = (field: number): number => Number(fields[field - 3]);
  return { parent: at(4), ticks: at(14) + at(15), ticksOfEnded: at(16) + at(17) };
}

/** Null: it has ended. */
function statOf(pid: number): Stat | null {
  try {
    return readStat(pid);
  } catch {
    return null;
  }
}
