/** KEY_PEPPER and CURSOR_SECRET change while requests arrive: no request fails. */
import { randomBytes } from 'node:crypto';
import { pepperIdOf } from '../../../src/platform/lib/api-key-secret';
import { Admin } from '../admin-harness';
import { type Gateway, startHarness } from '../http-harness';
import { started } from '../../support/started';

/** The one that the harness hashes keys with. */
const OLD = 'the pepper of the tests: long enough';
const NEW = randomBytes(32).toString('hex');
const KEYS = 4;

const harness = started(startHarness);

const start = (env: Record<string, string>) => harness.startGateway({ env });

async function ask(gateway: Gateway, secret: string): Promise<number> {
  const headers = { Authorization: `Bearer ${secret}` };
  const response = await fetch(`${gateway.url}/api/v1/balance`, { headers });
  await response.arrayBuffer();
  return response.status;
}

test('the pepper changes in three steps, process by process, under load', async () => {
  const keys = await Promise.all(Array.from({ length: KEYS }, () => harness.createKey()));
  // What each process has before, while and after its restart: two steps run side by side all the time.
  const before = { KEY_PEPPER: OLD };
  const accepting = { KEY_PEPPER: OLD, KEY_PEPPER_NEXT: NEW };
  const changed = { KEY_PEPPER: NEW, KEY_PEPPERS_EARLIER: OLD };
  const after = { KEY_PEPPER: NEW };
  const running = [await start(before), await start(before)];
  const statuses: number[] = [];
  let isOver = false;
  const load = Array.from({ length: 2 }, async (_, client) => {
    for (let turn = client; !isOver; turn += 1) {
      const key = keys[turn % KEYS];
      const gateway = running[turn % running.length];
      if (key === undefined || gateway === undefined) throw new Error('no key or no process');
      statuses.push(await ask(gateway, key.secret));
    }
  });
  const requestsPass = async (count: number) => {
    const end = statuses.length + count;
    while (statuses.length < end) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const replaced: Gateway[] = [];
  for (const step of [accepting, changed, after]) {
    for (const index of running.keys()) {
      await requestsPass(4 * KEYS);
      const [old] = running.splice(index, 1, await start(step));
      if (old !== undefined) replaced.push(old);
    }
    await requestsPass(4 * KEYS);
    if (step === changed) {
      for (const { secret } of keys) expect(await ask(running[0] as Gateway, secret)).toBe(200);
    }
  }
  isOver = true;
  await Promise.all(load);
  await Promise.all([...running, ...replaced].map((gateway) => gateway.stop()));

  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  const stored = await harness.owner.query<{ pepperId: string }>(
    'SELECT DISTINCT pepper_id FROM api_keys WHERE id = ANY (?)',
    [keys.map(({ id }) => id)],
  );
  expect(stored).toEqual([{ pepperId: pepperIdOf(NEW) }]);
});

test('a pepper that is not named opens nothing; `secrets list` counts what depends on it', async () => {
  const used = await harness.createKey();
  const unused = await harness.createKey();
  const gateway = await start({ KEY_PEPPER: NEW, KEY_PEPPERS_EARLIER: OLD });
  expect(await ask(gateway, used.secret)).toBe(200);
  await gateway.stop();
  const without = await start({ KEY_PEPPER: NEW });
  expect(await ask(without, used.secret)).toBe(200);
  expect(await ask(without, unused.secret)).toBe(401);
  await without.stop();

  const admin = new Admin(harness.database.ownerUrl, {
    KEY_PEPPER: NEW,
    WEBHOOK_SECRET_KEY: randomBytes(32).toString('hex'),
  });
  const peppers = (await admin.list('secrets', 'list')).filter(({ name }) => name === 'KEY_PEPPER');
  expect(peppers).toContainEqual(
    expect.objectContaining({ id: pepperIdOf(NEW), state: 'current', next_step: null }),
  );
  expect(peppers).toContainEqual(expect.objectContaining({ id: null, state: 'unknown', used: 1 }));
});
