/**
 * What a destination's type asks of its value. Whether an address exists on a network (checksum,
 * length) is checked later, where the network is known (decision O10).
 */
import { DESTINATION_TYPES, type DestinationType } from '../domain/destination';
import type { FieldError } from '../domain/errors';

const EMAIL_LENGTH = 254;

/** As browsers accept e-mail addresses, and with a dot in the domain. */
const EMAIL =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

const VALUES: Record<DestinationType, { pattern: RegExp; description: string }> = {
  crypto_address: { pattern: /^[^\s\p{C}]+$/u, description: 'a wallet address without spaces' },
  exchange_id: { pattern: /^[0-9]{1,20}$/, description: 'an account id of 1 to 20 digits' },
  email: { pattern: EMAIL, description: 'an e-mail address, such as "name@example.com"' },
};

export function destinationValueError(type: unknown, value: unknown): FieldError | null {
  const known = DESTINATION_TYPES.find((name) => name === type);
  if (known === undefined || typeof value !== 'string') return null;
  const field = 'destination.value';
  if (known === 'email' && value.length > EMAIL_LENGTH) {
    return { field, rule: 'too_long', message: `Shorten ${field} to ${EMAIL_LENGTH} characters.` };
  }
  const { pattern, description } = VALUES[known];
  if (pattern.test(value)) return null;
  return { field, rule: 'format', message: `Send ${field} as ${description}.` };
}
