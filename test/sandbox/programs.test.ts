/** Two programs beside each other (docs/onchain-provider.md, "Several programs"): each network's orders are at its own. */
import { randomBytes } from 'node:crypto';
import type { Provider } from '../../src/adapters/providers/port';
import { createProviders, type ProviderRegistry } from '../../src/adapters/providers/registry';
import { networkPrograms } from '../../src/platform/settings/setting-kinds';
import { startSandbox } from '../../src/rails/sandbox/server';
import { signOnchain } from '../support/servers/provider-callbacks';
import {
  buildCheckout,
  buildOrder,
  connectProviders,
  makeCredentials,
  type Outage,
  readBook,
  readCheckoutEntry,
  setOutage,
} from '../support/servers/sandbox';
import { started } from '../support/started';

const EVM = '0x52908400098527886E0F7030069857D2E4169EE7';
/** More than a page. */
const MANY = 205;

/** `main` serves what `tron` does not. */
async function startPrograms() {
  const [mainKeys, tronKeys] = [makeCredentials(), makeCredentials()];
  const start = (credentials: typeof mainKeys) =>
    startSandbox({ callbackBaseUrl: null, settleMs: 10, credentials });
  const [main, tron] = await Promise.all([start(mainKeys), start(tronKeys)]);
  const keys = { main: mainKeys.onchain_provider.test!, tron: tronKeys.onchain_provider.test! };
  const { host } = new URL(tron.onchainUrl);
  const secrets = `${keys.tron.apiKey}:${keys.tron.callbackSecret}`;
  const both = createProviders({
    onchain_provider: {
      test: {
        ...{ ...keys.main, baseUrl: main.onchainUrl, timeoutMs: 2_000 },
        programs: networkPrograms.parse(`tron=http://${secrets}@${host}/onchain/`),
      },
      live: null,
    },
    exchange_pay: { test: null, live: null },
  });
  /** As before the second program was named. */
  const before = connectProviders(main, mainKeys);
  return {
    ...{ main, tron, keys, both, before },
    stop: () =>
      Promise.all([both.close(), before.close(), main.stop(), tron.stop()]).then(() => undefined),
  };
}

const world = started(startPrograms);
const of = (registry: ProviderRegistry): Provider => registry.get('onchain_provider', 'test');
const onTron = () => buildOrder('onchain_provider');
const onEthereum = () =>
  buildOrder('onchain_provider', {
    network: 'ethereum',
    destination: { type: 'crypto_address', value: EVM, memo: null },
  });
const booked = async ({ url }: { url: string }, reference: string) =>
  (await readBook(url)).transfers.some((one) => one.client_reference === reference);
const outage = (sandbox: { url: string }, kind: Outage) =>
  setOutage({ sandbox }, 'onchain_provider', 'test', kind);

test('payouts, and refunds, which are payouts, are at the program of their network', async () => {
  const [tron, ethereum] = [onTron(), onEthereum()];
  for (const order of [tron, ethereum]) {
    expect(await of(world.both).submitPayout(order)).toMatchObject({ kind: 'accepted' });
    expect(await of(world.both).findPayout(order.reference, order.network)).toMatchObject({
      kind: 'found',
    });
  }
  expect(await booked(world.tron, tron.reference)).toBe(true);
  expect(await booked(world.main, tron.reference)).toBe(false);
  expect(await booked(world.main, ethereum.reference)).toBe(true);
  expect(await booked(world.tron, ethereum.reference)).toBe(false);
});

