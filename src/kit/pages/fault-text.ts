/** What is wrong with a row of a table, for the person who wrote it: the API's sentences name members of a request. */
import { presentFault, type RowFault } from '../../domain/batch-terms';
import { BENEFICIARY_KINDS } from '../../domain/beneficiary';
import { DESTINATION_TYPES } from '../../domain/destination';
import type { ApiError, FieldError, Refusal } from '../../domain/errors';
import { PROVIDER_CODES } from '../../domain/provider-codes';
import { words } from './components';

const ONE_OF = (names: readonly string[]) => `write one of ${names.join(', ')}, or leave it empty`;

/** What belongs into each column. */
const WANTED: Readonly<Record<string, string>> = {
  name: 'write one line of at most 100 characters',
  reference: 'write 1 to 64 letters, digits, “_” or “-”',
  amount: 'write a number above zero with at most 8 decimals, such as 12.50',
  currency: 'write a currency code such as USDT',
  destination: 'write the address, account ID or email address of the recipient',
  network: 'write the name of a network such as tron',
  memo: 'write at most 64 characters, or “none” if the destination has no memo',
  type: ONE_OF(DESTINATION_TYPES),
  provider: ONE_OF(PROVIDER_CODES),
  description: 'write at most 255 characters',
  recipient: 'write the ID of a recipient, or leave it empty and write a destination',
  beneficiary_name: 'write one line of at most 100 characters',
  beneficiary_kind: `write one of ${BENEFICIARY_KINDS.join(', ')}`,
  beneficiary_institution: 'write one line of at most 100 characters, or leave it empty',
  tags: 'write at most 20 tags of 1 to 40 letters, digits, “_”, “.” or “-”',
};

/** What the API says about a request that can be read, and how a person corrects it in the table. */
const IN_WORDS: readonly (readonly [RegExp, string])[] = [
  [/ See GET \S+$/, ''],
  [/Omit network\.$/, 'Leave it empty.'],
  [/Omit destination\.memo\.$/, 'Leave it empty.'],
  [
    /Set destination\.memo to (.+), or to null if the destination has none\.$/,
    'Write $1, or “none” if the destination has no memo.',
  ],
  [/Send currency as "(\w+)"\.$/, 'Write $1.'],
  [/Shorten reference to/, 'Shorten it to'],
  [/ Send the payout again then, or send release\..+$/, ' Check the table again then.'],
  [/Send the payout again/, 'Check the table again'],
];

/** For columns that a row leaves empty or fills wrongly, which the schema of a request refuses. */
export function rowFault(row: number, reference: string | null, { refusal }: ApiError): RowFault {
  if (refusal.code !== 'validation_failed') return { row, reference, refusal };
  const fields = refusal.details.fields.map(({ field, rule }): FieldError => {
    const column = columnOf(field);
    return { field: column, rule, message: `${WANTED[column] ?? 'correct it'}.` };
  });
  return { row, reference, refusal: { code: refusal.code, details: { fields } } };
}

export function faultText(fault: RowFault): string {
  const { refusal } = fault;
  if (refusal.code === 'validation_failed') {
    return refusal.details.fields.map(labelled).join(' ');
  }
  return ofRefusal(refusal) ?? inWords(presentFault(fault).message);
}

function ofRefusal(refusal: Refusal): string | null {
  switch (refusal.code) {
    case 'network_required':
      return `Network: write one of ${refusal.details.networks.join(', ')}.`;
    case 'duplicate_reference':
      return `Reference: ${refusal.details.existing_id} has it already. Write another one.`;
    case 'destination_not_supported':
      return 'Destination: no provider sends this currency to this type of destination.';
    case 'limit_exceeded': {
      const { limit, maximum, used, currency } = refusal.details;
      return limit.endsWith('daily')
        ? `Amount: the limit of 24 hours is ${maximum} ${currency}, of which ${used} are used.`
        : `Amount: the limit of one payout is ${maximum} ${currency}.`;
    }
    default:
      return null;
  }
}

function labelled({ field, message }: FieldError): string {
  return `${words(columnOf(field))}: ${inWords(message)}`;
}

function columnOf(field: string): string {
  return field === 'destination.value'
    ? 'destination'
    : field.replace('destination.', '').replace('beneficiary.', 'beneficiary_');
}

function inWords(message: string): string {
  return IN_WORDS.reduce((text, [api, form]) => text.replace(api, form), message);
}
