/**
 * Many more open payments than a worker keeps in memory: it stays as small as its cache, and each
 * payment still expires at its time. OPEN_PAYMENTS sets how many; the worker's memory is printed.
 */
import { readFileSync } from 'node:fs';
import { brokenInvariants, startGateway } from '../support/servers/gateway';
import { createKey } from '../support/merchant/merchant';
import { PatientClient } from '../support/merchant/patient-client';
import { buildPayment } from '../support/payment/payment-steps';
import { scaled } from '../support/scale';
import { waitThroughFaults } from '../support/wait-for';
import { started } from '../support/started';

const MOST_OPEN = Number(process.env['OPEN_PAYMENTS'] ?? scaled(60, 1_000));
const CACHED_WORKFLOWS = Math.ceil(MOST_OPEN / 10);
/** With fewer payments, the time limit is moved when all are open; with more, it is reached by itself. */
const isShortened = MOST_OPEN < 5_000;
const AT_ONCE = 16;
/** Below what a key may send in a minute, however quick the machine is. */
const REQUESTS_PER_KEY = 500;
/** What opening them all, and hearing of their end, may take on a busy machine. */
const PATIENCE_MS = 120_000 + MOST_OPEN * 200;

const gateway = started(() =>
  startGateway({
    providerTimeoutMs: 5_000,
    env: { MAX_CACHED_WORKFLOWS: String(CACHED_WORKFLOWS), LOG_LEVEL: 'warn' },
  }),
);

test(
  `${MOST_OPEN} open payments, ${CACHED_WORKFLOWS} of them in memory: each expires`,
  async () => {
    const begun = Date.now();
    noteMemory('no payment', begun);
    // Long enough to open them all on a busy machine.
    const windowSeconds = isShortened ? 3_600 : 300 + Math.ceil(MOST_OPEN / 10);
    for (let opened = 0; opened < MOST_OPEN; opened += REQUESTS_PER_KEY) {
      await openSome(Math.min(REQUESTS_PER_KEY, MOST_OPEN - opened), windowSeconds);
      noteMemory(`${Math.min(opened + REQUESTS_PER_KEY, MOST_OPEN)} open`, begun);
    }
    expect(await countByStatus()).toEqual({ created: MOST_OPEN });
    if (isShortened) {
      await gateway.db.query("UPDATE payments SET expires_at = now() + interval '5 seconds'");
    }
    let noted = '';
    await waitThroughFaults(
      'every payment to expire',
      async () => {
        const counts = await countByStatus();
        const state = JSON.stringify(counts);
        if (state !== noted && !isShortened) noteMemory((noted = state), begun);
        return counts['expired'] === MOST_OPEN;
      },
      PATIENCE_MS + windowSeconds * 1000,
    );
    noteMemory('all expired', begun);

    const [late] = await gateway.db.query<{ p50: string; most: string }>(
      `SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY late)::text AS p50,
              max(late)::text AS most
         FROM (SELECT extract(epoch FROM updated_at - expires_at) AS late FROM payments) AS ended`,
    );
    process.stderr.write(`expired after the end of the window: ${JSON.stringify(late)} s\n`);
    const [early] = await gateway.db.query('SELECT 1 FROM payments WHERE updated_at < expires_at');
    expect(early).toBeUndefined();
    const events = await gateway.db.query<{ type: string; count: string }>(
      'SELECT type, count(*)::text AS count FROM events GROUP BY type ORDER BY type',
    );
    expect(events).toEqual([
      { type: 'payment.created', count: String(MOST_OPEN) },
      { type: 'payment.expired', count: String(MOST_OPEN) },
    ]);
    expect(await brokenInvariants(gateway)).toEqual([]);
  },
  PATIENCE_MS * 4 + 3_600_000,
);

async function openSome(count: number, windowSeconds: number): Promise<void> {
  const { accountId } = gateway.merchant;
  const key = await createKey(gateway.db, gateway.pepper, { accountId, mode: 'test' });
  const client = new PatientClient(gateway.baseUrl, key);
  let left = count;
  const one = async () => {
    while (left > 0) {
      left -= 1;
      await client.createPayment(buildPayment({ expires_in: windowSeconds }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

async function countByStatus(): Promise<Record<string, number>> {
  const counted = await gateway.db.query<{ name: string; count: number }>(
    'SELECT status AS name, count(*)::int AS count FROM payments GROUP BY status',
  );
  return Object.fromEntries(counted.map(({ name, count }) => [name, count]));
}

/** Where the system shows no such figure, there is none to print. */
function noteMemory(when: string, begun: number): void {
  const seconds = Math.round((Date.now() - begun) / 1000);
  process.stderr.write(`${seconds} s, ${when}: worker ${residentMemory() ?? 'unknown'}\n`);
}

function residentMemory(): string | undefined {
  try {
    const status = readFileSync(`/proc/${gateway.worker.pid}/status`, 'utf8');
    return /VmRSS:\s*(.+)/.exec(status)?.[1];
  } catch {
    return undefined;
  }
}
