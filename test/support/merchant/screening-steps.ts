/** Steps that the tests of the screening over HTTP share. */
import { importList } from '../../../src/features/screening/screening';
import { WORKFLOWS } from '../../../workflows/names';
import { buildRecipient, type MerchantClient } from './merchant-client';
import type { TestGateway } from '../servers/gateway';
import { waitThroughFaults } from '../wait-for';
import { openMerchant, type Opened } from '../payout/payout-steps';

export const toAddress = (value: string) => ({ destination: { type: 'crypto_address', value } });

/** A merchant whose live recipients wait for their screening alone. */
export async function openWithoutWait(gateway: Opened) {
  const merchant = await openMerchant(gateway);
  const noWait = 'UPDATE accounts SET recipient_wait_hours = 0 WHERE id = ?';
  await gateway.db.query(noWait, [merchant.accountId]);
  return merchant;
}

export async function recipientAt(client: MerchantClient, address: string): Promise<string> {
  const { status, json } = await client.createRecipient(buildRecipient(toAddress(address)));
  expect(status).toBe(201);
  return json.data.id;
}

/** For tests that run the schedule's workflow themselves, with `askAboutRecipients`. */
export async function pauseSchedule(gateway: TestGateway): Promise<void> {
  await waitThroughFaults('the schedule', async () => {
    await gateway.temporal.schedule.getHandle('screen-recipients').pause();
    return true;
  });
}

/** One run of the schedule. */
export async function askAboutRecipients(gateway: TestGateway): Promise<void> {
  await gateway.temporal.workflow.execute(WORKFLOWS.screenRecipients, {
    taskQueue: 'payouts',
    workflowId: `screen-recipients-${Math.random()}`,
  });
}

export async function screeningOf(gateway: Pick<Opened, 'db'>, id: string): Promise<string | null> {
  const sql = 'SELECT screening FROM recipients WHERE id = ?';
  return (await gateway.db.query<{ screening: string | null }>(sql, [id]))[0]!.screening;
}

export const casesOf = (gateway: Pick<Opened, 'db'>, id: string) =>
  gateway.db.query<{ kind: string; details: unknown; resolution: string | null }>(
    'SELECT kind, details, resolution FROM cases WHERE object_id = ? ORDER BY created_at',
    [id],
  );

const BY = { actor: 'olga@example.com', reason: 'the new list', via: 'console' } as const;

/** A list with these addresses in place of its earlier ones. */
export const list = (
  gateway: Pick<Opened, 'db'>,
  name: string,
  verdict: 'review' | 'block',
  ...addresses: string[]
) => {
  const text = addresses.map((address) => `${address} # mixer\n`).join('');
  return importList(gateway.db, BY, { name, verdict, format: 'addresses', text });
};
