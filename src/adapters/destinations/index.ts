/**
 * Validates a crypto address for the payout's network (decisions/payouts#destinations): alphabet, length and
 * checksum. Funds sent to a wrong address are lost, so an address that cannot be validated is
 * rejected.
 */
import { bitcoinFault } from './bitcoin';
import { evmFault } from './evm';
import { tronFault } from './tron';
import { xrplFault } from './xrpl';

const CHECKS: ReadonlyMap<string, (value: string) => string | null> = new Map([
  ['ethereum', evmFault],
  ['base', evmFault],
  ['tron', tronFault],
  ['bitcoin', bitcoinFault],
  ['xrpl', xrplFault],
]);

/** Payouts on any other network are rejected. */
export const CHECKED_NETWORKS: readonly string[] = [...CHECKS.keys()];

/**
 * A sentence that says what is wrong with the address, or null if it is valid. The sentence never
 * repeats the address, because somebody may have pasted a private key.
 */
export function destinationFault(network: string | null, value: string): string | null {
  const check = network === null ? undefined : CHECKS.get(network);
  if (check === undefined)
    return 'Addresses of this network cannot be checked, so payouts to it are not possible.';
  return check(value);
}
