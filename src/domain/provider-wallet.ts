/** The balances of the wallets that providers pay from. */
import type { Amount } from './money';

/** What an address that pays from a provider has of one asset. */
export interface ProviderWallet {
  network: string;
  address: string;
  asset: string;
  balance: Amount;
  /** Below it the provider calls the balance low; null if it names none. */
  minimum: Amount | null;
  /** Whether the asset also pays the network's fees, as ETH does on Ethereum. */
  paysFees: boolean;
}
