/** What the wallet's commands share: the terminal, the database and the networks, and their options. */
import type { Command } from '@commander-js/extra-typings';
import { type Address, getAddress, isAddress } from 'viem';
import { type Terminal, UsageError } from '../../platform/lib/command-line';
import { printableJson } from '../../platform/lib/printable-json';
import type { Database } from './db/database';
import type { Network } from './networks';

export interface CommandParts extends Pick<Terminal, 'env' | 'out'> {
  networks: () => Network[];
  withDatabase: <T>(work: (db: Database) => Promise<T>) => Promise<T>;
}

export const CHAIN = ['--chain-id <ID>', 'the chain, as in WALLET_NETWORKS_FILE'] as const;
export const MODE = ['--mode <MODE>', 'test or live, where both have one of this name'] as const;
export const BY = ['--by <NAME>', 'who decides this'] as const;
export const REASON = ['--reason <TEXT>', 'why, for the other operators'] as const;
export const SIGNER = ['--signer <ADDRESS>', 'the hot wallet, where there are several'] as const;
export const PASSWORD = ['--password-file <FILE>', 'a file that contains the password'] as const;
export const JSON_OUTPUT = ['--json', 'as JSON'] as const;

/** A command about one network. */
export function networkCommand(command: Command, name: string, description: string) {
  return command
    .command(name)
    .description(description)
    .argument('<NETWORK>', 'its name in WALLET_NETWORKS_FILE')
    .option(...MODE);
}

export function print(
  { out }: Pick<CommandParts, 'out'>,
  json: true | undefined,
  value: unknown,
  text: string,
): void {
  out(json === true ? `${printableJson(value)}\n` : text);
}

export function findNetwork({ networks }: CommandParts, name: string, mode?: string): Network {
  const found = networks().filter(
    (network) => network.name === name && (mode === undefined || network.mode === mode),
  );
  const [network] = found;
  if (network === undefined) {
    throw new UsageError(`WALLET_NETWORKS_FILE has no network ${name}.`);
  }
  if (found.length > 1) throw new UsageError(`${name} is in both modes: add --mode.`);
  return network;
}

export function findByChainId({ networks }: CommandParts, text: string): Network {
  const network = networks().find(({ chainId }) => String(chainId) === text);
  if (network !== undefined) return network;
  throw new UsageError(`WALLET_NETWORKS_FILE has no network with chain_id ${text}.`);
}

export function readMode(text: string): 'test' | 'live' {
  if (text === 'test' || text === 'live') return text;
  throw new UsageError('--mode is test or live.');
}

export function readAddress(text: string): Address {
  if (isAddress(text)) return getAddress(text);
  throw new UsageError(`${text} is not an address with a valid checksum.`);
}
