/** The names of the API as a person reads them. */

/** Names that a person knows by other words, or spells in another way. */
const KNOWN_WORDS: Readonly<Record<string, string>> = {
  working: 'Active',
  payin_settlement: 'Payment received',
  payin_refund: 'Payment refunded',
  payout_reserve: 'Funds reserved',
  payout_release: 'Funds returned',
  payout_settlement: 'Payout sent',
  onchain_provider: 'On-chain provider',
  exchange_pay: 'Exchange Pay',
  xrpl: 'XRPL',
  exchange_id: 'Exchange account ID',
  awaits_address: 'Waiting for the customer’s address',
  paymentLink: 'Payment link',
  payoutBatch: 'Batch',
  payoutSchedule: 'Schedule',
};

/** The name of a person before the email address. @param name empty if there is none */
export function personText({ name, email }: { name: string; email: string }): string {
  return name === '' ? email : `${name} (${email})`;
}

/** `under_review` is "Under review". */
export function words(name: string): string {
  const known = KNOWN_WORDS[name];
  if (known !== undefined) return known;
  const text = name.replaceAll('_', ' ').replaceAll('.', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
