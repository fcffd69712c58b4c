/** The balances of the wallets that providers pay from, as each has last told. */
import type { Mode } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { ProviderCode } from '../../domain/provider-codes';
import type { Db } from '../transaction';

export interface WalletBalance {
  network: string;
  address: string;
  asset: string;
  balance: Amount;
  /** Below it the balance is low; null if the provider names none. */
  minimum: Amount | null;
  /** Whether the asset also pays the network's fees, as ETH does on Ethereum. */
  paysFees: boolean;
}

export interface ProviderWallets {
  provider: ProviderCode;
  mode: Mode;
  /** Empty: the provider does not report them. */
  wallets: WalletBalance[];
  readAt: Date;
}

type Key = Pick<ProviderWallets, 'provider' | 'mode'>;

export async function noteProviderWallets(
  db: Db,
  { provider, mode }: Key,
  wallets: readonly WalletBalance[],
): Promise<void> {
  await db.query(
    `INSERT INTO provider_wallets (provider, mode, wallets, read_at) VALUES (?, ?, ?::jsonb, now())
     ON CONFLICT (provider, mode) DO UPDATE SET wallets = excluded.wallets, read_at = excluded.read_at`,
    [provider, mode, JSON.stringify(wallets)],
  );
}

/** Of a provider that is no longer enabled. */
export async function forgetProviderWallets(db: Db, { provider, mode }: Key): Promise<void> {
  await db.query('DELETE FROM provider_wallets WHERE provider = ? AND mode = ?', [provider, mode]);
}

export function listProviderWallets(db: Db): Promise<ProviderWallets[]> {
  return db.query(
    'SELECT provider, mode, wallets, read_at FROM provider_wallets ORDER BY mode, provider',
  );
}
