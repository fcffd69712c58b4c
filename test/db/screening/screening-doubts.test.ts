/**
 * The screening of a payout that was handed to its provider: the provider is asked first, whatever the
 * screening says, and nothing is returned. Played through the activity over a real database and the sandbox.
 */
import { submitPayout } from '../../../activities/payout/provider';
import type { Deps } from '../../../activities/deps';
import { post, type BalanceKey } from '../../../src/db/ledger/ledger';
import { getPayout } from '../../../src/db/payouts/payouts';
import { requireService } from '../../../src/db/screening/screening';
import { reservePosting } from '../../../src/domain/ledger';
import type { Verdict } from '../../../src/domain/screening';
import type { Provider } from '../../../src/adapters/providers/port';
import { magicAddress } from '../../../src/rails/sandbox/transfers/scenarios';
import { createScreeningService } from '../../../src/adapters/screening/service';
import { isSound } from '../../support/servers/gateway';
import { startHttpServer } from '../../support/servers/sandbox';
import { buildPayoutMoney, fundedBalance, insertPayout } from '../../support/merchant/ledger';
import { startPaymentWorld } from '../payment-world';
import { started } from '../../support/started';

const world = started(startPaymentWorld, isSound);

beforeAll(() => requireService(world.db));

/** Approved and handed over an hour ago, its funds reserved. */
async function submittedPayout(): Promise<{ id: string; key: BalanceKey }> {
  const key: BalanceKey = await fundedBalance(world.db, '100', { mode: 'live' });
  const payout = buildPayoutMoney('10');
  const hourAgo = new Date(Date.now() - 3_600_000);
  await world.db.transaction(async (tx) => {
    await insertPayout(tx, key, payout, 'approved', {
      destination_value: magicAddress('sends', 'evm'),
      submission_started_at: hourAgo,
      in_doubt_since: hourAgo,
    });
    await post(tx, key, reservePosting(payout));
  });
  return { id: payout.id, key };
}

/** @param verdict null: the service answers with status 500 @returns the calls, in their order */
async function submitting(
  verdict: Verdict | null,
  id: string,
  turns: readonly boolean[],
): Promise<{ calls: string[]; last: Awaited<ReturnType<typeof submitPayout>> }> {
  const calls: string[] = [];
  const server = await startHttpServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      calls.push('screen');
      const asked = JSON.parse(Buffer.concat(parts).toString()) as Asked;
      const answer = { reference: asked.reference, destination: asked.destination.value, verdict };
      response.writeHead(verdict === null ? 500 : 200).end(JSON.stringify(answer));
    });
  });
  const service = createScreeningService({ url: server.url, apiKey: 'key', timeoutMs: 5_000 });
  const real = world.providers.get('onchain_provider', 'live');
  const provider: Provider = {
    ...real,
    findPayout: (reference) => {
      calls.push('find');
      return real.findPayout(reference);
    },
    submitPayout: (order) => {
      calls.push('submit');
      return real.submitPayout(order);
    },
  };
  const providers = { ...world.providers, get: () => provider };
  const deps: Deps = { ...world, providers, screeningService: service };
  try {
    let last = await submitPayout(deps, id, turns[0] ?? false);
    for (const isUntaken of turns.slice(1)) last = await submitPayout(deps, id, isUntaken);
    return { calls, last };
  } finally {
    await service.close();
    await server.stop();
  }
}

interface Asked {
  reference: string;
  destination: { value: string };
}

async function reservedOf({ accountId, mode, currency }: BalanceKey): Promise<string | undefined> {
  const sql = 'SELECT reserved FROM balances WHERE account_id = ? AND mode = ? AND currency = ?';
  const [balance] = await world.db.query<{ reserved: string }>(sql, [accountId, mode, currency]);
  return balance?.reserved;
}

test('what the provider has is found while the service does not answer', async () => {
  const { id, key } = await submittedPayout();
  const payout = await getPayout(world.db, id);
  await world.providers.get('onchain_provider', 'live').submitPayout({
    ...{ reference: id, amount: payout.amount, currency: key.currency, network: 'ethereum' },
    destination: { type: 'crypto_address', value: payout.destinationValue, memo: null },
  });
  const { calls } = await submitting(null, id, [false]);
  expect((await getPayout(world.db, id)).status).toBe('processing');
  expect(calls).toEqual(['find']);
});

test.each([false, true])(
  'the provider is asked before the screening, and without an answer nothing is sent (429 before: %s)',
  async (isUntaken) => {
    const { id, key } = await submittedPayout();
    const { calls, last } = await submitting(null, id, [isUntaken]);
    expect(calls).toEqual(['find', 'screen']);
    expect(last.wait?.ms).toBeGreaterThan(0);
    expect(await reservedOf(key)).toBe('10.00000000');
  },
);

test('a block after a submission returns nothing and waits for an operator', async () => {
  const { id, key } = await submittedPayout();
  const { calls, last } = await submitting('block', id, [false]);
  expect(last.wait?.why).toMatch(/Waiting for an operator/);
  expect(calls).toEqual(['find', 'screen']);
  expect((await getPayout(world.db, id)).status).toBe('approved');
  expect(await reservedOf(key)).toBe('10.00000000');
});

test('a clear answer lets the next turn ask the provider again, and submit', async () => {
  const { id } = await submittedPayout();
  const { calls } = await submitting('clear', id, [false, false]);
  expect(calls).toEqual(['find', 'screen', 'find', 'submit']);
  expect((await getPayout(world.db, id)).status).toBe('processing');
});
