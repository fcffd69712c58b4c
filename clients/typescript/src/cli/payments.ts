/** `payments-gateway payments`. */
import type { ListPaymentsQuery, PaymentRequest } from '../index';
import type { Command, Run } from './command';
import { connect } from './connection';
import { createOnce, IDEMPOTENCY_KEY } from './create-once';
import { LIST_OPTIONS, listQuery, METADATA, metadataOf, take } from './lists';
import { printMany, printOne } from './output';

const CREATE: Command = {
  name: 'payments create',
  summary: 'Creates a payment; its checkout_url is where the customer pays',
  connects: true,
  options: {
    amount: { value: '<amount>', help: 'what the customer pays, such as 25.00', required: true },
    currency: { value: '<code>', help: 'such as USDT', required: true },
    reference: { value: '<text>', help: 'your unique ID of the payment', required: true },
    network: { value: '<name>', help: 'such as tron' },
    provider: { value: '<code>', help: 'the provider, if the gateway should not choose' },
    description: { value: '<text>', help: 'shown to the customer' },
    'customer-email': { value: '<address>', help: "the customer's email address" },
    'success-url': { value: '<url>', help: 'where the customer returns' },
    'cancel-url': { value: '<url>', help: 'where the customer returns after cancelling' },
    'expires-in': { value: '<seconds>', help: 'how long the checkout is open' },
    scenario: { value: '<name>', help: 'test mode: what the customer does, such as completed' },
    ...METADATA,
    ...IDEMPOTENCY_KEY,
  },
  more: 'docs/guides/testing.md lists the scenarios.',
  examples: [
    'payments create --amount 25 --currency USDT --reference order-1001',
    'payments create --amount 25 --currency USDT --reference order-1002 --scenario overpaid',
  ],
  run: create,
};

const GET: Command = {
  name: 'payments get',
  argument: '<id>',
  summary: 'Shows a payment',
  connects: true,
  options: {},
  examples: ['payments get pay_01M7YESA634WQFACSBWYSTKM76'],
  run: async ({ values, argument, signal, asJson }) =>
    printOne(await connect(values).client.payments.get(argument, { signal }), asJson),
};

const LIST: Command = {
  name: 'payments list',
  summary: 'Lists payments, newest first',
  connects: true,
  options: LIST_OPTIONS,
  examples: ['payments list', 'payments list --status underpaid --created-from 2026-11-01'],
  run: list,
};

export const PAYMENT_COMMANDS = [CREATE, GET, LIST];

async function create({ values, signal, asJson }: Run): Promise<void> {
  const scenario = values.text('scenario');
  const metadata = metadataOf(values);
  const request = {
    amount: values.text('amount'),
    currency: values.text('currency'),
    reference: values.text('reference'),
    network: values.text('network'),
    provider: values.text('provider'),
    description: values.text('description'),
    customer_email: values.text('customer-email'),
    success_url: values.text('success-url'),
    cancel_url: values.text('cancel-url'),
    metadata: scenario === undefined ? metadata : { ...metadata, scenario },
    expires_in: values.text('expires-in') === undefined ? undefined : values.count('expires-in', 0),
  } as PaymentRequest;
  const { client } = connect(values);
  const payment = await createOnce('payment', values, (idempotencyKey) =>
    client.payments.create(request, { idempotencyKey, signal }),
  );
  printOne(payment, asJson);
}

async function list({ values, signal, asJson }: Run): Promise<void> {
  const query = listQuery(values) as ListPaymentsQuery;
  const { client } = connect(values);
  const payments = await take(client.payments.list(query, { signal }), values);
  const columns = {
    ID: 'id',
    STATUS: 'status',
    AMOUNT: 'amount',
    RECEIVED: 'received_amount',
    CURRENCY: 'currency',
    REFERENCE: 'reference',
    CREATED: 'created_at',
  };
  printMany(payments, columns, asJson);
}
