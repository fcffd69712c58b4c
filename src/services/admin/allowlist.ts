/**
 * Reads a key's allowlist (decision A2): IPv4, IPv6 and CIDR, as exact networks. A slip here
 * locks a merchant out or lets a stranger in, so nothing is guessed.
 */
import { isIP } from 'node:net';
import { networksOf } from '../../db/repositories/api-keys';
import type { Db } from '../../db/transaction';
import { InvalidInput } from './refusal';

const FIELD = 'allow';
const ENTRIES_MAX = 100;
const PREFIX_LENGTH: Readonly<Record<4 | 6, RegExp>> = {
  4: /^([0-9]|[12][0-9]|3[0-2])$/,
  6: /^([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])$/,
};
/** Requests from there are counted as the IPv4 address within, so such an entry matches none. */
const MAPPED_IPV4 = /^::ffff:/i;

/** @returns networks in CIDR form, each once. @throws InvalidInput */
export async function readAllowlist(db: Db, entries: readonly string[]): Promise<string[]> {
  if (entries.length > ENTRIES_MAX) {
    throw new InvalidInput(FIELD, `has ${entries.length} entries: ${ENTRIES_MAX} is the most.`);
  }
  entries.forEach(checkSyntax);
  if (entries.length === 0) return [];
  const networks = await networksOf(db, entries);
  for (const { given, network, hasHostBits } of networks) {
    if (!hasHostBits) continue;
    const [address = ''] = given.split('/');
    throw new InvalidInput(
      FIELD,
      `${given} has host bits set: write ${network} for the whole network, or ${address} for the ` +
        'one address.',
    );
  }
  return [...new Set(networks.map(({ network }) => network))];
}

function checkSyntax(entry: string): void {
  const [address = '', length, ...more] = entry.split('/');
  const version = isIP(address);
  if ((version !== 4 && version !== 6) || address.includes('%') || more.length > 0) {
    throw new InvalidInput(
      FIELD,
      `"${entry}" is no address and no network: write 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32, ` +
        'with commas between them.',
    );
  }
  if (length !== undefined && !PREFIX_LENGTH[version].test(length)) {
    const longest = version === 4 ? '32' : '128';
    throw new InvalidInput(
      FIELD,
      `${entry} has no valid prefix length: after the slash, IPv${version} takes 0 to ${longest}.`,
    );
  }
  if (MAPPED_IPV4.test(address)) {
    throw new InvalidInput(FIELD, `${entry} is IPv4 mapped into IPv6: write the IPv4 address.`);
  }
}
