/**
 * The destination of a payout. Its types are the three of the specification's "Destinations per
 * provider".
 */
export const DESTINATION_TYPES = ['crypto_address', 'exchange_id', 'email'] as const;
export type DestinationType = (typeof DESTINATION_TYPES)[number];

/** Where a payout sends the money: an address, an account at an exchange, or an email address. */
export interface Destination {
  type: DestinationType;
  value: string;
  memo: string | null;
}
