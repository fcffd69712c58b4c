/** The balances of the wallets that providers pay from, as each has last told. */
import type { Mode } from '../../domain/mode';
import type { ProviderCode } from '../../domain/provider-codes';
import type { ProviderWallet } from '../../domain/provider-wallet';
import type { Db } from '../transaction';

export interface ProviderWallets {
  provider: ProviderCode;
  mode: Mode;
  /** Empty: the provider does not report them. */
  wallets: ProviderWallet[];
  readAt: Date;
}

type Key = Pick<ProviderWallets, 'provider' | 'mode'>;

export async function noteProviderWallets(
  db: Db,
  { provider, mode }: Key,
  wallets: readonly ProviderWallet[],
): Promise<void> {
  await db.query(
    `INSERT INTO provider_wallets (provider, mode, wallets, read_at) VALUES (?, ?, ?::jsonb, now())
     ON CONFLICT (provider, mode) DO UPDATE SET wallets = excluded.wallets, read_at = excluded.read_at`,
    [provider, mode, JSON.stringify(wallets)],
  );
}

/** Removes the balances of a provider that is no longer enabled. */
export async function forgetProviderWallets(db: Db, { provider, mode }: Key): Promise<void> {
  await db.query('DELETE FROM provider_wallets WHERE provider = ? AND mode = ?', [provider, mode]);
}

export function listProviderWallets(db: Db): Promise<ProviderWallets[]> {
  return db.query(
    'SELECT provider, mode, wallets, read_at FROM provider_wallets ORDER BY mode, provider',
  );
}
