/**
 * Object ids: a prefix for the type and a 26-character ULID in Crockford base32, so that ids sort by
 * time (decision W3). lib/new-id.ts generates them.
 */
export const ID_PREFIXES = {
  payment: 'pay_',
  payout: 'po_',
  transaction: 'txn_',
  event: 'evt_',
  adjustment: 'adj_',
  webhookEndpoint: 'we_',
  delivery: 'whd_',
  apiKey: 'key_',
  account: 'acc_',
  request: 'req_',
  case: 'case_',
  user: 'usr_',
  session: 'ses_',
  decision: 'dec_',
  passkey: 'psk_',
  invitation: 'inv_',
  proposal: 'prop_',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export function isId(kind: IdKind, text: string): boolean {
  const prefix = ID_PREFIXES[kind];
  return text.startsWith(prefix) && ULID.test(text.slice(prefix.length));
}
