/** Made-up transaction hashes in the form of their network. */
import { randomBytes } from 'node:crypto';

const EVM_NETWORKS = ['ethereum', 'base'];

/** An internal transfer has none; EVM networks write theirs with 0x, XRP in capitals. */
export function newTxHash(network: string | null): string | null {
  if (network === null) return null;
  const hash = randomBytes(32).toString('hex');
  if (network === 'xrpl') return hash.toUpperCase();
  return EVM_NETWORKS.includes(network) ? `0x${hash}` : hash;
}
