/** Plays the plan's faults against the layout. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildProgram } from '../support/servers/child-program';
import { control } from '../support/servers/sandbox';
import type { Layout } from './layout';
import type { Fault, LinkName, ProgramName } from './plan';
import type { LinkFault } from '../support/chaos/link';
import { MODE } from './rail';

/** A fault that is over. Times by performance.now(). */
export interface Played {
  fault: Fault;
  startedAt: number;
  endedAt: number;
  /** The process that the fault struck; null if it was not one of the programs. */
  pid: number | null;
}

/** @returns when all faults are over and everything runs again */
export async function playFaults(
  layout: Layout,
  plan: readonly Fault[],
  log: (fault: Fault) => void,
): Promise<Played[]> {
  const start = performance.now();
  return Promise.all(
    plan.map(async (fault) => {
      await sleep(fault.atMs - (performance.now() - start));
      log(fault);
      const startedAt = performance.now();
      const pid = PROGRAM_FAULTS.has(fault.kind) ? pidOf(layout, fault) : null;
      await play(layout, fault);
      return { fault, startedAt, endedAt: performance.now(), pid };
    }),
  );
}

const PROGRAM_FAULTS: ReadonlySet<Fault['kind']> = new Set(['kill', 'pause']);

function pidOf(layout: Layout, { target }: Fault): number | null {
  return target === 'node' ? null : layout.program(target as ProgramName).pid;
}

/** Resolves when it is over. */
async function play(layout: Layout, fault: Fault): Promise<void> {
  const { target, forMs } = fault;
  switch (fault.kind) {
    case 'kill': {
      const program = layout.program(target as ProgramName);
      await program.kill();
      await sleep(forMs);
      await startAgain(program);
      return;
    }
    case 'pause': {
      const paused = target === 'node' ? layout.node : pausable(layout, target as ProgramName);
      await paused?.suspend();
      await sleep(forMs);
      paused?.resume();
      return;
    }
    case 'reorganization':
      await layout.rail.reorganize(Number(fault.detail));
      return;
    case 'lose_requests':
    case 'lose_answers':
    case 'black_hole':
      await disturb(layout, fault, { kind: fault.kind });
      return;
    case 'delay':
      await disturb(layout, fault, { kind: 'delay', ms: 300 });
      return;
    case 'kill_server':
    case 'stop_server': {
      const server = layout.servers[target as 'postgres' | 'temporal'];
      await server.kill();
      await sleep(forMs);
      await server.start();
      return;
    }
    case 'disk_full': {
      const { disk, postgres } = layout.servers;
      disk?.fill();
      await sleep(forMs);
      disk?.free();
      // Without space for its log PostgreSQL ends, and is started again.
      await layout.gateway.db.query('SELECT 1').catch(async () => {
        await postgres.kill();
        await postgres.start();
      });
      return;
    }
    case 'clock': {
      const program = target as ProgramName;
      layout.setClock(program, fault.detail ?? '+0');
      await sleep(forMs);
      layout.setClock(program, '+0');
      return;
    }
    case 'connections':
      await layout.gateway.db
        .query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name LIKE 'gateway-%'`,
        )
        .catch(() => undefined);
      return;
    case 'outage': {
      const where = { provider: 'onchain_provider', mode: MODE };
      const { url } = layout.gateway.sandbox;
      await control(url, 'outage', { ...where, kind: fault.detail });
      await sleep(forMs);
      await control(url, 'outage', { ...where, kind: null });
    }
  }
}

function pausable({ program }: Layout, name: ProgramName): NonNullable<Layout['node']> {
  return {
    suspend: () => {
      program(name).signal('SIGSTOP');
      return Promise.resolve();
    },
    resume: () => {
      program(name).signal('SIGCONT');
    },
  };
}

async function disturb({ links }: Layout, { target, forMs }: Fault, how: LinkFault): Promise<void> {
  const link = links[target as LinkName];
  link.set(how);
  await sleep(forMs);
  link.set(null);
}

/** A program that starts while another fault lasts may end; its supervisor starts it again. */
async function startAgain(program: ChildProgram): Promise<void> {
  // Another fault may have killed it while it started, and starts it as well.
  while (program.pid === null) {
    try {
      await program.start();
    } catch {
      await sleep(1_000);
    }
  }
}
