/** The branches whose histories are kept under test/fixtures/histories, and how to make each. */
import { insertDecision } from '../../../src/db/payouts/payout-decisions';
import { requireService } from '../../../src/db/screening/screening';
import { amount } from '../../../src/domain/money';
import { newId } from '../../../src/platform/lib/new-id';
import { makeUser } from '../../support/merchant/page-client';
import { BRANCHES, startBranch } from '../../support/payout/payout-branches';
import {
  createPayoutCase,
  type PayoutCase,
  whenDetails,
  whenPayoutRow,
} from '../../support/payout/payout-case';
import type { WorkflowWorld } from '../../support/servers/workflow-world';

export interface HistoryBranch {
  name: string;
  /** The workflow has not ended when its history is taken; else it ends by itself. */
  staysOpen?: boolean;
  start: (world: WorkflowWorld) => Promise<PayoutCase>;
}

const REPLAYED_SIGNALS = [
  ['approve', 42],
  ['reject', 'no'],
  ['aprove'],
  ['providerUpdate'],
] as const;

const MORE: readonly HistoryBranch[] = [
  {
    name: 'screened-before-the-approval',
    start: async (world) => {
      await requireService(world.db);
      const payout = await createPayoutCase(world);
      await payout.handle.signal('approve', { by: 'alice' });
      return payout;
    },
  },
  {
    name: 'approved-by-two-operators',
    start: async (world) => {
      await world.db.query(
        `INSERT INTO four_eyes_thresholds VALUES ('USDT', 500) ON CONFLICT DO NOTHING`,
      );
      const payout = await createPayoutCase(world, { request: { amount: amount('600') } });
      await payout.handle.signal('approve', { by: 'alice' });
      for (const role of ['reviewer', 'admin']) {
        const { id: userId } = await makeUser(world.db, 'operator', role);
        const id = newId('decision');
        const decision = {
          id,
          payoutId: payout.id,
          kind: 'approve',
          userId,
          reason: null,
        } as const;
        await insertDecision(world.db, decision);
        await payout.handle.executeUpdate('decide', { args: [id] as [unknown], updateId: id });
      }
      return payout;
    },
  },
  {
    name: 'held-then-rejected',
    start: async (world) => {
      const payout = await createPayoutCase(world);
      await world.db.query(
        `INSERT INTO payout_pauses (scope, target, reason) VALUES ('account', ?, 'audit')`,
        [payout.caller.accountId],
      );
      await payout.handle.signal('approve', { by: 'alice' });
      await whenDetails(payout, /paused: audit/);
      await payout.handle.signal('reject', { by: 'bob' });
      return payout;
    },
  },
  {
    name: 'mistyped-signals',
    start: async (world) => {
      const payout = await createPayoutCase(world);
      for (const [name, ...args] of REPLAYED_SIGNALS) await payout.handle.signal(name, ...args);
      await whenDetails(payout, /`aprove` was ignored/);
      await payout.handle.signal('approve');
      return payout;
    },
  },
  {
    name: 'cancellation-requested',
    start: async (world) => {
      const payout = await createPayoutCase(world);
      await payout.handle.cancel();
      await whenDetails(payout, /A cancellation request was ignored/);
      await payout.handle.signal('approve', { by: 'alice' });
      return payout;
    },
  },
  {
    name: 'escalated',
    start: async (world) => {
      const payout = await createPayoutCase(world, { scenario: 'callback_lost' });
      await payout.handle.signal('approve', { by: 'alice' });
      await whenPayoutRow(world, payout, 'processing', ({ status }) => status === 'processing');
      await world.db.query(
        `UPDATE payouts SET processing_since = now() - interval '16 minutes' WHERE id = ?`,
        [payout.id],
      );
      return payout;
    },
  },
];

export const HISTORY_BRANCHES: readonly HistoryBranch[] = [
  ...BRANCHES.map((branch) => ({
    name: branch.name,
    start: (world: WorkflowWorld) => startBranch(world, branch),
  })),
  ...MORE,
];
