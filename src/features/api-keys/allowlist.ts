/** The addresses that a key can be used from (decisions/keys#api-keys). */
import { isIP } from 'node:net';
import { networksOf } from '../../db/api-keys/api-keys';
import type { Tx } from '../../db/transaction';
import { InvalidInput } from '../../kit/service/refusal';

const ENTRIES_MAX = 100;
const PREFIX_LENGTH: Readonly<Record<4 | 6, RegExp>> = {
  4: /^([0-9]|[12][0-9]|3[0-2])$/,
  6: /^([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])$/,
};
/** An IPv4-mapped entry would match no request, because such requests count as coming from the IPv4 address. */
const MAPPED_IPV4 = /^::ffff:/i;

/**
 * Reads an allowlist: IPv4, IPv6 and CIDR, as exact networks. A mistake would lock a
 * merchant out or let a stranger in, so ambiguous entries are refused.
 * @returns networks in CIDR form, each once. @throws InvalidInput
 */
export async function readAllowlist(tx: Tx, entries: readonly string[]): Promise<string[]> {
  if (checkAllowlist(entries).length === 0) return [];
  const networks = await networksOf(tx, entries);
  for (const { given, network, hasHostBits } of networks) {
    if (!hasHostBits) continue;
    const [address = ''] = given.split('/');
    throw new InvalidInput('allow', { code: 'host_bits', value: given, network, address });
  }
  return [...new Set(networks.map(({ network }) => network))];
}

/** What can be checked without the database. @throws InvalidInput */
export function checkAllowlist<Entries extends readonly string[]>(entries: Entries): Entries {
  const count = entries.length;
  if (count > ENTRIES_MAX) {
    throw new InvalidInput('allow', {
      code: 'too_many_addresses',
      count,
      max: ENTRIES_MAX,
    });
  }
  entries.forEach(checkAddress);
  return entries;
}

function checkAddress(value: string): void {
  const [address = '', length, ...more] = value.split('/');
  const version = isIP(address);
  if ((version !== 4 && version !== 6) || address.includes('%') || more.length > 0) {
    throw new InvalidInput('allow', { code: 'not_an_address', value });
  }
  if (length !== undefined && !PREFIX_LENGTH[version].test(length)) {
    const max = version === 4 ? 32 : 128;
    throw new InvalidInput('allow', { code: 'prefix_length', value, version, max });
  }
  if (MAPPED_IPV4.test(address)) throw new InvalidInput('allow', { code: 'mapped_ipv4', value });
}
