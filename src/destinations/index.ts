/**
 * Whether an address exists on the network a payout takes (decision O10): its alphabet, length
 * and checksum. What is sent to a mistyped address is lost, so an address that cannot be checked
 * is refused. Called by services/create-payout.ts once the route is chosen.
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

/** A route of the catalogue on any other network is never paid. */
export const CHECKED_NETWORKS: readonly string[] = [...CHECKS.keys()];

/**
 * What is wrong with a crypto address on this network, in a sentence, or null. The sentence never
 * repeats the address: somebody may have pasted a private key.
 */
export function destinationFault(network: string | null, value: string): string | null {
  const check = network === null ? undefined : CHECKS.get(network);
  if (check === undefined) return 'Addresses of this network cannot be checked here.';
  return check(value);
}
