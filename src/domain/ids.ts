/**
 * Object ids: a prefix for the type and a 26-character ULID in Crockford base32, so that ids sort by
 * time (decisions/api#ids). lib/new-id.ts generates them.
 */
export const ID_PREFIXES = {
  payment: 'pay_',
  paymentLink: 'plink_',
  payout: 'po_',
  payoutBatch: 'pb_',
  payoutSchedule: 'ps_',
  payoutScheduleRun: 'psr_',
  recipient: 'rcp_',
  refund: 'rf_',
  transaction: 'txn_',
  event: 'evt_',
  adjustment: 'adj_',
  webhookEndpoint: 'we_',
  webhookDelivery: 'whd_',
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
  notification: 'ntf_',
  linkMail: 'lm_',
  chatWebhook: 'chw_',
  chatMessage: 'chm_',
} as const;

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const RANDOM_DIGITS = 16;

/** The smallest id that can be made at this time, as the bound of a search by time. */
export function idAt(kind: IdKind, time: Date): string {
  let rest = time.getTime();
  let digits = '';
  for (let digit = 0; digit < TIME_DIGITS; digit += 1) {
    digits = CROCKFORD.charAt(rest % CROCKFORD.length) + digits;
    rest = Math.floor(rest / CROCKFORD.length);
  }
  return ID_PREFIXES[kind] + digits + '0'.repeat(RANDOM_DIGITS);
}

/** The time at which the id was made, in milliseconds since 1970. @param id a valid one, of any kind */
export function timeOfId(id: string): number {
  const [digits = ''] = id.split('_').slice(-1);
  return Array.from(digits.slice(0, TIME_DIGITS)).reduce(
    (time, digit) => time * CROCKFORD.length + CROCKFORD.indexOf(digit),
    0,
  );
}

export type IdKind = keyof typeof ID_PREFIXES;

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Whether the text is a valid id of this kind. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = ID_PREFIXES[kind];
  return text.startsWith(prefix) && ULID.test(text.slice(prefix.length));
}

/** The kind of object whose id this is; null if it is no id. */
export function kindOfId(text: string): IdKind | null {
  const kinds = Object.keys(ID_PREFIXES) as IdKind[];
  return kinds.find((kind) => isId(kind, text)) ?? null;
}
