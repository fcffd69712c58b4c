/**
 * Kills and freezes programs while payouts stand at every step of their way, also between a commit
 * and its program's learning of it: each payout goes on to its end, once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ChildProgram } from '../support/servers/child-program';
import { CommitGate } from './commit-gate';
import { startGateway, type OwnGateway } from '../support/servers/gateway';
import { bringToSteps, carryOn, countPayouts, statuses, STEPS } from './interrupted-payouts';
import { auditPayouts, expectedBalance } from '../support/payout/payout-audit';
import { whenFinal } from './payout-status';
import { FUNDS } from '../support/merchant/merchant';

/** Longer than a workflow task's time-out: Temporal gives the frozen worker's tasks to another. */
const FREEZE_MS = 12_000;

interface Interruption {
  what: string;
  begin: (gateway: OwnGateway) => Promise<void>;
  /** Runs when what was committed is committed. */
  end: (gateway: OwnGateway) => Promise<() => Promise<void>>;
}

const nothingToStop = async (): Promise<void> => undefined;

const INTERRUPTIONS: Interruption[] = [
  {
    what: 'the worker is killed',
    begin: ({ worker }) => worker.kill(),
    end: async ({ worker }) => {
      await worker.start();
      return nothingToStop;
    },
  },
  {
    what: 'the API is killed',
    begin: ({ api }) => api.kill(),
    end: async ({ api }) => {
      await api.start();
      return nothingToStop;
    },
  },
  {
    what: 'the worker and the API are killed',
    begin: async ({ api, worker }) => {
      await Promise.all([api.kill(), worker.kill()]);
    },
    end: async ({ api, worker }) => {
      await Promise.all([api.start(), worker.start()]);
      return nothingToStop;
    },
  },
  {
    what: 'the worker is frozen while another takes over, and wakes again',
    begin: async ({ worker }) => {
      worker.signal('SIGSTOP');
    },
    end: async ({ worker, env }) => {
      const other = new ChildProgram('worker', env);
      await other.start();
      await sleep(FREEZE_MS);
      worker.signal('SIGCONT');
      return () => other.stop();
    },
  },
];

test.concurrent.each(INTERRUPTIONS)(
  'at every step of a payout, $what: each payout ends once',
  async ({ begin, end }) => {
    // The longest time that the gateway waits for a provider: the interruption comes first.
    const gateway = await startGateway({ providerTimeoutMs: 10_000 });
    const gate = await CommitGate.open(gateway);
    try {
      const interrupted = await bringToSteps(gateway, gate);
      await begin(gateway);
      await gate.release();
      const stopOthers = await end(gateway);
      await Promise.all(interrupted.map((one) => carryOn(gateway, one)));
      await Promise.all(interrupted.map(async ({ id }) => whenFinal(gateway.db, await id)));

      expect(await statuses(gateway, interrupted)).toEqual(
        Object.fromEntries(STEPS.map(({ name, ends }) => [name, ends])),
      );
      expect(await countPayouts(gateway)).toBe(STEPS.length);
      for (const { client, accountId, cancelled } of interrupted) {
        const answer = await cancelled;
        if (answer !== undefined) expect(statusIn(answer.json)).toBe('cancelled');
        expect(await client.balance()).toEqual(await expectedBalance(gateway.db, accountId, FUNDS));
      }
      expect(await auditPayouts(gateway)).toEqual([]);
      await stopOthers();
    } finally {
      await gate.close();
      await gateway.stop();
    }
  },
  180_000,
);

/** The first cancel answers with the payout, a repeated one with `invalid_state` and the status. */
function statusIn(json: {
  data?: { status: string };
  error?: { details?: { status: string } };
}): string | undefined {
  return json.data?.status ?? json.error?.details?.status;
}