test('payments are at the program of their network', async () => {
  const tron = buildCheckout('onchain_provider');
  const ethereum = buildCheckout('onchain_provider', { network: 'ethereum' });
  for (const order of [tron, ethereum]) {
    expect(await of(world.both).openCheckout(order)).toMatchObject({ kind: 'found' });
  }
  expect(await readCheckoutEntry(world.tron.url, tron.reference)).toBeDefined();
  expect(await readCheckoutEntry(world.main.url, tron.reference)).toBeUndefined();
  expect(await readCheckoutEntry(world.main.url, ethereum.reference)).toBeDefined();
  for (const { reference, network } of [tron, ethereum]) {
    expect(await of(world.both).findCheckout(reference, network)).toMatchObject({ kind: 'found' });
    // A checkout that has no payment is cancelled without its network.
    expect(await of(world.both).cancelCheckout(reference)).toMatchObject({
      checkout: { state: 'cancelled' },
    });
  }
});

test('the fee of a network is asked of its program, and one that is down stops no other network', async () => {
  await outage(world.tron, 'answer_503');
  try {
    const fee = (network: string) => of(world.both).estimateNetworkFee('USDT', network);
    expect(await fee('ethereum')).toMatchObject({ kind: 'estimate' });
    expect(await fee('tron')).toMatchObject({ kind: 'unknown' });
    expect(await of(world.both).submitPayout(onEthereum())).toMatchObject({ kind: 'accepted' });
    expect(await of(world.both).submitPayout(onTron())).toMatchObject({ kind: 'unknown' });
  } finally {
    await outage(world.tron, null);
  }
});

test('an order is found at the program that its network had before, so that it is not sent again', async () => {
  const [earlier, never] = [onTron(), onTron()];
  expect(await of(world.before).submitPayout(earlier)).toMatchObject({ kind: 'accepted' });
  const find = ({ reference }: { reference: string }) =>
    of(world.both).findPayout(reference, 'tron');
  expect(await find(earlier)).toMatchObject({ kind: 'found' });
  expect(await find(never)).toEqual({ kind: 'not_found' });
  await outage(world.main, 'answer_503');
  try {
    // It may have the order.
    expect(await find(never)).toMatchObject({ kind: 'unknown' });
  } finally {
    await outage(world.main, null);
  }
});

test('a statement lists the orders of both, and says how far it is with the one that has more', async () => {
  const provider = of(world.both);
  const many = Array.from({ length: MANY }, onEthereum);
  for (const order of many) await provider.submitPayout(order);
  const last = onTron();
  await provider.submitPayout(last);
  const references: string[] = [];
  const ends: (Date | null)[] = [];
  let cursor: string | null = null;
  do {
    const page = await provider.listPayouts({ changedFrom: null, cursor });
    if (page.kind !== 'page') throw new Error(page.reason);
    references.push(...page.entries.map(({ entry }) => entry.reference));
    ends.push(page.changedUntil);
    const newest = page.entries.map(({ changedAt }) => changedAt.getTime());
    if (page.cursor !== null) {
      expect(page.changedUntil!.getTime()).toBeLessThan(Math.max(...newest));
    }
    cursor = page.cursor;
  } while (cursor !== null);
  expect(ends.length).toBeGreaterThan(1);
  expect(references).toEqual(
    expect.arrayContaining([...many, last].map(({ reference }) => reference)),
  );
  await outage(world.tron, 'answer_503');
  const page = await provider.listPayouts({ changedFrom: null, cursor: null });
  await outage(world.tron, null);
  expect(page.kind).toBe('unknown');
});

test('a callback of either program is believed, and one with another secret is not', () => {
  const data = { object: 'transfer', client_reference: 'po_1' };
  const read = (secret: string) => {
    const { headers, body } = signOnchain({ type: 'transfer.updated', data }, secret, Date.now());
    const signature = headers['Onchain-Signature'];
    return of(world.both).readCallback({ 'onchain-signature': signature }, Buffer.from(body));
  };
  const hint = { object: 'payout', reference: 'po_1' };
  expect(read(world.keys.main.callbackSecret)).toEqual(hint);
  expect(read(world.keys.tron.callbackSecret)).toEqual(hint);
  expect(read(randomBytes(24).toString('hex'))).toBeNull();
});
