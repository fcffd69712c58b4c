/**
 * The text of the QR code, which wallets open with amount and recipient filled in: EIP-681 on EVM chains,
 * BIP-21 on Bitcoin, and the form of XRPL wallets. A network without such a form, such as Tron, gets the bare address,
 * which every wallet reads.
 */
import type { Amount } from '../../../domain/money';
import type { CheckoutView } from '../present';

/** What an EVM chain needs beside the address. */
export interface EvmPayment {
  chainId: number;
  /** The contract of the token; null for the chain's own coin. */
  token: string | null;
  decimals: number;
}

type Payable = Pick<CheckoutView, 'network' | 'address' | 'memo'>;

/** Null if the network has no form of its own. */
export function paymentUri(
  { network, address, memo }: Payable,
  amount: Amount,
  evm: EvmPayment | null,
): string | null {
  if (evm !== null) return evmUri(address, amount, evm);
  const plain = amount.replace(/\.?0+$/, '');
  if (network === 'bitcoin') return `bitcoin:${address}?amount=${plain}`;
  if (network === 'xrpl') {
    return `xrpl:${address}?amount=${plain}${memo === null ? '' : `&dt=${memo}`}`;
  }
  return null;
}

function evmUri(address: string, amount: Amount, { chainId, token, decimals }: EvmPayment): string {
  const units = unitsOf(amount, decimals);
  return token === null
    ? `ethereum:${address}@${chainId}?value=${units}`
    : `ethereum:${token}@${chainId}/transfer?address=${address}&uint256=${units}`;
}

/** The amount in the smallest unit, rounded up so that the payment is never short. */
function unitsOf(amount: Amount, decimals: number): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  const kept = fraction.slice(0, decimals).padEnd(decimals, '0');
  const isRounded = /[1-9]/.test(fraction.slice(decimals));
  return BigInt(whole + kept) + (isRounded ? 1n : 0n);
}
