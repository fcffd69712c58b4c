/** What a payout leaves in Temporal: little, and nothing of whom it pays (search attributes too). */
import { magicAddress } from '../../../src/rails/sandbox/transfers/scenarios';
import {
  createPayoutCase,
  type PayoutCase,
  readHistory,
  readSearchAttributes,
  restartMissing,
  whenOver,
} from '../../support/payout/payout-case';
import { findAnyOf, readEverything } from '../../support/stored-text';
import { startWorkflowWorld } from '../../support/servers/workflow-world';
import { waitFor } from '../../support/wait-for';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';

const world = started(sharedInRoom('world', () => startWorkflowWorld('payouts')));

/** The counts are the cost of the system: a workflow task is what a worker is slowest at. */
const MOST_EVENTS = 28;
const MOST_WORKFLOW_TASKS = 4;

test('a live payout that is approved takes few events and few workflow tasks', async () => {
  const payout = await createPayoutCase(world);
  await payout.handle.signal('approve', { by: 'alice' });
  expect(await whenOver(payout)).toBe('completed');
  const events = (await readHistory(payout)).events ?? [];
  const tasks = events.filter((event) => event.workflowTaskCompletedEventAttributes != null);
  expect(events.length).toBeLessThanOrEqual(MOST_EVENTS);
  expect(tasks.length).toBeLessThanOrEqual(MOST_WORKFLOW_TASKS);
});

test('a payout that nobody decides about sets its search attributes once, at its end', async () => {
  const payout = await createPayoutCase(world, { mode: 'test' });
  expect(await whenOver(payout)).toBe('completed');
  const events = (await readHistory(payout)).events ?? [];
  const upserts = events.filter(
    (event) => event.upsertWorkflowSearchAttributesEventAttributes != null,
  );
  expect(upserts.length).toBe(1);
  expect(await readSearchAttributes(payout)).toMatchObject({ PayoutStatus: 'completed' });
});

const SECRETS = {
  destination: magicAddress('sends', 'xrpl'),
  memo: '778899001',
  description: 'salary of Erika Mustermann',
  metadataKey: 'passport_number',
  metadataValue: 'C01X00T478',
  reference: 'invoice-of-erika-2026',
};

const PERSONAL = {
  currency: 'XRP',
  network: 'xrpl',
  reference: SECRETS.reference,
  destination: {
    type: 'crypto_address',
    value: SECRETS.destination,
    memo: SECRETS.memo,
  },
  description: SECRETS.description,
  metadata: { [SECRETS.metadataKey]: SECRETS.metadataValue },
} as const;

function findSecrets(payout: PayoutCase, everything: string): string[] {
  return findAnyOf([...Object.values(SECRETS), payout.caller.apiKeyId], everything);
}

test('nothing that Temporal stores of a payout says whom it pays and what for', async () => {
  const payout = await createPayoutCase(world, { request: PERSONAL });
  await payout.handle.signal('approve', { by: 'alice' });
  expect(await whenOver(payout)).toBe('completed');
  const everything = await readEverything(payout);
  // Decoded indeed: this stands in a payload only.
  expect(everything.includes(`"payoutId":"${payout.id}"`)).toBe(true);
  expect(findSecrets(payout, everything)).toEqual([]);
});

test('nor does a workflow that is started again from the row', async () => {
  const payout = await createPayoutCase(world, { request: PERSONAL });
  await payout.handle.terminate('by a test');
  await restartMissing(world, payout);
  await payout.handle.signal('approve', { by: 'alice' });
  expect(await whenOver(payout)).toBe('completed');
  const everything = await readEverything(payout);
  expect(everything.includes(`"payoutId":"${payout.id}"`)).toBe(true);
  expect(findSecrets(payout, everything)).toEqual([]);
});

test('nor do the failures of the database on its way', async () => {
  const payout = await createPayoutCase(world, { request: PERSONAL });
  await refuseProcessingEvents();
  await payout.handle.signal('approve', { by: 'alice' });
  const whileFailing = await waitFor('the failure', async () => {
    const everything = await readEverything(payout);
    return everything.includes('the disk is full') ? everything : undefined;
  });
  expect(findSecrets(payout, whileFailing)).toEqual([]);
  await world.db.query('DROP TRIGGER refuse_processing ON events');
  expect(await whenOver(payout)).toBe('completed');
  const everything = await readEverything(payout);
  expect(everything.includes('the disk is full')).toBe(true);
  expect(findSecrets(payout, everything)).toEqual([]);
});

/** The insert that fails has the event's whole body among its values. */
async function refuseProcessingEvents(): Promise<void> {
  await world.db.query(
    `CREATE FUNCTION refuse_event() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       RAISE EXCEPTION 'the disk is full';
     END $$`,
  );
  await world.db.query(
    `CREATE TRIGGER refuse_processing BEFORE INSERT ON events FOR EACH ROW
       WHEN (new.type = 'payout.processing') EXECUTE FUNCTION refuse_event()`,
  );
}
