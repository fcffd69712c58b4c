/**
 * An operator ends a payout's workflow in Temporal, in one way or another, at each status that is
 * not final: no money is stranded, because restart-missing starts it again from the row.
 */
import { SCENARIOS, type ScenarioName } from '../../src/rails/sandbox/transfers/scenarios';
import { startGateway } from '../support/servers/gateway';
import { createMerchant, fund, FUNDS } from '../support/merchant/merchant';
import { buildPayout } from '../support/merchant/merchant-client';
import { PatientClient } from '../support/merchant/patient-client';
import { auditPayouts, expectedBalance } from '../support/payout/payout-audit';
import { payoutStatus, whenFinal, whenStatus } from './payout-status';
import { placeOf, temporalCommand } from '../support/servers/temporal-command';
import { control } from '../support/servers/sandbox';
import { waitThroughFaults } from '../support/wait-for';
import { started } from '../support/started';

/** Where a payout stands; one in doubt is approved, and its provider gave no clear answer. */
const STANDS = ['requested', 'under_review', 'approved', 'in doubt', 'processing'] as const;
type Stand = (typeof STANDS)[number];

/** What somebody does, as it is typed behind `temporal workflow`. */
const COMMANDS = {
  terminate: ['terminate', '--reason', 'a test'],
  'request cancellation': ['cancel'],
  'reset to the last task': ['reset', '--type', 'LastWorkflowTask', '--reason', 'a test'],
  'reset to the beginning': ['reset', '--type', 'FirstWorkflowTask', '--reason', 'a test'],
  delete: ['delete'],
} as const;
type Command = keyof typeof COMMANDS;

const CASES = (Object.keys(COMMANDS) as Command[]).flatMap((command) =>
  STANDS.map((stands) => ({ command, stands })),
);

/** How often the provider answers 500 before it takes what is in doubt: always, then never. */
const ALWAYS = 1_000;

interface Prepared {
  id: string;
  client: PatientClient;
  accountId: string;
}

const gateway = started(() => startGateway({ providerTimeoutMs: 700 }));
const payouts = new Map<string, Prepared>();

beforeAll(async () => {
  await control(gateway.sandbox.url, 'settings', { error_submissions: ALWAYS });
  await Promise.all(
    CASES.map(async (one) => {
      await prepare(one);
      // At once: a requested payout approves itself after 10 s.
      await interfere(one);
    }),
  );
  await control(gateway.sandbox.url, 'settings', { error_submissions: 0 });
  // All at once: the next run of restart-missing wakes those that were held.
  await gateway.db.query('DELETE FROM payout_pauses');
});

/** Brings a payout of a merchant of its own to where it shall stand. */
async function prepare({ command, stands }: (typeof CASES)[number]): Promise<void> {
  const merchant = await createMerchant(gateway.db, gateway.pepper, { reviewAll: false });
  const { accountId, liveKey } = merchant;
  await fund(gateway.db, accountId, 'live', 'USDT', FUNDS);
  const client = new PatientClient(gateway.baseUrl, liveKey);
  if (stands === 'requested') await payOnce(client);
  const amount = `10.0000${SCENARIOS[SCENARIO_OF[stands]].code}`;
  const { id } = await client.createPayout(buildPayout({ amount }));
  payouts.set(`${command} ${stands}`, { id, client, accountId });
  if (stands === 'approved') await pause(accountId);
  if (stands !== 'requested' && stands !== 'under_review') await approve(id);
  await whenStatus(gateway.db, id, STATUS_OF[stands]);
  if (stands === 'in doubt') await whenInDoubt(id);
}

const STATUS_OF = {
  requested: 'requested',
  under_review: 'under_review',
  approved: 'approved',
  'in doubt': 'approved',
  processing: 'processing',
} as const satisfies Record<Stand, string>;

const SCENARIO_OF = {
  requested: 'sends',
  under_review: 'sends',
  approved: 'sends',
  'in doubt': 'error_5xx',
  processing: 'never_settles',
} as const satisfies Record<Stand, ScenarioName>;

async function whenInDoubt(id: string): Promise<void> {
  await waitThroughFaults(`${id} to be in doubt`, async () => {
    const sql = 'SELECT 1 FROM payouts WHERE id = ? AND in_doubt_since IS NOT NULL';
    return (await gateway.db.query(sql, [id]))[0];
  });
}

/** Only a destination that was paid before needs no operator. */
async function payOnce(client: PatientClient): Promise<void> {
  const { id } = await client.createPayout(buildPayout());
  await approve(id);
  await whenFinal(gateway.db, id);
}

async function pause(accountId: string): Promise<void> {
  const sql = `INSERT INTO payout_pauses (scope, target, reason) VALUES ('account', ?, 'a test')`;
  await gateway.db.query(sql, [accountId]);
}

async function interfere({ command, stands }: (typeof CASES)[number]): Promise<void> {
  const { id } = payouts.get(`${command} ${stands}`)!;
  expect(await payoutStatus(gateway.db, id)).toBe(STATUS_OF[stands]);
  await temporal(...COMMANDS[command], '-w', id);
  if (command !== 'delete') return;
  await waitThroughFaults(`${id} to have no workflow`, async () => {
    const found = gateway.temporal.workflow.getHandle(id).describe();
    return found.then(
      () => undefined,
      () => true,
    );
  });
  // The sweep leaves young payouts alone for five minutes.
  const sql = `UPDATE payouts SET workflow_checked_at = now() - interval '10 minutes' WHERE id = ?`;
  await gateway.db.query(sql, [id]);
}

function temporal(...args: string[]): Promise<string> {
  return temporalCommand(placeOf(gateway.env), 'workflow', ...args);
}

/** Where the workflow is about to come back, again until it is there. */
async function approve(id: string): Promise<void> {
  await waitThroughFaults(`a workflow to take the approval of ${id}`, async () => {
    await gateway.temporal.workflow.getHandle(id).signal('approve', { by: 'alice' });
    return true;
  });
}

test.each(CASES)(
  '$command when $stands: the payout goes on and is sent once',
  async (one) => {
    const { id, client, accountId } = payouts.get(`${one.command} ${one.stands}`)!;
    if (one.stands === 'under_review') await approve(id);
    if (one.stands === 'processing') {
      const transfer = { provider: 'onchain_provider', mode: 'live', client_reference: id };
      await control(gateway.sandbox.url, 'transfers/settle', transfer);
    }
    expect(await whenFinal(gateway.db, id)).toBe('completed');
    const decidedBy = one.stands === 'requested' ? null : 'alice';
    const sql = 'SELECT decided_by FROM payouts WHERE id = ?';
    expect(await gateway.db.query(sql, [id])).toEqual([{ decidedBy }]);
    const balance = await client.balance();
    expect(balance).toEqual(await expectedBalance(gateway.db, accountId, FUNDS));
    expect(balance.reserved).toBe('0.00000000');
  },
  300_000,
);

test('the ledger verifies and every workflow has ended', async () => {
  expect(await auditPayouts(gateway)).toEqual([]);
});
