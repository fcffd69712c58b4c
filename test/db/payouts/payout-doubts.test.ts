/**
 * A provider refuses a payout after a doubt. An earlier submission may have reached it in between, so
 * it is asked once more. Played through the activity over a real database and the sandbox.
 */
import { submitPayout } from '../../../activities/payout/provider';
import type { Deps } from '../../../activities/deps';
import { post, type BalanceKey } from '../../../src/db/ledger/ledger';
import { getPayout } from '../../../src/db/payouts/payouts';
import { reservePosting } from '../../../src/domain/ledger';
import { amount } from '../../../src/domain/money';
import type { Provider, ProviderTransfer } from '../../../src/adapters/providers/port';
import { magicAddress } from '../../../src/rails/sandbox/transfers/scenarios';
import { isSound } from '../../support/servers/gateway';
import { buildPayoutMoney, fundedBalance, insertPayout } from '../../support/merchant/ledger';
import { startPaymentWorld } from '../payment-world';
import { started } from '../../support/started';

const world = started(startPaymentWorld, isSound);

/** Approved, its funds reserved; handed over an hour ago, or never. */
async function approvedPayout(wasSubmitted: boolean): Promise<{ id: string; key: BalanceKey }> {
  const key = await fundedBalance(world.db, '100');
  const payout = buildPayoutMoney('10');
  const hourAgo = new Date(Date.now() - 3_600_000);
  await world.db.transaction(async (tx) => {
    await insertPayout(tx, key, payout, 'approved', {
      destination_value: magicAddress('sends', 'evm'),
      ...(wasSubmitted ? { submission_started_at: hourAgo, in_doubt_since: hourAgo } : {}),
    });
    await post(tx, key, reservePosting(payout));
  });
  return { id: payout.id, key };
}

/** The sandbox, with what goes wrong on the way to it. */
function withProvider(key: BalanceKey, change: (real: Provider) => Partial<Provider>): Deps {
  const real = world.providers.get('onchain_provider', key.mode);
  const provider: Provider = { ...real, ...change(real) };
  return { ...world, providers: { ...world.providers, get: () => provider } };
}

const REFUSED = { kind: 'refused', reason: 'The order came too late.' } as const;

async function reservedOf({ accountId, mode, currency }: BalanceKey): Promise<string | undefined> {
  const sql = 'SELECT reserved FROM balances WHERE account_id = ? AND mode = ? AND currency = ?';
  const [balance] = await world.db.query<{ reserved: string }>(sql, [accountId, mode, currency]);
  return balance?.reserved;
}

test.each([
  ['did not know it when it was asked', false],
  ['answered 429', true],
])(
  'an earlier submission that arrives late is found, and its funds stay reserved: the provider %s',
  async (_, wasUntaken) => {
    const { id, key } = await approvedPayout(true);
    const deps = withProvider(key, (real) => ({
      submitPayout: async (order) => {
        // The request of an hour ago, which the network had held.
        expect((await real.submitPayout(order)).kind).toBe('accepted');
        return REFUSED;
      },
    }));
    await submitPayout(deps, id, wasUntaken);
    expect((await getPayout(world.db, id)).status).toBe('processing');
    expect(await reservedOf(key)).toBe('10.00000000');
  },
);

test.each([
  ['another amount', { amount: amount('10.00000001') }],
  ['another currency', { currency: 'USDC' }],
])('%s at the provider settles nothing', async (_, other) => {
  const { id, key } = await approvedPayout(true);
  const { amount: own, currency } = await getPayout(world.db, id);
  const transfer: ProviderTransfer = {
    providerId: 'tr_1',
    reference: id,
    status: 'sent',
    amount: own,
    currency,
    txHash: '0x1',
    failureReason: null,
    ...other,
  };
  const deps = withProvider(key, () => ({
    findPayout: () => Promise.resolve({ kind: 'found', transfer }),
  }));
  await submitPayout(deps, id, false);
  expect((await getPayout(world.db, id)).status).toBe('approved');
  expect(await reservedOf(key)).toBe('10.00000000');
  const cases = await world.db.query('SELECT kind FROM cases WHERE object_id = ?', [id]);
  expect(cases).toEqual([{ kind: 'transfer_mismatch' }]);
});

test.each([
  ['does not answer', { kind: 'unknown', reason: 'No answer.' }],
  ['asks to wait', { kind: 'limited', reason: 'Too many.', retryAfterMs: 1_000 }],
] as const)('a refusal after a doubt releases nothing while the provider %s', async (_, answer) => {
  const { id, key } = await approvedPayout(true);
  const answers = [{ kind: 'not_found' } as const, answer];
  const deps = withProvider(key, () => ({
    findPayout: () => Promise.resolve(answers.shift()!),
    submitPayout: () => Promise.resolve(REFUSED),
  }));
  expect((await submitPayout(deps, id, false)).wait).not.toBeNull();
  expect((await getPayout(world.db, id)).status).toBe('approved');
  expect(await reservedOf(key)).toBe('10.00000000');
});

test.each([true, false])(
  'a refusal releases the funds when the provider has nothing (submitted before: %s)',
  async (wasSubmitted) => {
    const { id, key } = await approvedPayout(wasSubmitted);
    let asked = 0;
    const deps = withProvider(key, (real) => ({
      findPayout: (reference) => {
        asked += 1;
        return real.findPayout(reference);
      },
      submitPayout: () => Promise.resolve(REFUSED),
    }));
    await submitPayout(deps, id, false);
    const { status, failureReason } = await getPayout(world.db, id);
    expect({ status, failureReason }).toEqual({ status: 'failed', failureReason: REFUSED.reason });
    expect(await reservedOf(key)).toBe('0.00000000');
    // A first submission that is refused needs no question.
    expect(asked).toBe(wasSubmitted ? 2 : 0);
  },
);
