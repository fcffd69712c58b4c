/** One client reference is one transfer, whoever submits it how often and with what. */
import { amount } from '../../../src/domain/money';
import { PROVIDER_CODES, type ProviderCode } from '../../../src/domain/provider-codes';
import type { PayoutOrder } from '../../../src/adapters/providers/port';
import { magicAddress, magicEmail } from '../../../src/rails/sandbox/transfers/scenarios';
import {
  buildOrder,
  readBook,
  readBookEntry,
  startSandboxWorld,
  type SandboxWorld,
} from '../../support/servers/sandbox';
import { waitFor } from '../../support/wait-for';

const AT_ONCE = 20;

let world: SandboxWorld;
beforeAll(async () => {
  world = await startSandboxWorld();
});
afterAll(() => world.stop());

describe.each(PROVIDER_CODES)('%s', (code) => {
  const provider = () => world.patient.get(code, 'test');

  it('makes one transfer of twenty submissions at the same time', async () => {
    const order = buildOrder(code);
    const results = await Promise.all(
      Array.from({ length: AT_ONCE }, () => provider().submitPayout(order)),
    );
    const ids = results.map((one) => (one.kind === 'accepted' ? one.transfer.providerId : one));
    expect(new Set(ids).size).toBe(1);
    const entry = await waitFor('the settlement', async () => {
      const found = await readBookEntry(world.sandbox.url, order.reference);
      return found?.acknowledged_status === 'sent' ? found : undefined;
    });
    expect(entry).toMatchObject({ status: 'sent', submissions: AT_ONCE, times_sent: 1 });
    const about = world.receiver.received.filter((one) => one.rawBody.includes(order.reference));
    expect(about).toHaveLength(1);
  });

  it('makes one transfer of twenty that first meet errors', async () => {
    const order = { ...buildOrder(code), amount: amount('1.00009006') };
    const results = await Promise.all(
      Array.from({ length: AT_ONCE }, () => provider().submitPayout(order)),
    );
    const kinds = results.map((one) => one.kind);
    expect(kinds.filter((kind) => kind === 'unknown')).toHaveLength(2);
    expect(kinds.filter((kind) => kind === 'accepted')).toHaveLength(AT_ONCE - 2);
    const { transfers } = await readBook(world.sandbox.url);
    expect(transfers.filter((one) => one.client_reference === order.reference)).toHaveLength(1);
  });

  it.each(conflictingChanges(code))(
    'leaves in doubt the same reference with another %s',
    async (_what, change) => {
      const order = buildOrder(code);
      expect((await provider().submitPayout(order)).kind).toBe('accepted');
      const conflict = await provider().submitPayout({ ...order, ...change });
      expect(conflict).toEqual({
        kind: 'unknown',
        reason: 'The provider has a different order under this reference.',
      });
      const found = await provider().findPayout(order.reference);
      expect(found).toMatchObject({ kind: 'found', transfer: { amount: order.amount } });
      expect(await readBookEntry(world.sandbox.url, order.reference)).toMatchObject({
        amount: order.amount,
        currency: order.currency,
        submissions: 2,
      });
    },
  );

  it('knows the same order when the amount is written in another way', async () => {
    const order = { ...buildOrder(code), amount: amount('7') };
    const short = { ...order, amount: '7.0' as typeof order.amount };
    expect((await provider().submitPayout(order)).kind).toBe('accepted');
    await provider().submitPayout(short);
    expect(await readBookEntry(world.sandbox.url, order.reference)).toMatchObject({
      submissions: 2,
      amount: '7.00000000',
    });
  });

  it('keeps the books of the two modes apart', async () => {
    const order = buildOrder(code);
    expect((await provider().submitPayout(order)).kind).toBe('accepted');
    const live = world.patient.get(code, 'live');
    expect(await live.findPayout(order.reference)).toEqual({ kind: 'not_found' });
    const other = { ...order, amount: amount('99') };
    expect((await live.submitPayout(other)).kind).toBe('accepted');
    const { transfers } = await readBook(world.sandbox.url, `?provider=${code}&mode=live`);
    expect(transfers.find((one) => one.client_reference === order.reference)).toMatchObject({
      mode: 'live',
      amount: '99.00000000',
    });
  });
});

function conflictingChanges(code: ProviderCode): [string, Partial<PayoutOrder>][] {
  const onchain = code === 'onchain_provider';
  const elsewhere = onchain
    ? { type: 'crypto_address' as const, value: magicAddress('sends', 'tron'), memo: null }
    : { type: 'email' as const, value: magicEmail('sends'), memo: null };
  const changes: [string, Partial<PayoutOrder>][] = [
    ['amount', { amount: amount('10.50000001') }],
    ['currency', { currency: 'USDC' }],
    ['destination', { destination: elsewhere }],
  ];
  if (onchain) changes.push(['network', { network: 'ethereum' }]);
  if (onchain) changes.push(['memo', { destination: { ...elsewhere, memo: '7' } }]);
  return changes;
}
