/**
 * The examples of openapi.json. Tests send the requests to a running gateway and check the answers
 * against their schemas, so an example that no longer works fails.
 */
const TRON_ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

export const PAYOUT_REQUESTS = {
  onchain: {
    amount: '10000',
    currency: 'USDT',
    reference: 'invoice-2031',
    network: 'tron',
    destination: { type: 'crypto_address', value: TRON_ADDRESS },
  },
  exchange_account: {
    amount: '250.5',
    currency: 'USDT',
    reference: 'partner-77',
    provider: 'exchange_pay',
    destination: { type: 'exchange_id', value: '123456789' },
    description: 'Partner share, November',
    metadata: { partner: '77' },
  },
  email: {
    amount: '20',
    currency: 'USDC',
    reference: 'refund-1008',
    destination: { type: 'email', value: 'customer@example.com' },
  },
};

export const PAYOUT = {
  id: 'po_01M7YESA634WQFACSBWYSTKM76',
  object: 'payout',
  mode: 'live',
  status: 'under_review',
  provider: 'onchain_provider',
  reference: 'invoice-2031',
  amount: '10000.00000000',
  currency: 'USDT',
  network: 'tron',
  destination: { type: 'crypto_address', value: TRON_ADDRESS, memo: null },
  service_fee: '100.00000000',
  network_fee: '1.00000000',
  total_debit: '10101.00000000',
  tx_hash: null,
  failure_reason: null,
  rejection_reason: null,
  description: null,
  metadata: {},
  created_at: '2026-11-21T07:05:30.632Z',
  updated_at: '2026-11-21T07:05:30.632Z',
};

const LAST_PAGE = {
  links: { first: null, last: null, prev: null, next: null },
  meta: {
    path: 'https://pay.example.com/api/v1/payouts',
    per_page: 25,
    next_cursor: null,
    prev_cursor: null,
  },
};

export const PAYOUT_PAGE = { data: [PAYOUT], ...LAST_PAGE };

export const PAYMENT_REQUESTS = {
  simple: { amount: '125.5', currency: 'USDT', reference: 'order-5501' },
  with_returns: {
    amount: '40',
    currency: 'USDC',
    reference: 'order-5502',
    network: 'base',
    success_url: 'https://shop.example.com/thanks',
    cancel_url: 'https://shop.example.com/cart',
    customer_email: 'customer@example.com',
    expires_in: 1800,
    metadata: { cart: '5502' },
  },
};

export const PAYMENT = {
  id: 'pay_01M7YESA634WQFACSBWYSTKM76',
  object: 'payment',
  mode: 'test',
  status: 'created',
  provider: 'onchain_provider',
  network: 'ethereum',
  reference: 'order-5501',
  amount: '125.50000000',
  currency: 'USDT',
  received_amount: '0.00000000',
  amount_due: '125.50000000',
  overpaid_amount: '0.00000000',
  refunded_amount: '0.00000000',
  service_fee: '0.00000000',
  net_amount: null,
  exceptions: [],
  tx_hash: null,
  checkout_url: 'https://provider.example.com/checkout/5501',
  success_url: null,
  cancel_url: null,
  description: null,
  customer_email: null,
  failure_reason: null,
  metadata: {},
  created_at: '2026-11-21T07:05:30.632Z',
  expires_at: '2026-11-21T08:05:30.632Z',
  completed_at: null,
};

export const PAYMENT_PAGE = {
  data: [PAYMENT],
  links: LAST_PAGE.links,
  meta: { ...LAST_PAGE.meta, path: 'https://pay.example.com/api/v1/payments' },
};

export const BALANCE = {
  object: 'balance',
  mode: 'live',
  balances: [
    {
      currency: 'USDT',
      available: '19899.00000000',
      reserved: '10101.00000000',
      pending: '0.00000000',
    },
  ],
};

export const TRANSACTION_PAGE = {
  data: [
    {
      id: 'txn_01M7YESA6JGXFEX3057F2JK1YJ',
      object: 'transaction',
      mode: 'live',
      type: 'payout_reserve',
      currency: 'USDT',
      description: 'Payout invoice-2031: funds reserved',
      source: { object: 'payout', id: PAYOUT.id },
      entries: [
        {
          balance: 'available',
          direction: 'out',
          amount: '10101.00000000',
          balance_after: '19899.00000000',
        },
        {
          balance: 'reserved',
          direction: 'in',
          amount: '10101.00000000',
          balance_after: '10101.00000000',
        },
      ],
      posted_at: '2026-11-21T07:05:30.633Z',
    },
  ],
  links: LAST_PAGE.links,
  meta: { ...LAST_PAGE.meta, path: 'https://pay.example.com/api/v1/transactions' },
};

export const FEES = {
  object: 'list',
  data: [
    {
      direction: 'payout',
      provider: 'onchain_provider',
      currency: 'USDT',
      percentage: '1.0000',
      fixed_amount: '0.00000000',
      min_fee: null,
      max_fee: null,
    },
  ],
};

export const FEE_QUOTE = {
  object: 'fee_quote',
  direction: 'payout',
  provider: 'onchain_provider',
  currency: 'USDT',
  amount: '10000.00000000',
  service_fee: '100.00000000',
  net_amount: null,
  note: 'The fee is added on top of the amount. A provider network fee may be added when the payout is created.',
};

export const CURRENCIES = {
  object: 'list',
  providers: [
    {
      code: 'onchain_provider',
      name: 'On-chain',
      pay_in: true,
      pay_out: true,
      capabilities: {
        pay_in: true,
        pay_out: true,
        destination_types: ['crypto_address'],
        network_required: true,
        memo_supported: true,
        network_fee_estimate: true,
        tx_hash: true,
        refunds: true,
        partial_payments: true,
        checkout_ttl_seconds: 3600,
      },
    },
  ],
  data: [
    {
      provider: 'onchain_provider',
      direction: 'payout',
      currency: 'USDT',
      network: 'tron',
      min_amount: '1.00000000',
      max_amount: null,
    },
  ],
};
