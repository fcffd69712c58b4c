/**
 * Live payouts that are each brought to one step of their way and are then interrupted. Each
 * belongs to a merchant of its own, so that a transaction held at its commit holds up no other.
 */
import type { ScenarioName } from '../../src/rails/sandbox/transfers/scenarios';
import { SCENARIOS } from '../../src/rails/sandbox/transfers/scenarios';
import { control, readBook } from '../support/servers/sandbox';
import type { CommitGate, GatePoint } from './commit-gate';
import type { TestGateway } from '../support/servers/gateway';
import { createMerchant, fund, FUNDS } from '../support/merchant/merchant';
import { buildPayout, type ApiAnswer } from '../support/merchant/merchant-client';
import { PatientClient } from '../support/merchant/patient-client';
import { payoutStatus, whenStatus } from './payout-status';
import { waitThroughFaults } from '../support/wait-for';

interface Step {
  name: string;
  scenario?: ScenarioName;
  /** What is committed while nobody learns of it. */
  hold?: GatePoint;
  /** What happens to it before the interruption, but for an approval. */
  act?: 'reject' | 'cancel' | 'none';
  /** Where it stands when the interruption comes; a held one waits at the gate instead. */
  arrives?: 'under_review' | 'processing' | 'signalled' | 'submitted';
  /** What it needs afterwards to go on. */
  after?: 'approve' | 'settle';
  ends: 'completed' | 'failed' | 'rejected' | 'cancelled';
}

export const STEPS: readonly Step[] = [
  { name: 'reserving', hold: 'under_review', act: 'none', after: 'approve', ends: 'completed' },
  {
    name: 'waiting for an operator',
    act: 'none',
    arrives: 'under_review',
    after: 'approve',
    ends: 'completed',
  },
  { name: 'just signalled to approve', arrives: 'signalled', ends: 'completed' },
  { name: 'being approved', hold: 'approved', ends: 'completed' },
  { name: 'being rejected', hold: 'rejected', act: 'reject', ends: 'rejected' },
  { name: 'being cancelled', hold: 'cancelled', act: 'cancel', ends: 'cancelled' },
  { name: 'about to be submitted', hold: 'submitting', ends: 'completed' },
  {
    name: 'submitted and taken, without an answer',
    scenario: 'timeout_after_accept',
    arrives: 'submitted',
    ends: 'completed',
  },
  {
    name: 'submitted and not taken, without an answer',
    scenario: 'timeout_before_accept',
    arrives: 'submitted',
    ends: 'completed',
  },
  { name: 'being accepted', hold: 'processing', ends: 'completed' },
  {
    name: 'with the provider',
    scenario: 'never_settles',
    arrives: 'processing',
    after: 'settle',
    ends: 'completed',
  },
  { name: 'being completed', hold: 'completed', ends: 'completed' },
  { name: 'failing', scenario: 'fails_later', hold: 'failed', ends: 'failed' },
  { name: 'being refused', scenario: 'refuses', hold: 'failed', ends: 'failed' },
];

export interface Interrupted extends Step {
  client: PatientClient;
  accountId: string;
  /** Resolves when the merchant's own request has its answer. */
  id: Promise<string>;
  cancelled?: Promise<ApiAnswer>;
}

/** Brings a payout to every step; resolves when all of them are there. */
export async function bringToSteps(
  gateway: TestGateway,
  gate: CommitGate,
): Promise<readonly Interrupted[]> {
  const all = await Promise.all(STEPS.map((step) => bringTo(gateway, gate, step)));
  await gate.whenHeld(STEPS.filter(({ hold }) => hold !== undefined).length);
  const last = all.filter(({ arrives }) => arrives === 'signalled');
  await Promise.all(last.map(async ({ id }) => signal(gateway, await id, 'approve')));
  return all;
}

async function bringTo(gateway: TestGateway, gate: CommitGate, step: Step): Promise<Interrupted> {
  const merchant = await createMerchant(gateway.db, gateway.pepper);
  const { accountId, liveKey } = merchant;
  await fund(gateway.db, accountId, 'live', 'USDT', FUNDS);
  const client = new PatientClient(gateway.baseUrl, liveKey);
  const body = buildPayout({ amount: `10.0000${SCENARIOS[step.scenario ?? 'sends'].code}` });
  if (step.hold !== undefined) await gate.hold(String(body['reference']), step.hold);
  const id = client.createPayout(body).then((created) => created.id);
  const interrupted: Interrupted = { ...step, client, accountId, id };
  if (step.hold === 'under_review') return interrupted;

  if (step.act === 'cancel') interrupted.cancelled = client.cancelPayout(await id);
  if (step.act === 'reject') await signal(gateway, await id, 'reject');
  if (step.act === undefined && step.arrives !== 'signalled') {
    await signal(gateway, await id, 'approve');
  }
  await arrive(gateway, step, await id);
  return interrupted;
}

async function arrive(gateway: TestGateway, { arrives }: Step, id: string): Promise<void> {
  if (arrives === 'processing') await whenStatus(gateway.db, id, 'processing');
  if (arrives !== 'submitted') return;
  await waitThroughFaults(`the submission of ${id}`, async () => {
    const { transfers, unaccepted } = await readBook(gateway.sandbox.url);
    return [...transfers, ...unaccepted].find(({ client_reference }) => client_reference === id);
  });
}

/** What an operator and the provider do when everything runs again. */
export async function carryOn(gateway: TestGateway, interrupted: Interrupted): Promise<void> {
  const id = await interrupted.id;
  if (interrupted.after === 'approve') {
    await whenStatus(gateway.db, id, 'under_review');
    await signal(gateway, id, 'approve');
  }
  if (interrupted.after === 'settle') {
    const transfer = { provider: 'onchain_provider', mode: 'live', client_reference: id };
    await control(gateway.sandbox.url, 'transfers/settle', transfer);
  }
}

/** Where the payouts stand, by the name of their step. */
export async function statuses(
  gateway: TestGateway,
  all: readonly Interrupted[],
): Promise<Record<string, string | undefined>> {
  const found = all.map(async ({ name, id }) => [name, await payoutStatus(gateway.db, await id)]);
  return Object.fromEntries(await Promise.all(found));
}

export async function countPayouts(gateway: TestGateway): Promise<number> {
  const [row] = await gateway.db.query<{ n: number }>('SELECT count(*)::int AS n FROM payouts');
  return row?.n ?? 0;
}

async function signal(gateway: TestGateway, id: string, name: string): Promise<void> {
  await gateway.temporal.workflow.getHandle(id).signal(name, { by: 'alice' });
}
