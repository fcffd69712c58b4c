/** Every answer of the API that is no success. The messages are for the people who read a log. */
import type { JsonFault } from '../../platform/lib/check-json';

const REFUSALS = {
  unauthorized: [401, 'The API key is missing or invalid.'],
  transfer_not_found: [404, 'No transfer has this client reference.'],
  checkout_not_found: [404, 'No checkout has this client reference.'],
  unknown_transaction_not_found: [404, 'No unknown transaction with this hash pays this order.'],
  client_reference_conflict: [409, 'The client reference belongs to a different order.'],
  asset_not_supported: [422, 'The asset is not supported on this network.'],
  destination_invalid: [422, 'The destination is not a valid address of this network.'],
  destination_refused: [422, 'The provider does not send to this destination.'],
  amount_not_representable: [422, 'The amount has more decimals than the asset on this network.'],
  not_on_hold: [422, 'The checkout is not on hold.'],
  internal_error: [500, 'The provider could not answer the request.'],
  network_not_ready: [503, 'No node of the network has answered yet. Try again later.'],
  price_not_configured: [503, 'No price of the native coin is configured in this asset.'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type RefusalCode = keyof typeof REFUSALS;

/** The API answers with `{error: {code, message}}`. */
export class HttpRefusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export function refusal(code: RefusalCode): HttpRefusal {
  const [status, message] = REFUSALS[code];
  return new HttpRefusal(status, code, message);
}

/** @param at the member's name with a point before it; empty for the whole body */
export function malformed({ at, rule }: JsonFault): HttpRefusal {
  const subject = at === '' ? 'The body' : at.slice(1);
  return new HttpRefusal(400, 'malformed_request', `${subject} ${rule}.`);
}
