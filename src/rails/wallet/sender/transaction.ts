/** The transaction that pays a transfer. */
import type { Address, Hex } from 'viem';
import type { Chain } from '../chain/chain';
import { transferCall } from '../chain/erc20';

export interface Unpaid {
  asset: string;
  units: bigint;
  recipient: Address;
}

/** It moves the coin itself, or calls the token. */
export function transactionOf(
  { network }: Chain,
  { asset, recipient, units }: Unpaid,
): { to: Address; data: Hex; valueWei: bigint } {
  const token = network.tokens.find((one) => one.asset === asset);
  if (token === undefined) return { to: recipient, data: '0x', valueWei: units };
  return { to: token.address, data: transferCall(recipient, units), valueWei: 0n };
}

/** The recipient's contract may need more when the transaction is mined than it needs now. */
const GAS_MARGIN = { times: 5n, dividedBy: 4n } as const;

export function withGasMargin(estimated: bigint): bigint {
  return (estimated * GAS_MARGIN.times) / GAS_MARGIN.dividedBy;
}
