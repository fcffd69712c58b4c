/**
 * GET /balance is what GET /transactions adds up to, always (decisions/money#ledger): read over HTTP while 50
 * writers move money, through the ledger with connections of their own and through the API.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { connect } from '../../../src/db/connect';
import type { Db } from '../../../src/db/transaction';
import { toUnits } from '../../support/amounts';
import {
  brokenInvariants,
  type TestGateway,
  useSharedGateway,
} from '../../support/servers/gateway';
import {
  buildPayoutMoney,
  completePayout,
  fund,
  reservePayout,
} from '../../support/merchant/ledger';
import { createKey } from '../../support/merchant/merchant';
import { buildPayout, MerchantClient } from '../../support/merchant/merchant-client';
import { openMerchant, sendUntilAnswered } from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { walkList } from '../../support/merchant/listed-rows';

const CURRENCIES = ['USDT', 'USDC'] as const;
const BOOKS = ['available', 'reserved'] as const;
const LEDGER_WRITERS = 40;
const API_WRITERS = 10;
const ROUNDS = scaled(3, 60);
const READERS = 2;

let gateway: TestGateway;
let writers: Db;

beforeAll(async () => {
  gateway = await useSharedGateway();
  const { ownerUrl } = gateway.database;
  // They all wait for one row: on a busy machine longer than the application would.
  writers = connect({
    url: ownerUrl,
    size: LEDGER_WRITERS,
    applicationName: 'writers',
    statementTimeoutMs: 120_000,
  });
});

afterAll(async () => {
  await writers.destroy();
  await gateway.stop();
});

/** Money in, money out, and a payout from reservation to settlement. */
async function moveMoney(accountId: string, index: number): Promise<void> {
  const key = { accountId, mode: 'live', currency: CURRENCIES[index % 2]! } as const;
  for (let round = 0; round < ROUNDS; round++) {
    await fund(writers, key, '3.00000001');
    await fund(writers, key, '1', 'out');
    const payout = buildPayoutMoney('1', { service: '0.5', network: '0.25' });
    await reservePayout(writers, key, payout);
    await completePayout(writers, key, payout);
    // Some leave the others alone with the balance for a while.
    await wait((index * 7) % 30);
  }
}

/** Payouts that are made and cancelled. */
async function makePayouts(client: MerchantClient, index: number): Promise<void> {
  for (let round = 0; round < ROUNDS / 3; round++) {
    const body = buildPayout({ amount: '1', currency: CURRENCIES[index % 2] });
    const key = `writer-${index}-${round}`;
    const { json } = await sendUntilAnswered(() => client.createPayout(body, key));
    await sendUntilAnswered(() => client.post(`/payouts/${String(json.data.id)}/cancel`));
  }
}

async function openReader(accountId: string): Promise<MerchantClient> {
  const key = { accountId, mode: 'live' } as const;
  return new MerchantClient(gateway.baseUrl, await createKey(gateway.db, gateway.pepper, key));
}

interface Transaction {
  id: string;
  entries: Record<'balance' | 'direction' | 'amount' | 'balance_after', string>[];
}

const newest = async (client: MerchantClient, currency: string): Promise<Transaction[]> =>
  (await client.get(`/transactions?currency=${currency}&limit=100`)).json.data;

/**
 * What `account` held after each transaction, from the one that was newest before the balance was
 * read to the one that was newest afterwards: the balance has to be one of them. When nothing
 * happened in between there is only one. Empty when the page does not reach back far enough.
 */
function possible(before: Transaction[], after: Transaction[], account: string): string[] {
  const since = after.findIndex(({ id }) => id === before[0]!.id);
  const held = (one: Transaction): string | undefined =>
    one.entries.findLast(({ balance }) => balance === account)?.balance_after;
  if (since < 0) return [];
  const earlier = after.slice(since).map(held).find(Boolean);
  if (earlier === undefined) return [];
  return [earlier, ...after.slice(0, since).flatMap((one) => held(one) ?? [])];
}

async function compare(client: MerchantClient, currency: string): Promise<number> {
  const before = await newest(client, currency);
  const { json } = await client.get('/balance');
  const after = await newest(client, currency);
  const balances = json.balances as Record<string, string>[];
  const balance = balances.find((one) => one['currency'] === currency)!;
  let compared = 0;
  for (const account of BOOKS) {
    const values = possible(before, after, account);
    if (values.length === 0) continue;
    expect(values).toContain(balance[account]);
    compared++;
  }
  return compared;
}

const TIMEOUT_MS = scaled(60_000, 600_000);

test(
  'the balance is the last balance_after while 50 writers move money, without a gap',
  async () => {
    const { accountId, client } = await openMerchant(gateway, {
      funds: { USDT: '1000', USDC: '1000' },
    });
    let writing = true;
    let compared = 0;
    const read = async (): Promise<void> => {
      let reader = client;
      for (let asked = 0; writing; asked++) {
        // A long run asks more often than one key may.
        if (asked % 300 === 0) reader = await openReader(accountId);
        compared += await compare(reader, CURRENCIES[asked % 2]!);
      }
    };
    const writes = Promise.all([
      ...Array.from({ length: LEDGER_WRITERS }, (_, index) => moveMoney(accountId, index)),
      ...Array.from({ length: API_WRITERS }, (_, index) => makePayouts(client, index)),
    ]).finally(() => (writing = false));
    await Promise.all([writes, ...Array.from({ length: READERS }, read)]);
    expect(compared).toBeGreaterThan(0);

    for (const currency of CURRENCIES) {
      // Nothing moves any more: both accounts, for certain.
      expect(await compare(client, currency)).toBe(BOOKS.length);
      const path = `/transactions?currency=${currency}&limit=100`;
      const chain = (await walkList((next) => client.get(next), path)) as Transaction[];
      const held: Record<string, bigint> = { available: 0n, reserved: 0n };
      for (const { balance, direction, amount, balance_after } of chain
        .reverse()
        .flatMap(({ entries }) => entries)) {
        held[balance]! += direction === 'in' ? toUnits(amount) : -toUnits(amount);
        expect(toUnits(balance_after)).toBe(held[balance]);
      }
      const postings = LEDGER_WRITERS * ROUNDS * 4 + API_WRITERS * Math.ceil(ROUNDS / 3) * 2;
      expect(chain).toHaveLength(1 + postings / CURRENCIES.length);
    }
    expect(await brokenInvariants(gateway)).toEqual([]);
  },
  TIMEOUT_MS,
);
