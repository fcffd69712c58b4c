/** A gateway on whose console two operators decide about the live payouts of one merchant. */
import { makeUser, signedIn } from '../merchant/page-client';
import { type Opened, openMerchant } from '../payout/payout-steps';
import { sharedInRoom } from '../room';
import { startGateway } from './gateway';

/** What the page says of an approved payout: how far it has come while the page is read. */
export const APPROVED =
  /Approved\. The (payout is submitted next|payout is being submitted|provider has accepted the payout|payout was sent)/;

/** It is not shared, because thresholds hold for all accounts. @param above what two must approve */
export async function startConsoleGateway(currency: string, above: number) {
  const gateway = await sharedInRoom('gateway', () => startGateway())();
  return openConsole(gateway, currency, above);
}

/** Two operators, and a merchant with funds of the currency. */
export async function openConsole<T extends Opened>(gateway: T, currency: string, above: number) {
  const { accountId, client } = await openMerchant(gateway, {
    funds: { USDT: '1000', [currency]: '100' },
  });
  await gateway.db.query('INSERT INTO four_eyes_thresholds VALUES (?, ?)', [currency, above]);
  const users = {
    alice: await makeUser(gateway.db, 'operator', 'reviewer'),
    bob: await makeUser(gateway.db, 'operator', 'admin'),
  };
  const [alice, bob] = await Promise.all([
    signedIn(gateway.baseUrl, users.alice),
    signedIn(gateway.baseUrl, users.bob),
  ]);
  return { ...gateway, accountId, client, users, alice, bob };
}
