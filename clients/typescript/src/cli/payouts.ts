/** `payments-gateway payouts`. */
import type { ListPayoutsQuery, PayoutRequest } from '../index';
import type { Command, Run } from './command';
import { connect } from './connection';
import { createOnce, IDEMPOTENCY_KEY } from './create-once';
import { CommandError, EXIT, UsageError } from './failure';
import { LIST_OPTIONS, listQuery, METADATA, metadataOf, take } from './lists';
import { note, printMany, printOne, rows } from './output';
import { openTerminal } from './terminal';

const CREATE: Command = {
  name: 'payouts create',
  summary: 'Sends money from your balance',
  connects: true,
  options: {
    amount: {
      value: '<amount>',
      help: 'what the recipient receives, such as 125.50',
      required: true,
    },
    currency: { value: '<code>', help: 'such as USDT', required: true },
    reference: { value: '<text>', help: 'your unique ID of the payout', required: true },
    destination: { value: '<value>', help: 'an address, an account ID or an email address' },
    'destination-type': {
      value: '<type>',
      help: 'crypto_address, exchange_id or email (default: crypto_address)',
    },
    memo: { value: '<text>', help: 'the memo or destination tag' },
    recipient: { value: '<id>', help: 'a saved recipient, in place of --destination' },
    network: { value: '<name>', help: 'such as tron' },
    provider: { value: '<code>', help: 'the provider, if the gateway should not choose' },
    description: { value: '<text>', help: 'a note for you' },
    ...METADATA,
    ...IDEMPOTENCY_KEY,
    yes: { help: 'do not ask before real money is sent' },
  },
  more: `With a live key, the command shows the amount and the destination, and asks before it sends the payout.
Repeated with the same --idempotency-key within 24 hours, it shows the first payout and creates no second one.`,
  examples: [
    'payouts create --amount 100 --currency USDT --network tron --reference invoice-1001 \\\n' +
      '    --destination TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  ],
  run: create,
};

const GET: Command = {
  name: 'payouts get',
  argument: '<id>',
  summary: 'Shows a payout',
  connects: true,
  options: {},
  examples: ['payouts get po_01M7YESA634WQFACSBWYSTKM76'],
  run: async ({ values, argument, signal, asJson }) =>
    printOne(await connect(values).client.payouts.get(argument, { signal }), asJson),
};

const LIST: Command = {
  name: 'payouts list',
  summary: 'Lists payouts, newest first',
  connects: true,
  options: {
    ...LIST_OPTIONS,
    recipient: { value: '<id>', help: 'only those of this recipient' },
    batch: { value: '<id>', help: 'only those of this batch' },
  },
  examples: ['payouts list', 'payouts list --status processing,under_review --limit 100'],
  run: list,
};

export const PAYOUT_COMMANDS = [CREATE, GET, LIST];

async function create({ values, signal, asJson }: Run): Promise<void> {
  const { client, mode } = connect(values);
  const request = requestOf(values);
  if (mode === 'live' && !values.has('yes')) await confirm(request, signal);
  const payout = await createOnce('payout', values, (idempotencyKey) =>
    client.payouts.create(request, { idempotencyKey, signal }),
  );
  printOne(payout, asJson);
}

/** What is missing or wrong, the gateway says for all fields at once. */
function requestOf(values: Run['values']): PayoutRequest {
  const value = values.text('destination');
  const type = values.text('destination-type') ?? 'crypto_address';
  const destination = value === undefined ? undefined : { type, value, memo: values.text('memo') };
  const request = {
    amount: values.text('amount'),
    currency: values.text('currency'),
    reference: values.text('reference'),
    destination,
    recipient: values.text('recipient'),
    network: values.text('network'),
    provider: values.text('provider'),
    description: values.text('description'),
    metadata: metadataOf(values),
  };
  return request as PayoutRequest;
}

/** @throws CommandError unless the person says yes */
async function confirm(request: PayoutRequest, signal: AbortSignal): Promise<void> {
  const { amount, currency, network, destination, recipient } = request;
  note(`This payout sends real money:`);
  const shown = { amount: `${amount} ${currency}`, network, ...destination, recipient };
  for (const line of rows(shown)) note(`  ${line}`);
  if (!process.stdin.isTTY) {
    throw new UsageError('Nobody can confirm it here.', 'Nothing was sent. Add --yes to send it.');
  }
  const terminal = openTerminal(signal);
  const answer = await terminal.ask('Type yes to send it: ').finally(() => terminal.close());
  if (answer !== 'yes') throw new CommandError('Nothing was sent.', EXIT.wrongUsage);
}

async function list({ values, signal, asJson }: Run): Promise<void> {
  const query = {
    ...listQuery(values),
    recipient: values.text('recipient'),
    batch: values.text('batch'),
  } as ListPayoutsQuery;
  const { client } = connect(values);
  const payouts = await take(client.payouts.list(query, { signal }), values);
  const columns = {
    ID: 'id',
    STATUS: 'status',
    AMOUNT: 'amount',
    CURRENCY: 'currency',
    NETWORK: 'network',
    REFERENCE: 'reference',
    CREATED: 'created_at',
  };
  printMany(payouts, columns, asJson);
}
