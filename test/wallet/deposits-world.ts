/**
 * A wallet on a chain and a database of its own, as the gateway's adapter and a customer see it. The
 * followers take their steps when a test says so, or by themselves.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Address, getAddress } from 'viem';
import { amount as toAmount } from '../../src/domain/money';
import type { Checkout, CheckoutOrder, CheckoutResult } from '../../src/adapters/providers/port';
import { createAlarms } from '../../src/rails/wallet/alarms';
import { createChain } from '../../src/rails/wallet/chain/chain';
import { screenPending, type Screen } from '../../src/rails/wallet/checkouts/screening';
import { type CheckoutFacts, listEntries } from '../../src/rails/wallet/checkouts/checkout';
import type { CheckoutOrder as StepOrder } from '../../src/rails/onchain-api/requests';
import { type CheckoutParts, openCheckout } from '../../src/rails/wallet/checkouts/steps';
import { findCheckoutById } from '../../src/rails/wallet/checkouts/store';
import { Database } from '../../src/rails/wallet/db/database';
import type { WalletConfig } from '../../src/rails/wallet/config';
import { Follower } from '../../src/rails/wallet/follower/follower';
import type { Patience } from '../../src/rails/wallet/follower/progress';
import { WatchList } from '../../src/rails/wallet/follower/watch-list';
import type { Network } from '../../src/rails/wallet/networks';
import { openXpub } from '../../src/rails/wallet/addresses/deposit-addresses';
import type { TestChain, TestToken } from '../support/wallet/chain';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import { DEPOSIT_ACCOUNT, testNetwork } from '../support/wallet/wallet';

let orders = 0;

export function buildOrder(changes: Partial<CheckoutOrder> = {}): CheckoutOrder {
  orders += 1;
  return {
    reference: `pay_${String(Date.now())}_${String(orders)}`,
    ...{ amount: toAmount('25.5'), currency: 'USDC', network: 'ethereum' },
    expiresAt: new Date(Date.now() + 3_600_000),
    ...{ successUrl: null, cancelUrl: null, description: null, scenario: null },
    ...changes,
  };
}

/** @throws when the provider did not answer with a checkout */
export function foundCheckout(result: CheckoutResult): Checkout {
  if (result.kind === 'found') return result.checkout;
  throw new Error(`no checkout: ${JSON.stringify(result)}`);
}

export interface Gateway {
  url: string;
  received: { headers: Record<string, string | string[] | undefined>; body: Buffer }[];
  close: () => Promise<void>;
}

/** Takes callbacks and keeps them. */
export async function startCallbackReceiver(): Promise<Gateway> {
  const received: Gateway['received'] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers, body: Buffer.from(body) });
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url,
    received,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Follower and screening without a clock: `follow` reads until there is nothing more. */
export interface DepositsWorld {
  chain: TestChain;
  database: WalletDatabase;
  db: Database;
  network: Network;
  parts: CheckoutParts;
  follower: Follower;
  logged: { level: string; message: string; fields?: Record<string, unknown> }[];
  follow: () => Promise<void>;
  screenWith: (screen: Screen | null) => void;
  /** A second follower, as after a restart. */
  restart: () => void;
  close: () => Promise<void>;
}

export async function createDepositsWorld(
  chain: TestChain,
  changes: Partial<Omit<Network, 'payouts'>> = {},
  patience: Patience & { doubtAfterMs?: number } = {},
): Promise<DepositsWorld> {
  const database = await createWalletDatabase();
  const db = new Database(database.url);
  const network = testNetwork(chain, changes);
  const logged: DepositsWorld['logged'] = [];
  const log: WalletConfig['log'] = (level, message, fields) => {
    logged.push({ level, message, ...(fields === undefined ? {} : { fields }) });
  };
  const pageUrl = (id: string) => `http://wallet.test/checkout/${id}`;
  const test = openXpub(DEPOSIT_ACCOUNT.publicExtendedKey, 'the xpub');
  const addresses = { test, live: null };
  const parts: CheckoutParts = { db, networks: [network], addresses, pageUrl };
  let screen: Screen | null = null;
  const startFollower = (): Follower => {
    const walletChain = createChain(network);
    const alarms = createAlarms(db, walletChain, log);
    return new Follower({
      ...{ chain: walletChain, chainId: network.chainId, rules: network.deposits, db, alarms, log },
      ...{ watched: new WatchList(db, 'test'), pageUrl, balancesEveryMs: 0 },
      ...patience,
    });
  };
  const world: DepositsWorld = {
    ...{ chain, database, db, network, parts, logged },
    follower: startFollower(),
    follow: async () => {
      // Read, screen, and confirm what the screening released.
      for (let round = 0; round < 2; round += 1) {
        while ((await world.follower.step()) === 'more');
        while ((await screenPending({ db, screen, pageUrl, log })) === 'more');
      }
      while ((await world.follower.step()) === 'more');
    },
    screenWith: (next) => {
      screen = next;
    },
    restart: () => {
      world.follower = startFollower();
    },
    close: async () => {
      await db.destroy();
      await database.drop();
    },
  };
  await world.follow();
  return world;
}

/** Somebody who pays, who is neither the shop nor the deployer. */
export async function pay(
  chain: TestChain,
  token: TestToken | null,
  to: Address,
  units: bigint,
): Promise<string> {
  const payer = chain.accounts[5]!;
  if (token === null) return chain.send(to, units, payer);
  await chain.mint(token, payer, units);
  return chain.transferToken(token, payer, to, units);
}

/** A checkout, opened as the API does it. */
export async function openTestCheckout(
  { parts }: DepositsWorld,
  changes: Partial<StepOrder> = {},
): Promise<{ id: string; address: Address }> {
  orders += 1;
  const opening = await openCheckout(parts, {
    ...{ mode: 'test', reference: `ref_${String(orders)}`, network: 'ethereum', asset: 'USDC' },
    ...{ amount: toAmount('10'), expiresAt: new Date(Date.now() + 3_600_000) },
    ...{ successUrl: null, cancelUrl: null, description: null, scenario: null },
    ...changes,
  });
  if (opening.kind === 'refused') throw new Error(opening.reason);
  const { id, address } = opening.facts.checkout;
  return { id, address: getAddress(address) };
}

/** What the gateway sees of a checkout: `amount state` of each entry, in a stable order. */
export async function entriesOf({ db }: DepositsWorld, id: string): Promise<string[]> {
  const facts = await factsOf(db, id);
  return listEntries(facts).map(({ amount, state }) => `${amount.replace(/0+$/, '')} ${state}`);
}

export async function factsOf(db: Database, id: string): Promise<CheckoutFacts> {
  const facts = await findCheckoutById(db, id);
  if (facts === null) throw new Error(`no checkout ${id}`);
  return facts;
}

const POLL_MS = 50;
const PATIENCE_MS = 30_000;

/** What `look` finds, once it is not null. */
export async function when<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    const seen = await look();
    if (seen !== null) return seen;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`waited in vain for ${what}`);
}
