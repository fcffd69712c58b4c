/** Starts everything that takes money in: the followers of the chains, the screening, refunds. */
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
import type { Loop } from './loop';

/** Coins that contracts send are looked for with a request for each address, so not with each block. */
const BALANCES_EVERY_MS = 60_000;

/** @throws SetupError for an extended public key that is none */
export function createCheckoutParts(
  { networks, xpubs }: WalletConfig,
  db: Database,
  pageUrl: PageUrl,
): CheckoutParts {
  const open = (xpub: string | null, variable: string): CheckoutParts['addresses']['test'] =>
    xpub === null ? null : openXpub(xpub, variable);
  return {
    ...{ db, networks, pageUrl },
    addresses: {
      test: open(xpubs.test, 'WALLET_TEST_XPUB'),
      live: open(xpubs.live, 'WALLET_LIVE_XPUB'),
    },
  };
}

export function startDeposits(
  { log, screening, xpubs }: WalletConfig,
  db: Database,
  chains: readonly Chain[],
  refunds: RefundParts,
  { balancesEveryMs = BALANCES_EVERY_MS } = {},
): Loop[] {
  const { pageUrl } = refunds;
  const screen = screening === null ? null : screenOverHttp(screening.url, screening.token);
  const followers = chains
    .filter(({ network }) => xpubs[network.mode] !== null)
    .map((chain) => {
      const { chainId, mode, deposits: rules, pollMs } = chain.network;
      const watched = new WatchList(db, mode);
      const alarms = createAlarms(db, chain, log);
      const parts = { ...{ chain, chainId, rules, db, watched, alarms, log }, pageUrl };
      return startFollower({ ...parts, balancesEveryMs }, pollMs);
    });
  return [...followers, startScreening({ db, screen, pageUrl, log }), startRefunds(refunds)];
}
