/** Which hot wallet an operator's command is about. */
import { type Address, getAddress } from 'viem';
import { SetupError } from '../../../platform/lib/setup-error';
import type { Db } from '../db/database';
import type { Network } from '../networks';

/**
 * @param named by the operator; may be left out where the chain has one hot wallet
 * @throws SetupError that lists the hot wallets, replaced ones included
 */
export async function chooseSigner(
  db: Db,
  { chainId, name }: Network,
  named: Address | undefined,
): Promise<Address> {
  const rows = await db.query<{ address: Address }>(
    'SELECT address FROM wallet.signer WHERE chain_id = $1 ORDER BY address',
    [chainId],
  );
  const addresses = rows.map(({ address }) => getAddress(address));
  if (named !== undefined && addresses.includes(named)) return named;
  const [only] = addresses;
  if (only === undefined) throw new SetupError(`${name} has no hot wallet yet. Start the wallet.`);
  if (named === undefined && addresses.length === 1) return only;
  const what =
    named === undefined
      ? `${name} has several hot wallets`
      : `${named} is no hot wallet of ${name}`;
  throw new SetupError(`${what}. Name one of them with --signer: ${addresses.join(', ')}.`);
}
