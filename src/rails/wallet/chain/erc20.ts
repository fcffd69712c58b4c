/** The calls and the event of a token's contract that the wallet knows, as bytes of the ABI. */
import type { Address, Hex } from 'viem';

/** keccak256("Transfer(address,address,uint256)") */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** transfer(address,uint256) */
export const TRANSFER_CALL = '0xa9059cbb';

export function transferCall(recipient: Address, units: bigint): Hex {
  return `${TRANSFER_CALL}${wordOf(recipient)}${wordOf(units)}`;
}

/** balanceOf(address) */
export function balanceOfCall(address: string): Hex {
  return `0x70a08231${wordOf(address)}`;
}

export function topicOfAddress(address: string): Hex {
  return `0x${wordOf(address)}`;
}

/** An address in lower case, or a number, as a word of 32 bytes. */
function wordOf(value: string | bigint): string {
  const text = typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase();
  return text.padStart(64, '0');
}
