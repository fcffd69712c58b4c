/** An operator's commands as the README has them: one payout, many at once, and mistyped ones. */
import { startGateway, type TestGateway } from '../support/servers/gateway';
import { fund, FUNDS } from '../support/merchant/merchant';
import { buildPayout } from '../support/merchant/merchant-client';
import { PatientClient } from '../support/merchant/patient-client';
import { auditPayouts, expectedBalance } from '../support/payout/payout-audit';
import { payoutStatus, whenFinal, whenStatus } from './payout-status';
import { placeOf, temporalCommand } from '../support/servers/temporal-command';
import { waitThroughFaults } from '../support/wait-for';

const UNDER_REVIEW = 'PayoutStatus="under_review"';

let gateway: TestGateway;
let client: PatientClient;

beforeAll(async () => {
  gateway = await startGateway();
  await fund(gateway.db, gateway.merchant.accountId, 'live', 'USDT', FUNDS);
  client = new PatientClient(gateway.baseUrl, gateway.merchant.liveKey);
});

afterAll(async () => {
  const balance = await client.balance();
  expect(balance).toEqual(await expectedBalance(gateway.db, gateway.merchant.accountId, FUNDS));
  await gateway.stop();
});

async function underReview(count: number): Promise<string[]> {
  const created = Array.from({ length: count }, () => client.createPayout(buildPayout()));
  const ids = (await Promise.all(created)).map(({ id }) => id);
  for (const id of ids) await whenStatus(gateway.db, id, 'under_review');
  return ids;
}

function signal(...args: string[]): Promise<string> {
  return temporalCommand(placeOf(gateway.env), 'workflow', 'signal', ...args);
}

/** The list that a batch works on is a moment behind. */
async function whenListed(count: number): Promise<void> {
  await waitThroughFaults(`${count} payouts in the list`, async () => {
    const found = await gateway.temporal.workflow.count(UNDER_REVIEW);
    return found.count === count;
  });
}

test('one batch command approves every payout under review', async () => {
  const ids = await underReview(5);
  await whenListed(ids.length);
  await signal('-q', UNDER_REVIEW, '--yes', '--name', 'approve');
  for (const id of ids) expect(await whenFinal(gateway.db, id)).toBe('completed');
  await whenListed(0);
});

test('one batch command with an input rejects every payout under review', async () => {
  const ids = await underReview(3);
  await whenListed(ids.length);
  const input = '{"by":"alice","reason":"sanctions hit"}';
  await signal('-q', UNDER_REVIEW, '--yes', '--name', 'reject', '--input', input);
  for (const id of ids) {
    expect(await whenFinal(gateway.db, id)).toBe('rejected');
    expect((await client.get(`/payouts/${id}`)).json.data.rejection_reason).toBe('sanctions hit');
  }
});

test.each([
  ['a name that is a number', ['--name', 'approve', '--input', '{"by":7}']],
  ['a list', ['--name', 'approve', '--input', '[]']],
  ['no JSON', ['--name', 'approve', '--input', 'oops', '--input-meta', 'encoding=json/plain']],
  ['another signal', ['--name', 'aprove']],
])('mistyped (%s): nothing happens, and the next try counts', async (_what, args) => {
  const [id] = (await underReview(1)) as [string];
  // The program itself refuses some of it; what it lets through the workflow ignores.
  await signal('-w', id, ...args).catch(() => undefined);
  await signal('-w', id, '--name', 'reject', '--input', '{"by":"bob","reason":"no"}');
  expect(await whenFinal(gateway.db, id)).toBe('rejected');
  expect(await payoutStatus(gateway.db, id)).toBe('rejected');
});

test('the ledger verifies and every workflow has ended', async () => {
  expect(await auditPayouts(gateway)).toEqual([]);
});
