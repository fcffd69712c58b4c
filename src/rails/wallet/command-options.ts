/** Options and arguments that several of the wallet's commands have. */
import { type Address, getAddress, isAddress } from 'viem';
import { UsageError } from '../../platform/lib/command-line';
import type { Network } from './networks';

export const CHAIN = ['--chain-id <ID>', 'the chain, as in WALLET_NETWORKS_FILE'] as const;
export const REASON = ['--reason <TEXT>', 'for the other operators'] as const;
export const PASSWORD = ['--password-file <FILE>', 'a file that contains the password'] as const;

export function findByChainId(networks: readonly Network[], text: string): Network {
  const network = networks.find(({ chainId }) => String(chainId) === text);
  if (network !== undefined) return network;
  throw new UsageError(`WALLET_NETWORKS_FILE has no network with chain_id ${text}.`);
}

export function readAddress(text: string): Address {
  if (isAddress(text)) return getAddress(text);
  throw new UsageError(`${text} is not an address with a valid checksum.`);
}
