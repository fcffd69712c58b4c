/** The limits of a payout's members (the specification, "Limits"): what meets one, what passes it. */
import { buildPayout, randomKey } from '../../support/merchant/merchant-client';
import { openMerchant } from '../../support/payout/payout-steps';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(sharedInRoom('direct', startDirectGateway));

type Change = Record<string, unknown>;

/** The rule that each change breaks, or "accepted". */
async function told(changes: Change[]): Promise<string[]> {
  const { client } = await openMerchant(gateway);
  const found: string[] = [];
  for (const body of changes) {
    const { status, json } = await client.createPayout(buildPayout(body));
    const fields = (json.error?.details?.fields ?? []) as { field: string; rule: string }[];
    const rules = fields.map(({ field, rule }) => `${field} ${rule}`).join();
    found.push(status === 201 ? 'accepted' : `${status} ${rules}`);
  }
  return found;
}

test('a reference has 1 to 64 letters, digits, _ and - [limit reference]', async () => {
  const fits = randomKey() + 'aZ09_-'.repeat(11).slice(0, 40);
  expect(fits).toHaveLength(64);
  expect(
    await told(['', 'x', fits, `${fits}x`, 'a b', 'a.b', 'é'].map((reference) => ({ reference }))),
  ).toEqual([
    '422 reference too_short',
    'accepted',
    'accepted',
    '422 reference too_long',
    ...Array<string>(3).fill('422 reference format'),
  ]);
});

test('a memo has up to 64 characters [limit destination.memo]', async () => {
  const xrp = { type: 'crypto_address', value: 'rsvUd9swLeZMiRtm3R8vhWu5xLPFx3MiXn' };
  const withMemo = (memo: string) => ({
    currency: 'XRP',
    network: 'xrpl',
    destination: { ...xrp, memo },
  });
  // No network of the catalogue takes 64: there the network's own rule is what refuses it.
  expect(await told([withMemo('7'.repeat(64)), withMemo('7'.repeat(65))])).toEqual([
    '422 destination.memo format',
    '422 destination.memo too_long',
  ]);
});

test('a description has up to 255 characters [limit description]', async () => {
  const descriptions = ['💶'.repeat(255), '💶'.repeat(256)];
  expect(await told(descriptions.map((description) => ({ description })))).toEqual([
    'accepted',
    '422 description too_long',
  ]);
});

test('metadata has up to 20 members, each a string [limit metadata]', async () => {
  const members = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`member${index}`, 'x']));
  const all = [members(20), members(21), { a: 1 }, { a: null }, { a: { b: 'x' } }];
  expect(await told(all.map((metadata) => ({ metadata })))).toEqual([
    'accepted',
    '422 metadata too_long',
    ...Array<string>(3).fill('422 metadata.a type'),
  ]);
});
