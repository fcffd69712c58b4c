/** The followers of the chains, and what takes money in: the screening, refunds. */
import { openXpub } from './addresses/deposit-addresses';
import { createAlarms } from './alarms';
import type { Chain } from './chain/chain';
import { screenOverHttp, startScreening } from './checkouts/screening';
import type { CheckoutParts } from './checkouts/steps';
import { type RefundParts, startRefunds } from './checkouts/refunds';
import type { PageUrl } from './checkouts/store';
import type { WalletConfig } from './config';
import type { Database } from './db/database';
import { startFollower } from './follower/follower';
import { WatchList } from './follower/watch-list';
import { type Loop, startLoop } from './loop';
import { SumsCheck } from './sums';

/** Coins that contracts send are looked for with a request for each address, so not with each block. */
const BALANCES_EVERY_MS = 60_000;

/** Asks about the addresses that have changed, and some of the others. */
const SUMS_EVERY_MS = 600_000;

/** @throws SetupError for an extended public key that is none */
export function createCheckoutParts(
  { networks, xpubs }: WalletConfig,
  db: Database,
  pageUrl: PageUrl,
): CheckoutParts {
  const open = (xpub: string | null, variable: string): CheckoutParts['addresses']['test'] =>
    xpub === null ? null : openXpub(xpub, variable);
  return {
    db,
    networks,
    pageUrl,
    addresses: {
      test: open(xpubs.test, 'WALLET_TEST_XPUB'),
      live: open(xpubs.live, 'WALLET_LIVE_XPUB'),
    },
  };
}

/**
 * A network that takes no deposits is followed too: payouts need to know when the chain replaces final
 * blocks. While no address is watched, only headers are read.
 * @returns starts the follower
 */
export function createFollowing(
  { log }: WalletConfig,
  db: Database,
  chain: Chain,
  pageUrl: PageUrl,
  { balancesEveryMs = BALANCES_EVERY_MS } = {},
): () => Loop {
  const { chainId, mode, deposits: rules, pollMs } = chain.network;
  const alarms = createAlarms(db, chain, log);
  return () => {
    // Read again by each process that begins to follow.
    const watched = new WatchList(db, mode);
    const parts = { chain, chainId, rules, db, watched, alarms, log, pageUrl };
    return startFollower({ ...parts, balancesEveryMs }, pollMs);
  };
}

/** Null for a network that takes no deposits. @returns starts the comparison of the sums */
export function createSumsCheck(
  { log, xpubs }: WalletConfig,
  db: Database,
  chain: Chain,
): (() => Loop) | null {
  const { name, mode } = chain.network;
  if (xpubs[mode] === null) return null;
  const sums = new SumsCheck(db, chain, createAlarms(db, chain, log));
  const check = (): Promise<'more' | undefined> => sums.check();
  return () => startLoop(`sums of ${name} (${mode})`, log, SUMS_EVERY_MS, check);
}

/** The work on deposits that belongs to no chain. */
export function startDepositWork(
  { log, screening }: WalletConfig,
  db: Database,
  refunds: RefundParts,
): Loop[] {
  const { pageUrl } = refunds;
  const screen = screening === null ? null : screenOverHttp(screening.url, screening.token);
  return [startScreening({ db, screen, pageUrl, log }), startRefunds(refunds)];
}
