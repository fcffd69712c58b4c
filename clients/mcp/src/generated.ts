/** The tools of the MCP server. Written by `npm run openapi` from the schemas: do not edit. */

import type { ErrorMeaning, JsonSchema, OperationTool } from './operation-tool';

export const OPERATION_TOOLS: readonly OperationTool[] = [
  {
    name: 'get_balance',
    title: 'Retrieve the balance',
    description:
      'Returns the balance in each currency. Currencies are never converted or added together.',
    method: 'GET',
    path: '/balance',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: [],
    input: { type: 'object', properties: {}, required: [], additionalProperties: false },
    output: {
      type: 'object',
      required: ['object', 'mode', 'balances'],
      properties: {
        object: { type: 'string', const: 'balance' },
        mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
        balances: {
          type: 'array',
          items: {
            type: 'object',
            required: ['currency', 'available', 'reserved', 'pending'],
            properties: {
              currency: {
                type: 'string',
                pattern: '^[A-Z0-9]{2,12}$',
                description: 'Currency code',
              },
              available: {
                type: 'string',
                pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
                description: 'Available for payouts',
              },
              reserved: {
                type: 'string',
                pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
                description: 'Reserved for payouts that are not final',
              },
              pending: {
                type: 'string',
                pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
                description: 'Seen by a provider and not credited yet, late funds included',
              },
            },
            description:
              'The balance in one currency; currencies are never converted or added together',
          },
        },
      },
      description: 'Balances per currency',
    },
  },
  {
    name: 'list_transactions',
    title: 'List transactions',
    description: 'Returns the ledger history: everything that changed a balance, newest first.',
    method: 'GET',
    path: '/transactions',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: ['currency', 'type', 'source_id', 'created_from', 'created_to', 'limit', 'cursor'],
    input: {
      type: 'object',
      properties: {
        currency: {
          type: 'string',
          pattern: '^[A-Z0-9]{2,12}$',
          description: 'A currency code in capital letters, such as "USDT"',
        },
        type: {
          type: 'string',
          enum: [
            'payin_settlement',
            'payin_refund',
            'payout_reserve',
            'payout_release',
            'payout_settlement',
            'adjustment',
          ],
          description:
            'One of payin_settlement, payin_refund, payout_reserve, payout_release, payout_settlement, adjustment',
        },
        source_id: {
          type: 'string',
          pattern: '^(pay|po|adj)_[0-9A-HJKMNP-TV-Z]{26}$',
          description: 'The ID of a payment, payout or adjustment',
        },
        created_from: {
          type: 'string',
          pattern:
            '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
          examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
          description:
            'The earliest time of creation; a date without a time means the whole UTC day',
        },
        created_to: {
          type: 'string',
          pattern:
            '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
          examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
          description: 'The latest time of creation; a date without a time means the whole UTC day',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 25,
          description: 'Number of objects per page',
        },
        cursor: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]+$',
          description: 'meta.next_cursor of the previous page, with the same filters',
        },
      },
      required: [],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data', 'links', 'meta'],
      properties: {
        data: {
          type: 'array',
          items: { $ref: '#/$defs/Transaction' },
          description: 'Newest first',
        },
        links: {
          type: 'object',
          required: ['first', 'last', 'prev', 'next'],
          properties: {
            first: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            last: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            prev: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            next: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string', format: 'uri' }, { type: 'null' }],
              description: 'Null on the last page',
            },
          },
          description: 'next is the URL of the next page, or null on the last page',
        },
        meta: {
          type: 'object',
          required: ['path', 'per_page', 'next_cursor', 'prev_cursor'],
          properties: {
            path: { type: 'string', format: 'uri' },
            per_page: { type: 'integer', minimum: 1, maximum: 100 },
            next_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Null on the last page',
            },
            prev_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
          },
          description: 'next_cursor is the cursor of the next page, or null on the last page',
        },
      },
      description: 'A page of a list',
    },
  },
  {
    name: 'list_payments',
    title: 'List payments',
    description: 'Returns payments, newest first.',
    method: 'GET',
    path: '/payments',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: [
      'status',
      'reference',
      'currency',
      'provider',
      'created_from',
      'created_to',
      'limit',
      'cursor',
    ],
    input: {
      type: 'object',
      properties: {
        status: {
          type: 'array',
          items: {
            type: 'string',
            enum: [
              'created',
              'pending',
              'processing',
              'on_hold',
              'completed',
              'underpaid',
              'failed',
              'expired',
              'cancelled',
              'refunded',
            ],
          },
          minItems: 1,
          description:
            'A comma-separated list of created, pending, processing, on_hold, completed, underpaid, failed, expired, cancelled, refunded',
        },
        reference: {
          type: 'string',
          pattern: '^[\\x21-\\x7e]{1,64}$',
          description: 'Your unique ID: 1 to 64 printable ASCII characters without spaces',
        },
        currency: {
          type: 'string',
          pattern: '^[A-Z0-9]{2,12}$',
          description: 'A currency code in capital letters, such as "USDT"',
        },
        provider: {
          type: 'string',
          enum: ['onchain_provider', 'exchange_pay'],
          description: 'One of onchain_provider, exchange_pay',
        },
        created_from: {
          type: 'string',
          pattern:
            '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
          examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
          description:
            'The earliest time of creation; a date without a time means the whole UTC day',
        },
        created_to: {
          type: 'string',
          pattern:
            '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
          examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
          description: 'The latest time of creation; a date without a time means the whole UTC day',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 25,
          description: 'Number of objects per page',
        },
        cursor: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]+$',
          description: 'meta.next_cursor of the previous page, with the same filters',
        },
      },
      required: [],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data', 'links', 'meta'],
      properties: {
        data: { type: 'array', items: { $ref: '#/$defs/Payment' }, description: 'Newest first' },
        links: {
          type: 'object',
          required: ['first', 'last', 'prev', 'next'],
          properties: {
            first: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            last: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            prev: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            next: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string', format: 'uri' }, { type: 'null' }],
              description: 'Null on the last page',
            },
          },
          description: 'next is the URL of the next page, or null on the last page',
        },
        meta: {
          type: 'object',
          required: ['path', 'per_page', 'next_cursor', 'prev_cursor'],
          properties: {
            path: { type: 'string', format: 'uri' },
            per_page: { type: 'integer', minimum: 1, maximum: 100 },
            next_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Null on the last page',
            },
            prev_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
          },
          description: 'next_cursor is the cursor of the next page, or null on the last page',
        },
      },
      description: 'A page of a list',
    },
  },
  {
    name: 'get_payment',
    title: 'Retrieve a payment',
    description: 'Returns the current state of a payment.',
    method: 'GET',
    path: '/payments/{id}',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: [],
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          pattern: '^pay_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of the payment',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/Payment' } },
      description: 'A single object',
    },
  },
  {
    name: 'list_refunds',
    title: 'List refunds',
    description: 'Returns the refunds of all payments, newest first.',
    method: 'GET',
    path: '/refunds',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: [
      'status',
      'reference',
      'created_from',
      'created_to',
      'payment_id',
      'currency',
      'limit',
      'cursor',
    ],
    input: {
      type: 'object',
      properties: {
        status: {
          type: 'array',
          items: { type: 'string', enum: ['pending', 'completed', 'failed'] },
          minItems: 1,
          description: 'A comma-separated list of pending, completed, failed',
        },
        reference: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]{1,64}$',
          description: 'Your unique ID: 1 to 64 letters, digits, "_" or "-"',
        },
        created_from: {
          type: 'string',
          pattern:
            '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
          examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
          description:
            'The earliest time of creation; a date without a time means the whole UTC day',
        },
        created_to: {
          type: 'string',
          pattern:
            '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
          examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
          description: 'The latest time of creation; a date without a time means the whole UTC day',
        },
        payment_id: {
          type: 'string',
          pattern: '^pay_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of a payment',
        },
        currency: {
          type: 'string',
          pattern: '^[A-Z0-9]{2,12}$',
          description: 'A currency code in capital letters, such as "USDT"',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 25,
          description: 'Number of objects per page',
        },
        cursor: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]+$',
          description: 'meta.next_cursor of the previous page, with the same filters',
        },
      },
      required: [],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data', 'links', 'meta'],
      properties: {
        data: { type: 'array', items: { $ref: '#/$defs/Refund' }, description: 'Newest first' },
        links: {
          type: 'object',
          required: ['first', 'last', 'prev', 'next'],
          properties: {
            first: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            last: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            prev: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            next: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string', format: 'uri' }, { type: 'null' }],
              description: 'Null on the last page',
            },
          },
          description: 'next is the URL of the next page, or null on the last page',
        },
        meta: {
          type: 'object',
          required: ['path', 'per_page', 'next_cursor', 'prev_cursor'],
          properties: {
            path: { type: 'string', format: 'uri' },
            per_page: { type: 'integer', minimum: 1, maximum: 100 },
            next_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Null on the last page',
            },
            prev_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
          },
          description: 'next_cursor is the cursor of the next page, or null on the last page',
        },
      },
      description: 'A page of a list',
    },
  },
  {
    name: 'get_refund',
    title: 'Retrieve a refund',
    description: 'Returns the current state of a refund.',
    method: 'GET',
    path: '/refunds/{id}',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: [],
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          pattern: '^rf_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of the refund',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/Refund' } },
      description: 'A single object',
    },
  },
  {
    name: 'list_payouts',
    title: 'List payouts',
    description: 'Returns payouts, newest first.',
    method: 'GET',
    path: '/payouts',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: [
      'status',
      'reference',
      'currency',
      'provider',
      'batch',
      'recipient',
      'created_from',
      'created_to',
      'limit',
      'cursor',
    ],
    input: {
      type: 'object',
      properties: {
        status: {
          type: 'array',
          items: {
            type: 'string',
            enum: [
              'requested',
              'under_review',
              'approved',
              'processing',
              'completed',
              'rejected',
              'failed',
              'cancelled',
            ],
          },
          minItems: 1,
          description:
            'A comma-separated list of requested, under_review, approved, processing, completed, rejected, failed, cancelled',
        },
        reference: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]{1,64}$',
          description: 'Your unique ID: 1 to 64 letters, digits, "_" or "-"',
        },
        currency: {
          type: 'string',
          pattern: '^[A-Z0-9]{2,12}$',
          description: 'A currency code in capital letters, such as "USDT"',
        },
        provider: {
          type: 'string',
          enum: ['onchain_provider', 'exchange_pay'],
          description: 'One of onchain_provider, exchange_pay',
        },
        batch: {
          type: 'string',
          pattern: '^pb_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of a batch',
        },
        recipient: {
          type: 'string',
          pattern: '^rcp_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of a recipient',
        },
        created_from: {
          type: 'string',
          pattern:
            '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
          examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
          description:
            'The earliest time of creation; a date without a time means the whole UTC day',
        },
        created_to: {
          type: 'string',
          pattern:
            '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
          examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
          description: 'The latest time of creation; a date without a time means the whole UTC day',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 25,
          description: 'Number of objects per page',
        },
        cursor: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]+$',
          description: 'meta.next_cursor of the previous page, with the same filters',
        },
      },
      required: [],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data', 'links', 'meta'],
      properties: {
        data: { type: 'array', items: { $ref: '#/$defs/Payout' }, description: 'Newest first' },
        links: {
          type: 'object',
          required: ['first', 'last', 'prev', 'next'],
          properties: {
            first: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            last: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            prev: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            next: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string', format: 'uri' }, { type: 'null' }],
              description: 'Null on the last page',
            },
          },
          description: 'next is the URL of the next page, or null on the last page',
        },
        meta: {
          type: 'object',
          required: ['path', 'per_page', 'next_cursor', 'prev_cursor'],
          properties: {
            path: { type: 'string', format: 'uri' },
            per_page: { type: 'integer', minimum: 1, maximum: 100 },
            next_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Null on the last page',
            },
            prev_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
          },
          description: 'next_cursor is the cursor of the next page, or null on the last page',
        },
      },
      description: 'A page of a list',
    },
  },
  {
    name: 'get_payout',
    title: 'Retrieve a payout',
    description: 'Returns the current state of a payout.',
    method: 'GET',
    path: '/payouts/{id}',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: [],
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          pattern: '^po_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of the payout',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/Payout' } },
      description: 'A single object',
    },
  },
  {
    name: 'list_payout_batches',
    title: 'List batches',
    description: 'Returns batches, newest first. GET /payouts?batch=… lists the rows of one.',
    method: 'GET',
    path: '/payout_batches',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: ['limit', 'cursor'],
    input: {
      type: 'object',
      properties: {
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 25,
          description: 'Number of objects per page',
        },
        cursor: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]+$',
          description: 'meta.next_cursor of the previous page, with the same filters',
        },
      },
      required: [],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data', 'links', 'meta'],
      properties: {
        data: {
          type: 'array',
          items: { $ref: '#/$defs/PayoutBatch' },
          description: 'Newest first',
        },
        links: {
          type: 'object',
          required: ['first', 'last', 'prev', 'next'],
          properties: {
            first: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            last: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            prev: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            next: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string', format: 'uri' }, { type: 'null' }],
              description: 'Null on the last page',
            },
          },
          description: 'next is the URL of the next page, or null on the last page',
        },
        meta: {
          type: 'object',
          required: ['path', 'per_page', 'next_cursor', 'prev_cursor'],
          properties: {
            path: { type: 'string', format: 'uri' },
            per_page: { type: 'integer', minimum: 1, maximum: 100 },
            next_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Null on the last page',
            },
            prev_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
          },
          description: 'next_cursor is the cursor of the next page, or null on the last page',
        },
      },
      description: 'A page of a list',
    },
  },
  {
    name: 'get_payout_batch',
    title: 'Retrieve a batch',
    description: 'Returns the current state of a batch and the number of rows in each state.',
    method: 'GET',
    path: '/payout_batches/{id}',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: [],
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          pattern: '^pb_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of the batch',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/PayoutBatch' } },
      description: 'A single object',
    },
  },
  {
    name: 'list_recipients',
    title: 'List recipients',
    description: 'Returns recipients, newest first. Deleted recipients are left out.',
    method: 'GET',
    path: '/recipients',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: ['currency', 'network', 'tag', 'limit', 'cursor'],
    input: {
      type: 'object',
      properties: {
        currency: {
          type: 'string',
          pattern: '^[A-Z0-9]{2,12}$',
          description: 'A currency code in capital letters, such as "USDT"',
        },
        network: {
          type: 'string',
          pattern: '^[a-z0-9_-]{1,64}$',
          description: 'The name of a network',
        },
        tag: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,40}$', description: 'A tag' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 25,
          description: 'Number of objects per page',
        },
        cursor: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]+$',
          description: 'meta.next_cursor of the previous page, with the same filters',
        },
      },
      required: [],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data', 'links', 'meta'],
      properties: {
        data: { type: 'array', items: { $ref: '#/$defs/Recipient' }, description: 'Newest first' },
        links: {
          type: 'object',
          required: ['first', 'last', 'prev', 'next'],
          properties: {
            first: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            last: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            prev: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            next: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string', format: 'uri' }, { type: 'null' }],
              description: 'Null on the last page',
            },
          },
          description: 'next is the URL of the next page, or null on the last page',
        },
        meta: {
          type: 'object',
          required: ['path', 'per_page', 'next_cursor', 'prev_cursor'],
          properties: {
            path: { type: 'string', format: 'uri' },
            per_page: { type: 'integer', minimum: 1, maximum: 100 },
            next_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Null on the last page',
            },
            prev_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
          },
          description: 'next_cursor is the cursor of the next page, or null on the last page',
        },
      },
      description: 'A page of a list',
    },
  },
  {
    name: 'get_recipient',
    title: 'Retrieve a recipient',
    description:
      'Returns a recipient, also a deleted one. GET /payouts?recipient=… lists its payouts.',
    method: 'GET',
    path: '/recipients/{id}',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: [],
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          pattern: '^rcp_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of the recipient',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/Recipient' } },
      description: 'A single object',
    },
  },
  {
    name: 'list_events',
    title: 'List events',
    description:
      'Returns the events of the last 30 days, newest first, with the same bodies as webhooks. With after, it returns the events after that one instead, oldest first and in the order in which they were recorded: continue with the ID of the last event that you processed, or with meta.next_cursor. No event is then missed, and none is listed twice. In this feed meta.next_cursor is never null, because new events follow; an empty page means that you have read all events so far. With wait, the request stays open until there is an event. Filters must stay the same while you use a cursor.',
    method: 'GET',
    path: '/events',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: ['type', 'object_id', 'created_from', 'created_to', 'after', 'wait', 'limit', 'cursor'],
    input: {
      type: 'object',
      properties: {
        type: {
          type: 'array',
          items: {
            type: 'string',
            enum: [
              'payment.created',
              'payment.pending',
              'payment.processing',
              'payment.on_hold',
              'payment.completed',
              'payment.underpaid',
              'payment.failed',
              'payment.expired',
              'payment.cancelled',
              'payment.refunded',
              'payment.received',
              'payout.requested',
              'payout.approved',
              'payout.processing',
              'payout.completed',
              'payout.rejected',
              'payout.failed',
              'payout.cancelled',
              'payout_batch.approved',
              'payout_batch.completed',
              'payout_batch.stopped',
              'payout_batch.rejected',
              'payout_schedule.run_created',
              'payout_schedule.run_failed',
              'payout_schedule.ended',
              'recipient.created',
              'recipient.updated',
              'recipient.deleted',
              'refund.created',
              'refund.completed',
              'refund.failed',
            ],
          },
          minItems: 1,
          description:
            'A comma-separated list of payment.created, payment.pending, payment.processing, payment.on_hold, payment.completed, payment.underpaid, payment.failed, payment.expired, payment.cancelled, payment.refunded, payment.received, payout.requested, payout.approved, payout.processing, payout.completed, payout.rejected, payout.failed, payout.cancelled, payout_batch.approved, payout_batch.completed, payout_batch.stopped, payout_batch.rejected, payout_schedule.run_created, payout_schedule.run_failed, payout_schedule.ended, recipient.created, recipient.updated, recipient.deleted, refund.created, refund.completed, refund.failed',
        },
        object_id: {
          type: 'string',
          pattern: '^(pay|rf|po|pb|ps|rcp)_[0-9A-HJKMNP-TV-Z]{26}$',
          description: 'The ID of a payment, refund, payout, batch, schedule or recipient',
        },
        created_from: {
          type: 'string',
          pattern:
            '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
          examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
          description:
            'The earliest time of creation; a date without a time means the whole UTC day',
        },
        created_to: {
          type: 'string',
          pattern:
            '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
          examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
          description: 'The latest time of creation; a date without a time means the whole UTC day',
        },
        after: {
          type: 'string',
          anyOf: [
            {
              type: 'string',
              pattern: '^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
              description: 'ID with the prefix evt_',
            },
            { type: 'string', enum: ['latest'] },
            { type: 'string', enum: ['oldest'] },
          ],
          description:
            'Follows the events from a point on, oldest first: after the event with this ID, "oldest" for all that are kept, or "latest" for events from now on',
        },
        wait: {
          type: 'integer',
          minimum: 0,
          maximum: 30,
          default: 0,
          description:
            'With after, or with a cursor of it: seconds to wait for an event if there is none yet',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 25,
          description: 'Number of objects per page',
        },
        cursor: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]+$',
          description: 'meta.next_cursor of the previous page, with the same filters',
        },
      },
      required: [],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data', 'links', 'meta'],
      properties: {
        data: { type: 'array', items: { $ref: '#/$defs/Event' }, description: 'Newest first' },
        links: {
          type: 'object',
          required: ['first', 'last', 'prev', 'next'],
          properties: {
            first: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            last: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            prev: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            next: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string', format: 'uri' }, { type: 'null' }],
              description: 'Null on the last page',
            },
          },
          description: 'next is the URL of the next page, or null on the last page',
        },
        meta: {
          type: 'object',
          required: ['path', 'per_page', 'next_cursor', 'prev_cursor'],
          properties: {
            path: { type: 'string', format: 'uri' },
            per_page: { type: 'integer', minimum: 1, maximum: 100 },
            next_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Null on the last page',
            },
            prev_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
          },
          description: 'next_cursor is the cursor of the next page, or null on the last page',
        },
      },
      description: 'A page of a list',
    },
  },
  {
    name: 'get_event',
    title: 'Retrieve an event',
    description:
      'Returns an event of the last 30 days, with the same body as its webhooks. The object in data is as it was at the time of the event.',
    method: 'GET',
    path: '/events/{id}',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: [],
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          pattern: '^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of the event',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/Event' } },
      description: 'A single object',
    },
  },
  {
    name: 'list_webhook_endpoints',
    title: 'List webhook endpoints',
    description: 'Returns webhook endpoints, newest first. Deleted endpoints are left out.',
    method: 'GET',
    path: '/webhook_endpoints',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: ['limit', 'cursor'],
    input: {
      type: 'object',
      properties: {
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 25,
          description: 'Number of objects per page',
        },
        cursor: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]+$',
          description: 'meta.next_cursor of the previous page, with the same filters',
        },
      },
      required: [],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data', 'links', 'meta'],
      properties: {
        data: {
          type: 'array',
          items: { $ref: '#/$defs/WebhookEndpoint' },
          description: 'Newest first',
        },
        links: {
          type: 'object',
          required: ['first', 'last', 'prev', 'next'],
          properties: {
            first: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            last: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            prev: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            next: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string', format: 'uri' }, { type: 'null' }],
              description: 'Null on the last page',
            },
          },
          description: 'next is the URL of the next page, or null on the last page',
        },
        meta: {
          type: 'object',
          required: ['path', 'per_page', 'next_cursor', 'prev_cursor'],
          properties: {
            path: { type: 'string', format: 'uri' },
            per_page: { type: 'integer', minimum: 1, maximum: 100 },
            next_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Null on the last page',
            },
            prev_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
          },
          description: 'next_cursor is the cursor of the next page, or null on the last page',
        },
      },
      description: 'A page of a list',
    },
  },
  {
    name: 'list_webhook_deliveries',
    title: 'List the deliveries of an endpoint',
    description: 'Returns the deliveries of events to an endpoint, newest first.',
    method: 'GET',
    path: '/webhook_endpoints/{id}/deliveries',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: ['status', 'limit', 'cursor'],
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          pattern: '^we_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of the endpoint',
        },
        status: {
          type: 'string',
          enum: ['pending', 'succeeded', 'failed', 'skipped', 'abandoned'],
          description: 'One of pending, succeeded, failed, skipped, abandoned',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 25,
          description: 'Number of objects per page',
        },
        cursor: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]+$',
          description: 'meta.next_cursor of the previous page, with the same filters',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data', 'links', 'meta'],
      properties: {
        data: {
          type: 'array',
          items: { $ref: '#/$defs/WebhookDelivery' },
          description: 'Newest first',
        },
        links: {
          type: 'object',
          required: ['first', 'last', 'prev', 'next'],
          properties: {
            first: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            last: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            prev: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            next: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string', format: 'uri' }, { type: 'null' }],
              description: 'Null on the last page',
            },
          },
          description: 'next is the URL of the next page, or null on the last page',
        },
        meta: {
          type: 'object',
          required: ['path', 'per_page', 'next_cursor', 'prev_cursor'],
          properties: {
            path: { type: 'string', format: 'uri' },
            per_page: { type: 'integer', minimum: 1, maximum: 100 },
            next_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Null on the last page',
            },
            prev_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
          },
          description: 'next_cursor is the cursor of the next page, or null on the last page',
        },
      },
      description: 'A page of a list',
    },
  },
  {
    name: 'get_webhook_delivery',
    title: 'Retrieve a delivery',
    description: 'Returns a delivery with its attempts. GET /events/{event_id} has what was sent.',
    method: 'GET',
    path: '/webhook_deliveries/{id}',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: [],
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          pattern: '^whd_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of the delivery',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/WebhookDeliveryWithAttempts' } },
      description: 'A single object',
    },
  },
  {
    name: 'list_currencies',
    title: 'List providers, currencies and networks',
    description:
      'Returns the supported currencies and networks of each enabled provider, with the minimum and maximum amounts.',
    method: 'GET',
    path: '/currencies',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: [],
    input: { type: 'object', properties: {}, required: [], additionalProperties: false },
    output: {
      type: 'object',
      required: ['object', 'providers', 'data'],
      properties: {
        object: { type: 'string', const: 'list' },
        providers: {
          type: 'array',
          items: {
            type: 'object',
            required: ['code', 'name', 'pay_in', 'pay_out', 'capabilities'],
            properties: {
              code: {
                type: 'string',
                enum: ['onchain_provider', 'exchange_pay'],
                description: 'Provider code',
              },
              name: { type: 'string', description: 'Display name' },
              pay_in: { type: 'boolean' },
              pay_out: { type: 'boolean' },
              capabilities: {
                type: 'object',
                required: [
                  'pay_in',
                  'pay_out',
                  'destination_types',
                  'network_required',
                  'memo_supported',
                  'network_fee_estimate',
                  'tx_hash',
                  'refunds',
                  'refund_destination_types',
                  'partial_payments',
                  'checkout_ttl_seconds',
                ],
                properties: {
                  pay_in: { type: 'boolean' },
                  pay_out: { type: 'boolean' },
                  destination_types: { type: 'array', items: { type: 'string' } },
                  network_required: { type: 'boolean' },
                  memo_supported: { type: 'boolean' },
                  network_fee_estimate: { type: 'boolean' },
                  tx_hash: { type: 'boolean' },
                  refunds: { type: 'boolean' },
                  refund_destination_types: {
                    type: 'array',
                    items: { type: 'string' },
                    description:
                      'The types of address that a refund needs, which the customer names. Empty: the provider refunds to who paid',
                  },
                  partial_payments: { type: 'boolean' },
                  checkout_ttl_seconds: {
                    type: ['integer', 'null'],
                    anyOf: [{ type: 'integer' }, { type: 'null' }],
                    description: 'Null if the provider has no time limit',
                  },
                },
                description: 'The capabilities of the provider',
              },
            },
            description: 'An enabled provider',
          },
        },
        data: {
          type: 'array',
          items: {
            type: 'object',
            required: ['provider', 'direction', 'currency', 'network', 'min_amount', 'max_amount'],
            properties: {
              provider: {
                type: 'string',
                enum: ['onchain_provider', 'exchange_pay'],
                description: 'Provider code',
              },
              direction: {
                type: 'string',
                enum: ['payin', 'payout'],
                description: 'payin for payments, payout for payouts',
              },
              currency: {
                type: 'string',
                pattern: '^[A-Z0-9]{2,12}$',
                description: 'Currency code',
              },
              network: {
                type: 'string',
                description: 'internal for transfers within the provider',
              },
              min_amount: {
                type: 'string',
                pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
                description: 'The minimum amount',
              },
              max_amount: {
                type: ['string', 'null'],
                anyOf: [
                  {
                    type: 'string',
                    pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
                    description: 'The maximum amount',
                  },
                  { type: 'null' },
                ],
                description: 'Null if there is no maximum',
              },
            },
            description: 'A currency that the provider supports on a network',
          },
        },
      },
      description: 'The supported providers, currencies and networks',
    },
  },
  {
    name: 'quote_fee',
    title: 'Quote a fee',
    description:
      'Returns the fee for an amount: the percentage plus the fixed amount, at least min_fee and at most max_fee. The quote is not wrapped in data.',
    method: 'GET',
    path: '/fees/quote',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: ['direction', 'provider', 'currency', 'amount'],
    input: {
      type: 'object',
      properties: {
        direction: {
          type: 'string',
          enum: ['payin', 'payout'],
          description: 'One of payin, payout',
        },
        provider: {
          type: 'string',
          enum: ['onchain_provider', 'exchange_pay'],
          description: 'One of onchain_provider, exchange_pay',
        },
        currency: {
          type: 'string',
          pattern: '^[A-Z0-9]{2,12}$',
          description: 'A currency code in capital letters, such as "USDT"',
        },
        amount: {
          type: 'string',
          pattern: '^[0-9]{1,18}(\\.[0-9]{1,8})?$',
          examples: ['125.50'],
          description: 'A decimal greater than zero with at most 8 decimals, such as "125.50"',
        },
      },
      required: ['direction', 'provider', 'currency', 'amount'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: [
        'object',
        'direction',
        'provider',
        'currency',
        'amount',
        'service_fee',
        'net_amount',
        'note',
      ],
      properties: {
        object: { type: 'string', const: 'fee_quote' },
        direction: {
          type: 'string',
          enum: ['payin', 'payout'],
          description: 'payin for payments, payout for payouts',
        },
        provider: {
          type: 'string',
          enum: ['onchain_provider', 'exchange_pay'],
          description: 'Provider code',
        },
        currency: { type: 'string', pattern: '^[A-Z0-9]{2,12}$', description: 'Currency code' },
        amount: {
          type: 'string',
          pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
          description: 'The amount of the quote',
        },
        service_fee: {
          type: 'string',
          pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
          description: 'Our fee on the amount',
        },
        net_amount: {
          type: ['string', 'null'],
          anyOf: [
            {
              type: 'string',
              pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
              description: 'The amount less the fee',
            },
            { type: 'null' },
          ],
          description: 'Null for payouts',
        },
        note: {
          type: ['string', 'null'],
          anyOf: [{ type: 'string' }, { type: 'null' }],
          description: 'For payouts: a network fee may be added',
        },
      },
      description: 'A fee quote',
    },
  },
  {
    name: 'list_request_logs',
    title: 'List requests',
    description:
      'Returns the requests of all API keys of the account in the mode of the key, newest first. An entry appears about a second after its response and is kept for 7 days. Secrets are removed, and long texts are shortened. Requests to read this log are in it only if they were refused.',
    method: 'GET',
    path: '/request_logs',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: ['status', 'method', 'path', 'created_from', 'created_to', 'limit', 'cursor'],
    input: {
      type: 'object',
      properties: {
        status: {
          type: 'string',
          pattern: '^[1-5](xx|[0-9]{2})$',
          description: 'An HTTP status such as 422, or a class such as 4xx',
        },
        method: {
          type: 'string',
          enum: ['GET', 'POST', 'PATCH', 'DELETE'],
          description: 'One of GET, POST, PATCH, DELETE',
        },
        path: {
          type: 'string',
          pattern: '^\\/[\\x21-\\x7e]{0,199}$',
          description: 'The beginning of the path, such as /api/v1/payouts',
        },
        created_from: {
          type: 'string',
          pattern:
            '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
          examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
          description:
            'The earliest time of creation; a date without a time means the whole UTC day',
        },
        created_to: {
          type: 'string',
          pattern:
            '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
          examples: ['2026-01-31', '2026-01-31T12:00:00Z'],
          description: 'The latest time of creation; a date without a time means the whole UTC day',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 25,
          description: 'Number of objects per page',
        },
        cursor: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]+$',
          description: 'meta.next_cursor of the previous page, with the same filters',
        },
      },
      required: [],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data', 'links', 'meta'],
      properties: {
        data: { type: 'array', items: { $ref: '#/$defs/RequestLog' }, description: 'Newest first' },
        links: {
          type: 'object',
          required: ['first', 'last', 'prev', 'next'],
          properties: {
            first: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            last: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            prev: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
            next: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string', format: 'uri' }, { type: 'null' }],
              description: 'Null on the last page',
            },
          },
          description: 'next is the URL of the next page, or null on the last page',
        },
        meta: {
          type: 'object',
          required: ['path', 'per_page', 'next_cursor', 'prev_cursor'],
          properties: {
            path: { type: 'string', format: 'uri' },
            per_page: { type: 'integer', minimum: 1, maximum: 100 },
            next_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Null on the last page',
            },
            prev_cursor: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Always null',
            },
          },
          description: 'next_cursor is the cursor of the next page, or null on the last page',
        },
      },
      description: 'A page of a list',
    },
  },
  {
    name: 'get_request_log',
    title: 'Retrieve a request',
    description:
      'Returns one request by the ID in its X-Request-Id header. An entry appears about a second after its response and is kept for 7 days. Secrets are removed, and long texts are shortened.',
    method: 'GET',
    path: '/request_logs/{id}',
    kind: 'reads',
    hasIdempotencyKey: false,
    query: [],
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          pattern: '^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of the request',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/RequestLog' } },
      description: 'A single object',
    },
  },
  {
    name: 'create_payment',
    title: 'Create a payment',
    description:
      'Opens a checkout at a provider. Redirect your customer to checkout_url. The redirect back to your site is not proof of payment.',
    method: 'POST',
    path: '/payments',
    kind: 'adds',
    hasIdempotencyKey: true,
    query: [],
    input: {
      type: 'object',
      properties: {
        amount: {
          type: 'string',
          description:
            'A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50"',
        },
        currency: {
          type: 'string',
          pattern: '^[A-Z0-9]{2,12}$',
          description: 'A currency code in capital letters, such as "USDT"',
        },
        reference: {
          type: 'string',
          minLength: 1,
          maxLength: 64,
          pattern: '^[\\x21-\\x7e]*$',
          description: 'Your unique ID: 1 to 64 printable ASCII characters without spaces',
        },
        description: {
          type: 'string',
          maxLength: 255,
          pattern: '^[^\\x00]*$',
          description: 'Text of at most 255 characters without control characters',
        },
        customer_email: {
          type: 'string',
          maxLength: 254,
          pattern: '^[^\\s@\\x00]+@[^\\s@.\\x00]+(\\.[^\\s@.\\x00]+)+$',
          description: 'An email address of at most 254 characters',
        },
        success_url: {
          type: 'string',
          maxLength: 2048,
          pattern: '^[^\\x00]*$',
          description: 'An absolute URL of at most 2048 characters',
        },
        cancel_url: {
          type: 'string',
          maxLength: 2048,
          pattern: '^[^\\x00]*$',
          description: 'An absolute URL of at most 2048 characters',
        },
        provider: {
          type: 'string',
          enum: ['onchain_provider', 'exchange_pay'],
          description: 'One of onchain_provider, exchange_pay',
        },
        network: {
          type: 'string',
          maxLength: 64,
          pattern: '^[^\\x00]*$',
          description: 'The name of a network, such as "tron"',
        },
        metadata: {
          type: 'object',
          additionalProperties: {
            type: 'string',
            maxLength: 500,
            pattern: '^[^\\x00]*$',
            description: 'Text of at most 500 characters, without NUL in the key or the value',
          },
          maxProperties: 20,
          propertyNames: { type: 'string', minLength: 1, maxLength: 40, pattern: '^[^\\x00]*$' },
          description:
            'An object of at most 20 strings, with keys of 1 to 40 characters and values of at most 500',
        },
        expires_in: {
          type: 'integer',
          minimum: 5,
          maximum: 86400,
          description: 'A whole number of seconds from 300 (5 in test mode) to 86400',
        },
      },
      required: ['amount', 'currency', 'reference'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/Payment' } },
      description: 'A single object',
    },
  },
  {
    name: 'create_refund',
    title: 'Refund a payment',
    description:
      'Takes the money from your balance at once. Without an amount it refunds everything that is left. A provider that knows who paid sends the money back. Where it cannot, as on blockchains, the refund `awaits_address`: the customer gets a link to name an address, and a payout sends the money there under the rules of your payouts. This needs the scope `refunds:write`. If the refund fails or is cancelled, the money returns to your balance. In test mode a destination can stand for the customer’s answer; it also needs `payouts:write`.',
    method: 'POST',
    path: '/payments/{id}/refunds',
    kind: 'adds',
    hasIdempotencyKey: true,
    query: [],
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          pattern: '^pay_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of the payment',
        },
        amount: {
          type: 'string',
          description:
            'A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50"',
        },
        reference: {
          type: 'string',
          minLength: 1,
          maxLength: 64,
          pattern: '^[A-Za-z0-9_-]*$',
          description: 'Your unique ID: 1 to 64 letters, digits, "_" or "-"',
        },
        reason: {
          type: 'string',
          maxLength: 255,
          pattern: '^[^\\x00]*$',
          description: 'Text of at most 255 characters without control characters',
        },
        destination: {
          type: 'object',
          required: ['type', 'value'],
          properties: {
            type: {
              type: 'string',
              enum: ['crypto_address', 'exchange_id', 'email'],
              description: 'One of crypto_address, exchange_id, email',
            },
            value: {
              type: 'string',
              minLength: 1,
              maxLength: 255,
              pattern: '^[^\\x00]*$',
              description: 'The address, account ID or email address of the recipient',
            },
            memo: {
              type: 'string',
              maxLength: 64,
              pattern: '^[^\\x00]*$',
              description:
                'Text of at most 64 characters without NUL, or null if the destination has none',
            },
          },
          additionalProperties: false,
          description: 'An object with type, value and optionally memo',
        },
      },
      required: ['id', 'reference'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/Refund' } },
      description: 'A single object',
    },
  },
  {
    name: 'create_payout',
    title: 'Create a payout',
    description:
      'Reserves the amount plus fees immediately. A live payout may need approval by an operator before it is sent to the provider. After a timeout or a 5xx response, retry the request with the same Idempotency-Key.',
    method: 'POST',
    path: '/payouts',
    kind: 'adds',
    hasIdempotencyKey: true,
    query: [],
    input: {
      type: 'object',
      properties: {
        amount: {
          type: 'string',
          description:
            'A decimal string greater than zero with at most 18 digits before and 8 after the decimal point, such as "125.50"',
        },
        currency: {
          type: 'string',
          pattern: '^[A-Z0-9]{2,12}$',
          description: 'A currency code in capital letters, such as "USDT"',
        },
        reference: {
          type: 'string',
          minLength: 1,
          maxLength: 64,
          pattern: '^[A-Za-z0-9_-]*$',
          description: 'Your unique ID: 1 to 64 letters, digits, "_" or "-"',
        },
        destination: {
          type: 'object',
          required: ['type', 'value'],
          properties: {
            type: {
              type: 'string',
              enum: ['crypto_address', 'exchange_id', 'email'],
              description: 'One of crypto_address, exchange_id, email',
            },
            value: {
              type: 'string',
              minLength: 1,
              maxLength: 255,
              pattern: '^[^\\x00]*$',
              description: 'The address, account ID or email address of the recipient',
            },
            memo: {
              type: 'string',
              maxLength: 64,
              pattern: '^[^\\x00]*$',
              description:
                'Text of at most 64 characters without NUL, or null if the destination has none',
            },
          },
          additionalProperties: false,
          description: 'An object with type, value and optionally memo',
        },
        recipient: {
          type: 'string',
          pattern: '^rcp_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of a recipient, in place of destination',
        },
        network: {
          type: 'string',
          minLength: 1,
          maxLength: 64,
          pattern: '^[^\\x00]*$',
          description: 'The name of a network, such as "tron"',
        },
        provider: {
          type: 'string',
          enum: ['onchain_provider', 'exchange_pay'],
          description: 'One of onchain_provider, exchange_pay',
        },
        description: {
          type: 'string',
          maxLength: 255,
          pattern: '^[^\\x00]*$',
          description: 'Text of at most 255 characters without control characters',
        },
        metadata: {
          type: 'object',
          additionalProperties: {
            type: 'string',
            maxLength: 500,
            pattern: '^[^\\x00]*$',
            description: 'Text of at most 500 characters, without NUL in the key or the value',
          },
          maxProperties: 20,
          propertyNames: { type: 'string', minLength: 1, maxLength: 40, pattern: '^[^\\x00]*$' },
          description:
            'An object of at most 20 strings, with keys of 1 to 40 characters and values of at most 500',
        },
        beneficiary: {
          type: 'object',
          required: ['name', 'kind'],
          properties: {
            name: {
              type: 'string',
              minLength: 1,
              maxLength: 100,
              description:
                'The full name of the person or business that receives the money, in one line of at most 100 characters',
            },
            kind: {
              type: 'string',
              enum: ['individual', 'business'],
              description: 'One of individual, business',
            },
            institution: {
              type: 'string',
              minLength: 1,
              maxLength: 100,
              description:
                'The exchange or other institution that holds the destination, in one line of at most 100 characters',
            },
          },
          additionalProperties: false,
          description: 'An object with name, kind and optionally institution',
        },
        release: {
          type: 'object',
          properties: {
            at: {
              type: 'string',
              maxLength: 40,
              pattern:
                '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
              description: 'A time within a year, in ISO 8601 with a zone',
            },
            after_payment: {
              type: 'string',
              pattern: '^pay_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
              description: 'The ID of your payment that has to be completed',
            },
            approval_by_key: {
              type: 'string',
              pattern: '^key_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
              description:
                'The ID of another API key of your account, which has to release the payout',
            },
            recipient_ready: {
              type: 'boolean',
              description: 'true; the payout waits until its recipient may be paid',
            },
            expires_at: {
              type: 'string',
              maxLength: 40,
              pattern:
                '^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,9})?)?(Z|[+ -](0[0-9]|1[0-4]):?[0-5][0-9]))?$',
              description: 'A time within a year, after release.at, in ISO 8601 with a zone',
            },
          },
          additionalProperties: false,
          description:
            'An object with at, after_payment, approval_by_key or recipient_ready, and optionally expires_at',
        },
      },
      required: ['amount', 'currency', 'reference'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/Payout' } },
      description: 'A single object',
    },
  },
  {
    name: 'cancel_payment',
    title: 'Cancel a payment',
    description:
      'Closes the checkout of a payment for which nothing has arrived: its status is created or pending. Money that the customer sends afterwards is still credited, as late. After service_unavailable, the cancellation may still be carried out: send it again. Limited to 6 requests per minute for each payment.',
    method: 'POST',
    path: '/payments/{id}/cancel',
    kind: 'ends',
    hasIdempotencyKey: false,
    query: [],
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          pattern: '^pay_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of the payment',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/Payment' } },
      description: 'A single object',
    },
  },
  {
    name: 'cancel_payout',
    title: 'Cancel a payout',
    description:
      'Cancels a payout that is requested or under_review. The reserved funds are released immediately.',
    method: 'POST',
    path: '/payouts/{id}/cancel',
    kind: 'ends',
    hasIdempotencyKey: false,
    query: [],
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          pattern: '^po_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of the payout',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/Payout' } },
      description: 'A single object',
    },
  },
  {
    name: 'resend_webhook_delivery',
    title: 'Resend a delivery',
    description:
      'Makes one attempt at once, whatever the status. A success ends the schedule; a failure changes nothing. Events are kept for 30 days.',
    method: 'POST',
    path: '/webhook_deliveries/{id}/resend',
    kind: 'adds',
    hasIdempotencyKey: false,
    query: [],
    input: {
      type: 'object',
      properties: {
        id: {
          type: 'string',
          pattern: '^whd_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
          description: 'The ID of the delivery',
        },
      },
      required: ['id'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      required: ['data'],
      properties: { data: { $ref: '#/$defs/WebhookDelivery' } },
      description: 'A single object',
    },
  },
];

export const EVENT: JsonSchema = {
  type: 'object',
  required: ['id', 'type', 'mode', 'created_at', 'sequence', 'data'],
  properties: {
    id: {
      type: 'string',
      pattern: '^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
      description: 'ID with the prefix evt_',
    },
    type: {
      type: 'string',
      enum: [
        'payment.created',
        'payment.pending',
        'payment.processing',
        'payment.on_hold',
        'payment.completed',
        'payment.underpaid',
        'payment.failed',
        'payment.expired',
        'payment.cancelled',
        'payment.refunded',
        'payment.received',
        'payout.requested',
        'payout.approved',
        'payout.processing',
        'payout.completed',
        'payout.rejected',
        'payout.failed',
        'payout.cancelled',
        'payout_batch.approved',
        'payout_batch.completed',
        'payout_batch.stopped',
        'payout_batch.rejected',
        'payout_schedule.run_created',
        'payout_schedule.run_failed',
        'payout_schedule.ended',
        'recipient.created',
        'recipient.updated',
        'recipient.deleted',
        'refund.created',
        'refund.completed',
        'refund.failed',
        'webhook.ping',
      ],
      description: 'The type of event',
    },
    mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
    created_at: { type: 'string', format: 'date-time', description: 'The time of the event' },
    sequence: { type: 'integer', minimum: 1, description: 'The order of the events of one object' },
    data: {
      type: 'object',
      anyOf: [
        { $ref: '#/$defs/Payment' },
        { $ref: '#/$defs/Payout' },
        { $ref: '#/$defs/PayoutBatch' },
        { $ref: '#/$defs/PayoutSchedule' },
        { $ref: '#/$defs/Recipient' },
        { $ref: '#/$defs/Refund' },
        {
          type: 'object',
          required: ['object', 'endpoint_id', 'url', 'events'],
          properties: {
            object: { type: 'string', const: 'ping' },
            endpoint_id: {
              type: 'string',
              pattern: '^we_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
              description: 'ID with the prefix we_',
            },
            url: { type: 'string' },
            events: { type: 'array', items: { type: 'string' } },
          },
          description: 'A test event',
        },
      ],
    },
  },
  description: 'A webhook event',
};

/** The schemas that others refer to. */

export const DEFINITIONS: Readonly<Record<string, JsonSchema>> = {
  Transaction: {
    type: 'object',
    required: [
      'id',
      'object',
      'mode',
      'type',
      'currency',
      'description',
      'source',
      'entries',
      'posted_at',
    ],
    properties: {
      id: {
        type: 'string',
        pattern: '^txn_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix txn_',
      },
      object: { type: 'string', const: 'transaction' },
      mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
      type: {
        type: 'string',
        enum: [
          'payin_settlement',
          'payin_refund',
          'payout_reserve',
          'payout_release',
          'payout_settlement',
          'adjustment',
        ],
        description: 'The type of transaction',
      },
      currency: { type: 'string', pattern: '^[A-Z0-9]{2,12}$', description: 'Currency code' },
      description: { type: 'string' },
      source: {
        type: 'object',
        required: ['object', 'id'],
        properties: {
          object: {
            type: 'string',
            enum: ['payment', 'payout', 'adjustment'],
            description: 'The type of object',
          },
          id: { type: 'string' },
        },
        description: 'The object that caused the transaction',
      },
      entries: {
        type: 'array',
        items: {
          type: 'object',
          required: ['balance', 'direction', 'amount', 'balance_after'],
          properties: {
            balance: {
              type: 'string',
              enum: ['available', 'reserved'],
              description: 'The balance that changed',
            },
            direction: {
              type: 'string',
              enum: ['in', 'out'],
              description: 'Into or out of the balance',
            },
            amount: {
              type: 'string',
              pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
              description: 'The amount',
            },
            balance_after: {
              type: 'string',
              pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
              description: 'The balance after this entry',
            },
          },
          description: 'A change of one balance',
        },
        minItems: 1,
      },
      posted_at: { type: 'string', format: 'date-time', description: 'The time of posting' },
    },
    description: 'A ledger transaction',
  },
  Payment: {
    type: 'object',
    required: [
      'id',
      'object',
      'mode',
      'status',
      'provider',
      'network',
      'reference',
      'amount',
      'currency',
      'received_amount',
      'unconfirmed_amount',
      'amount_due',
      'overpaid_amount',
      'refunded_amount',
      'service_fee',
      'net_amount',
      'exceptions',
      'tx_hash',
      'checkout_url',
      'success_url',
      'cancel_url',
      'description',
      'customer_email',
      'failure_reason',
      'metadata',
      'created_at',
      'expires_at',
      'completed_at',
    ],
    properties: {
      id: {
        type: 'string',
        pattern: '^pay_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix pay_',
      },
      object: { type: 'string', const: 'payment' },
      mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
      status: {
        type: 'string',
        enum: [
          'created',
          'pending',
          'processing',
          'on_hold',
          'completed',
          'underpaid',
          'failed',
          'expired',
          'cancelled',
          'refunded',
        ],
        description: 'The status',
      },
      provider: {
        type: 'string',
        enum: ['onchain_provider', 'exchange_pay'],
        description: 'Provider code',
      },
      network: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Null for a transfer within the provider',
      },
      reference: { type: 'string', description: 'Your unique ID' },
      amount: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description: 'The requested amount',
      },
      currency: { type: 'string', pattern: '^[A-Z0-9]{2,12}$', description: 'Currency code' },
      received_amount: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description: 'The amount that is confirmed',
      },
      unconfirmed_amount: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description:
          'The amount that was seen and is not confirmed yet. It can still disappear: do not deliver for it',
      },
      amount_due: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description:
          'The amount that the customer still has to send: what is unconfirmed is already subtracted',
      },
      overpaid_amount: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description: 'The confirmed amount beyond the requested amount',
      },
      refunded_amount: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description: 'The amount refunded to the customer',
      },
      service_fee: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description: 'Our fee on the amount received and not refunded',
      },
      net_amount: {
        type: ['string', 'null'],
        anyOf: [
          {
            type: 'string',
            pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
            description: 'The amount credited to your balance',
          },
          { type: 'null' },
        ],
        description: 'Null until the payment is credited',
      },
      exceptions: {
        type: 'array',
        items: {
          type: 'string',
          enum: ['overpaid', 'late', 'manual'],
          description: 'What was out of the ordinary',
        },
      },
      tx_hash: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'The hash of the last transfer, if the provider supplies one',
      },
      checkout_url: {
        type: 'string',
        format: 'uri',
        description: 'The checkout page. Send your customer to this URL',
      },
      success_url: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Where the customer returns; the redirect is not proof of payment',
      },
      cancel_url: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Where the customer returns after cancelling',
      },
      description: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string', maxLength: 255 }, { type: 'null' }],
        description: 'Your description',
      },
      customer_email: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string', maxLength: 254 }, { type: 'null' }],
        description: 'The email address of the customer',
      },
      failure_reason: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Set when the status is failed, or when an operator rejected the payment',
      },
      metadata: {
        type: 'object',
        patternProperties: { '^.*$': { type: 'string' } },
        description: 'The metadata of the request',
      },
      created_at: { type: 'string', format: 'date-time', description: 'The time of creation' },
      expires_at: {
        type: 'string',
        format: 'date-time',
        description: 'The time when the checkout expires',
      },
      completed_at: {
        type: ['string', 'null'],
        anyOf: [
          { type: 'string', format: 'date-time', description: 'The time of completion' },
          { type: 'null' },
        ],
        description: 'Null until completion',
      },
    },
    description: 'A payment',
  },
  Refund: {
    type: 'object',
    required: [
      'id',
      'object',
      'mode',
      'status',
      'payment_id',
      'reference',
      'requested_by',
      'amount',
      'currency',
      'balance_debit',
      'fee_returned',
      'awaits_second_person',
      'awaits_address',
      'address_until',
      'payout_id',
      'destination',
      'reason',
      'failure_reason',
      'created_at',
      'completed_at',
    ],
    properties: {
      id: {
        type: 'string',
        pattern: '^rf_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix rf_',
      },
      object: { type: 'string', const: 'refund' },
      mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
      status: {
        type: 'string',
        enum: ['pending', 'completed', 'failed'],
        description: 'The status',
      },
      payment_id: {
        type: 'string',
        pattern: '^pay_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix pay_',
      },
      reference: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string', description: 'Your unique ID' }, { type: 'null' }],
        description: 'Null if you did not ask for it',
      },
      requested_by: {
        type: 'string',
        enum: ['merchant', 'operator', 'provider'],
        description:
          'Who asked for it: you, the operator of the gateway, or the provider by itself',
      },
      amount: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description: 'What the customer gets back',
      },
      currency: { type: 'string', pattern: '^[A-Z0-9]{2,12}$', description: 'Currency code' },
      balance_debit: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description:
          'What your balance pays: the amount less fee_returned. Zero after a failure, because it was returned',
      },
      fee_returned: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description: 'The part of our fee that we return',
      },
      awaits_second_person: {
        type: 'boolean',
        description:
          'Whether it was made by a person on the dashboard, and waits for the approval of another one',
      },
      awaits_address: {
        type: 'boolean',
        description:
          'The customer has not named an address yet. The money is taken from your balance, and you can cancel the refund',
      },
      address_until: {
        type: ['string', 'null'],
        anyOf: [
          {
            type: 'string',
            format: 'date-time',
            description: 'Until then the customer can name an address',
          },
          { type: 'null' },
        ],
        description: 'Null if the provider sends the money to who paid',
      },
      payout_id: {
        type: ['string', 'null'],
        anyOf: [
          {
            type: 'string',
            pattern: '^po_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
            description: 'ID with the prefix po_',
          },
          { type: 'null' },
        ],
        description:
          'The payout that sends the money. Null before the customer has named an address, and if the provider sends it',
      },
      destination: {
        type: ['object', 'null'],
        anyOf: [
          {
            type: 'object',
            required: ['type', 'value', 'memo'],
            properties: {
              type: {
                type: 'string',
                enum: ['crypto_address', 'exchange_id', 'email'],
                description: 'The type of destination',
              },
              value: { type: 'string', description: 'The address' },
              memo: {
                type: ['string', 'null'],
                anyOf: [{ type: 'string', maxLength: 64 }, { type: 'null' }],
                description: 'The memo or destination tag',
              },
            },
            description: 'Where the money goes',
          },
          { type: 'null' },
        ],
        description: 'Null if the provider decides where the money goes',
      },
      reason: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string', maxLength: 255 }, { type: 'null' }],
        description: 'Your reason',
      },
      failure_reason: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Set when the status is failed',
      },
      created_at: { type: 'string', format: 'date-time', description: 'The time of creation' },
      completed_at: {
        type: ['string', 'null'],
        anyOf: [
          { type: 'string', format: 'date-time', description: 'The time of completion' },
          { type: 'null' },
        ],
        description: 'Null until completion',
      },
    },
    description: 'A refund of a payment',
  },
  Payout: {
    type: 'object',
    required: [
      'id',
      'object',
      'mode',
      'status',
      'provider',
      'reference',
      'amount',
      'currency',
      'network',
      'destination',
      'service_fee',
      'network_fee',
      'total_debit',
      'tx_hash',
      'failure_reason',
      'rejection_reason',
      'description',
      'metadata',
      'created_at',
      'updated_at',
    ],
    properties: {
      id: {
        type: 'string',
        pattern: '^po_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix po_',
      },
      object: { type: 'string', const: 'payout' },
      mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
      status: {
        type: 'string',
        enum: [
          'requested',
          'under_review',
          'approved',
          'processing',
          'completed',
          'rejected',
          'failed',
          'cancelled',
        ],
        description: 'The status',
      },
      provider: {
        type: 'string',
        enum: ['onchain_provider', 'exchange_pay'],
        description: 'Provider code',
      },
      reference: { type: 'string', description: 'Your unique ID' },
      amount: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description: 'The amount that the recipient receives',
      },
      currency: { type: 'string', pattern: '^[A-Z0-9]{2,12}$', description: 'Currency code' },
      network: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Null for a transfer within the provider',
      },
      destination: {
        type: 'object',
        required: ['type', 'value', 'memo'],
        properties: {
          type: {
            type: 'string',
            enum: ['crypto_address', 'exchange_id', 'email'],
            description: 'The type of value',
          },
          value: { type: 'string', description: 'The address, account ID or email address' },
          memo: {
            type: ['string', 'null'],
            anyOf: [{ type: 'string', maxLength: 64 }, { type: 'null' }],
            description: 'The memo or destination tag',
          },
        },
        description: 'The recipient',
      },
      recipient: {
        type: 'string',
        pattern: '^rcp_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'The recipient; absent if the request named none',
      },
      service_fee: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description: 'Our fee, on top of the amount',
      },
      network_fee: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description: 'The fee estimated by the provider; zero if it publishes none',
      },
      total_debit: {
        type: 'string',
        pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
        description: 'amount + service_fee + network_fee',
      },
      tx_hash: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Set on completion if the provider supplies one',
      },
      failure_reason: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Set when the status is failed',
      },
      rejection_reason: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Set when the status is rejected',
      },
      description: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string', maxLength: 255 }, { type: 'null' }],
        description: 'Your description',
      },
      metadata: {
        type: 'object',
        patternProperties: { '^.*$': { type: 'string' } },
        description: 'The metadata of the request',
      },
      release: {
        type: 'object',
        required: ['conditions', 'expires_at', 'released_at', 'expired_at'],
        properties: {
          conditions: {
            type: 'array',
            items: {
              type: 'object',
              anyOf: [
                {
                  type: 'object',
                  required: ['type', 'at', 'met_at'],
                  properties: {
                    type: { type: 'string', const: 'time' },
                    at: { type: 'string', format: 'date-time', description: 'The time' },
                    met_at: {
                      type: ['string', 'null'],
                      anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
                      description: 'Null: not yet',
                    },
                  },
                  description: 'Waits for a time',
                },
                {
                  type: 'object',
                  required: ['type', 'payment', 'met_at'],
                  properties: {
                    type: { type: 'string', const: 'payment' },
                    payment: {
                      type: 'string',
                      pattern: '^pay_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
                      description: 'ID with the prefix pay_',
                    },
                    met_at: {
                      type: ['string', 'null'],
                      anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
                      description: 'Null: not yet',
                    },
                  },
                  description: 'Waits until a payment is completed',
                },
                {
                  type: 'object',
                  required: ['type', 'api_key', 'met_at'],
                  properties: {
                    type: { type: 'string', const: 'approval' },
                    api_key: {
                      type: 'string',
                      pattern: '^key_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
                      description: 'ID with the prefix key_',
                    },
                    met_at: {
                      type: ['string', 'null'],
                      anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
                      description: 'Null: not yet',
                    },
                  },
                  description: 'Waits until a key releases the payout',
                },
                {
                  type: 'object',
                  required: ['type', 'recipient', 'at', 'met_at'],
                  properties: {
                    type: { type: 'string', const: 'recipient' },
                    recipient: {
                      type: 'string',
                      pattern: '^rcp_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
                      description: 'ID with the prefix rcp_',
                    },
                    at: {
                      type: 'string',
                      format: 'date-time',
                      description: 'The recipient cannot be ready before',
                    },
                    met_at: {
                      type: ['string', 'null'],
                      anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
                      description: 'Null: not yet',
                    },
                  },
                  description: 'Waits until the recipient may be paid',
                },
                {
                  type: 'object',
                  required: ['type', 'met_at'],
                  properties: {
                    type: { type: 'string', const: 'second_person' },
                    met_at: {
                      type: ['string', 'null'],
                      anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
                      description: 'Null: not yet',
                    },
                  },
                  description:
                    'Waits until another person of your account approves it on the dashboard',
                },
              ],
              description: 'A condition',
            },
            description: 'All of them have to be met',
          },
          expires_at: {
            type: ['string', 'null'],
            anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
            description: 'The payout is cancelled if it was not released by then',
          },
          released_at: {
            type: ['string', 'null'],
            anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
            description: 'Set when it was released',
          },
          expired_at: {
            type: ['string', 'null'],
            anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
            description: 'Set when it was not in time',
          },
        },
        description: 'What the payout waits for before it is sent; absent if it has no conditions',
      },
      beneficiary: {
        type: ['object', 'null'],
        anyOf: [
          {
            type: 'object',
            required: ['name', 'kind', 'institution'],
            properties: {
              name: { type: 'string', description: 'The name' },
              kind: {
                type: 'string',
                enum: ['individual', 'business'],
                description: 'A person or a business',
              },
              institution: {
                type: ['string', 'null'],
                anyOf: [{ type: 'string' }, { type: 'null' }],
                description: 'Null if the request named none',
              },
            },
            description: 'Who receives the money',
          },
          { type: 'null' },
        ],
        description:
          'Null after it was erased. Only where one payout is retrieved with a key that has payouts:write; absent if the payout has none, in lists and in events',
      },
      created_at: { type: 'string', format: 'date-time', description: 'The time of creation' },
      updated_at: {
        type: 'string',
        format: 'date-time',
        description: 'The time of the last status change',
      },
    },
    description: 'A payout',
  },
  PayoutBatch: {
    type: 'object',
    required: [
      'id',
      'object',
      'mode',
      'status',
      'reference',
      'description',
      'rows',
      'totals',
      'manifest_sha256',
      'awaits_second_person',
      'stop_requested_at',
      'rejection_reason',
      'created_at',
      'updated_at',
      'closed_at',
    ],
    properties: {
      id: {
        type: 'string',
        pattern: '^pb_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix pb_',
      },
      object: { type: 'string', const: 'payout_batch' },
      mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
      status: {
        type: 'string',
        enum: [
          'requested',
          'under_review',
          'processing',
          'completed',
          'partially_completed',
          'stopped',
          'rejected',
        ],
        description: 'The status',
      },
      reference: { type: 'string', description: 'Your unique ID' },
      description: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string', maxLength: 255 }, { type: 'null' }],
        description: 'Your description',
      },
      rows: {
        type: 'object',
        required: ['total', 'waiting', 'processing', 'sent', 'failed', 'returned', 'left_out'],
        properties: {
          total: { type: 'integer', minimum: 0, description: 'All rows' },
          waiting: {
            type: 'integer',
            minimum: 0,
            description: 'Reserved, and not released to the provider',
          },
          processing: { type: 'integer', minimum: 0, description: 'Released, and not final' },
          sent: { type: 'integer', minimum: 0, description: 'Completed' },
          failed: { type: 'integer', minimum: 0, description: 'Failed: the funds were returned' },
          returned: {
            type: 'integer',
            minimum: 0,
            description: 'Returned without having been submitted',
          },
          left_out: {
            type: 'integer',
            minimum: 0,
            description: 'Left out before the approval, and returned',
          },
        },
        description: 'The number of rows in each state',
      },
      totals: {
        type: 'array',
        items: {
          type: 'object',
          required: ['currency', 'rows', 'amount', 'service_fee', 'network_fee', 'total_debit'],
          properties: {
            currency: { type: 'string', pattern: '^[A-Z0-9]{2,12}$', description: 'Currency code' },
            rows: {
              type: 'integer',
              minimum: 1,
              description: 'The number of rows in this currency',
            },
            amount: {
              type: 'string',
              pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
              description: 'What the recipients receive',
            },
            service_fee: {
              type: 'string',
              pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
              description: 'Our fees',
            },
            network_fee: {
              type: 'string',
              pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
              description: 'The fees estimated by the providers',
            },
            total_debit: {
              type: 'string',
              pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
              description: 'amount + service_fee + network_fee',
            },
          },
          description: 'The sums of one currency',
        },
        description: 'The sums of the rows that were not left out, by currency',
      },
      manifest_sha256: {
        type: 'string',
        pattern: '^[0-9a-f]{64}$',
        description:
          'SHA-256 of the manifest: the rows in canonical form, without those that were left out',
      },
      awaits_second_person: {
        type: 'boolean',
        description:
          'Whether it was made by a person on the dashboard, and waits for the approval of another one',
      },
      stop_requested_at: {
        type: ['string', 'null'],
        anyOf: [
          { type: 'string', format: 'date-time', description: 'When the batch was stopped' },
          { type: 'null' },
        ],
        description: 'Null if it was not',
      },
      rejection_reason: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Set when an operator rejected the batch',
      },
      created_at: { type: 'string', format: 'date-time', description: 'The time of creation' },
      updated_at: {
        type: 'string',
        format: 'date-time',
        description: 'The time of the last change',
      },
      closed_at: {
        type: ['string', 'null'],
        anyOf: [
          { type: 'string', format: 'date-time', description: 'When the last row ended' },
          { type: 'null' },
        ],
        description: 'Null while rows are open',
      },
    },
    description: 'A batch of payouts',
  },
  Recipient: {
    type: 'object',
    required: [
      'id',
      'object',
      'mode',
      'name',
      'currency',
      'network',
      'destination',
      'tags',
      'usable_from',
      'awaits_second_person',
      'created_at',
      'updated_at',
      'deleted_at',
    ],
    properties: {
      id: {
        type: 'string',
        pattern: '^rcp_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix rcp_',
      },
      object: { type: 'string', const: 'recipient' },
      mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
      name: { type: 'string', description: 'The name' },
      currency: { type: 'string', pattern: '^[A-Z0-9]{2,12}$', description: 'Currency code' },
      network: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Null for a transfer within a provider',
      },
      destination: {
        type: 'object',
        required: ['type', 'value', 'memo'],
        properties: {
          type: {
            type: 'string',
            enum: ['crypto_address', 'exchange_id', 'email'],
            description: 'The type of value',
          },
          value: { type: 'string', description: 'The address, account ID or email address' },
          memo: {
            type: ['string', 'null'],
            anyOf: [{ type: 'string', maxLength: 64 }, { type: 'null' }],
            description: 'The memo or destination tag',
          },
        },
        description: 'Where its payouts go',
      },
      tags: { type: 'array', items: { type: 'string' }, description: 'Your tags' },
      usable_from: {
        type: 'string',
        format: 'date-time',
        description: 'Payouts are possible from this time on',
      },
      awaits_second_person: {
        type: 'boolean',
        description:
          'Whether it was made by a person on the dashboard, and waits for the approval of another one',
      },
      created_at: { type: 'string', format: 'date-time', description: 'The time of creation' },
      updated_at: {
        type: 'string',
        format: 'date-time',
        description: 'The time of the last change',
      },
      deleted_at: {
        type: ['string', 'null'],
        anyOf: [
          { type: 'string', format: 'date-time', description: 'The time of the deletion' },
          { type: 'null' },
        ],
        description: 'Null while it exists',
      },
    },
    description: 'A recipient',
  },
  Event: {
    type: 'object',
    required: ['id', 'type', 'mode', 'created_at', 'sequence', 'data'],
    properties: {
      id: {
        type: 'string',
        pattern: '^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix evt_',
      },
      type: {
        type: 'string',
        enum: [
          'payment.created',
          'payment.pending',
          'payment.processing',
          'payment.on_hold',
          'payment.completed',
          'payment.underpaid',
          'payment.failed',
          'payment.expired',
          'payment.cancelled',
          'payment.refunded',
          'payment.received',
          'payout.requested',
          'payout.approved',
          'payout.processing',
          'payout.completed',
          'payout.rejected',
          'payout.failed',
          'payout.cancelled',
          'payout_batch.approved',
          'payout_batch.completed',
          'payout_batch.stopped',
          'payout_batch.rejected',
          'payout_schedule.run_created',
          'payout_schedule.run_failed',
          'payout_schedule.ended',
          'recipient.created',
          'recipient.updated',
          'recipient.deleted',
          'refund.created',
          'refund.completed',
          'refund.failed',
          'webhook.ping',
        ],
        description: 'The type of event',
      },
      mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
      created_at: { type: 'string', format: 'date-time', description: 'The time of the event' },
      sequence: {
        type: 'integer',
        minimum: 1,
        description: 'The order of the events of one object',
      },
      data: {
        type: 'object',
        anyOf: [
          { $ref: '#/$defs/Payment' },
          { $ref: '#/$defs/Payout' },
          { $ref: '#/$defs/PayoutBatch' },
          { $ref: '#/$defs/PayoutSchedule' },
          { $ref: '#/$defs/Recipient' },
          { $ref: '#/$defs/Refund' },
          {
            type: 'object',
            required: ['object', 'endpoint_id', 'url', 'events'],
            properties: {
              object: { type: 'string', const: 'ping' },
              endpoint_id: {
                type: 'string',
                pattern: '^we_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
                description: 'ID with the prefix we_',
              },
              url: { type: 'string' },
              events: { type: 'array', items: { type: 'string' } },
            },
            description: 'A test event',
          },
        ],
      },
    },
    description: 'A webhook event',
  },
  PayoutSchedule: {
    type: 'object',
    required: [
      'id',
      'object',
      'mode',
      'status',
      'reference',
      'description',
      'cron',
      'time_zone',
      'interval_seconds',
      'start_at',
      'end_at',
      'rows',
      'totals',
      'awaits_second_person',
      'next_run_at',
      'last_run',
      'created_at',
      'updated_at',
      'ended_at',
    ],
    properties: {
      id: {
        type: 'string',
        pattern: '^ps_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix ps_',
      },
      object: { type: 'string', const: 'payout_schedule' },
      mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
      status: { type: 'string', enum: ['active', 'paused', 'ended'], description: 'The status' },
      reference: { type: 'string', description: 'Your unique ID' },
      description: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string', maxLength: 255 }, { type: 'null' }],
        description: 'Your description',
      },
      cron: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'The cron expression, or null',
      },
      time_zone: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'The time zone of the cron expression',
      },
      interval_seconds: {
        type: ['integer', 'null'],
        anyOf: [{ type: 'integer' }, { type: 'null' }],
        description: 'The seconds between two runs, or null',
      },
      start_at: {
        type: 'string',
        format: 'date-time',
        description: 'No run is earlier; intervals are counted from here',
      },
      end_at: {
        type: ['string', 'null'],
        anyOf: [
          { type: 'string', format: 'date-time', description: 'No run is later' },
          { type: 'null' },
        ],
        description: 'Null: no end',
      },
      rows: { type: 'integer', minimum: 1, description: 'The number of payouts of each run' },
      totals: {
        type: 'array',
        items: {
          type: 'object',
          required: ['currency', 'rows', 'amount'],
          properties: {
            currency: { type: 'string', pattern: '^[A-Z0-9]{2,12}$', description: 'Currency code' },
            rows: {
              type: 'integer',
              minimum: 1,
              description: 'The number of rows in this currency',
            },
            amount: {
              type: 'string',
              pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
              description: 'What the recipients of a run receive',
            },
          },
          description: 'The sum of one currency',
        },
        description: 'The sums of each run, without fees, by currency',
      },
      awaits_second_person: {
        type: 'boolean',
        description:
          'Whether it was made by a person on the dashboard, and waits for the approval of another one',
      },
      next_run_at: {
        type: ['string', 'null'],
        anyOf: [
          { type: 'string', format: 'date-time', description: 'The time of the next run' },
          { type: 'null' },
        ],
        description: 'Null if none is known',
      },
      last_run: {
        type: ['object', 'null'],
        anyOf: [{ $ref: '#/$defs/PayoutScheduleRun' }, { type: 'null' }],
        description: 'The last run that ended',
      },
      created_at: { type: 'string', format: 'date-time', description: 'The time of creation' },
      updated_at: {
        type: 'string',
        format: 'date-time',
        description: 'The time of the last change or run',
      },
      ended_at: {
        type: ['string', 'null'],
        anyOf: [
          { type: 'string', format: 'date-time', description: 'When it ended' },
          { type: 'null' },
        ],
        description: 'Null until it has ended',
      },
    },
    description: 'A schedule of payouts',
  },
  PayoutScheduleRun: {
    type: 'object',
    required: [
      'id',
      'object',
      'schedule_id',
      'scheduled_for',
      'status',
      'batch_id',
      'failure',
      'created_at',
      'ended_at',
    ],
    properties: {
      id: {
        type: 'string',
        pattern: '^psr_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix psr_',
      },
      object: { type: 'string', const: 'payout_schedule_run' },
      schedule_id: {
        type: 'string',
        pattern: '^ps_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix ps_',
      },
      scheduled_for: {
        type: 'string',
        format: 'date-time',
        description: 'The time of the schedule',
      },
      status: {
        type: 'string',
        enum: ['pending', 'created', 'failed'],
        description: 'pending, created or failed',
      },
      batch_id: {
        type: ['string', 'null'],
        anyOf: [
          {
            type: 'string',
            pattern: '^pb_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
            description: 'ID with the prefix pb_',
          },
          { type: 'null' },
        ],
        description: 'The batch of the run, once it is created',
      },
      failure: {
        type: ['object', 'null'],
        anyOf: [
          {
            type: 'object',
            required: ['code', 'message', 'details'],
            properties: {
              code: { type: 'string', description: 'The error code' },
              message: { type: 'string', description: 'What is wrong and what to do' },
              details: {
                type: ['object', 'null'],
                anyOf: [{ type: 'object', properties: {} }, { type: 'null' }],
                description: 'The details of the error code',
              },
            },
            description: 'Why nothing was paid',
          },
          { type: 'null' },
        ],
        description: 'Null unless the run failed',
      },
      created_at: { type: 'string', format: 'date-time', description: 'When the run started' },
      ended_at: {
        type: ['string', 'null'],
        anyOf: [
          {
            type: 'string',
            format: 'date-time',
            description: 'When the run was created or failed',
          },
          { type: 'null' },
        ],
        description: 'Null while it is pending',
      },
    },
    description: 'A run of a schedule',
  },
  WebhookEndpoint: {
    type: 'object',
    required: [
      'id',
      'object',
      'mode',
      'url',
      'description',
      'events',
      'signature',
      'enabled',
      'created_at',
      'updated_at',
      'deleted_at',
    ],
    properties: {
      id: {
        type: 'string',
        pattern: '^we_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix we_',
      },
      object: { type: 'string', const: 'webhook_endpoint' },
      mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
      url: { type: 'string', description: 'Where events are sent' },
      description: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Your description',
      },
      events: {
        type: 'array',
        items: { type: 'string' },
        description: 'Types of events, or "all"',
      },
      signature: {
        type: 'string',
        enum: ['gateway', 'standard_webhooks'],
        description:
          'The headers with signatures: those of the gateway, or also webhook-id, webhook-timestamp and webhook-signature of Standard Webhooks',
      },
      enabled: { type: 'boolean', description: 'Whether events are sent' },
      created_at: { type: 'string', format: 'date-time', description: 'The time of creation' },
      updated_at: {
        type: 'string',
        format: 'date-time',
        description: 'The time of the last change',
      },
      deleted_at: {
        type: ['string', 'null'],
        anyOf: [
          { type: 'string', format: 'date-time', description: 'The time of the deletion' },
          { type: 'null' },
        ],
        description: 'Null while it exists',
      },
    },
    description: 'A webhook endpoint',
  },
  WebhookDelivery: {
    type: 'object',
    required: [
      'id',
      'object',
      'mode',
      'endpoint_id',
      'event_id',
      'event_type',
      'object_id',
      'status',
      'attempt_count',
      'next_attempt_at',
      'last_error',
      'created_at',
      'finished_at',
    ],
    properties: {
      id: {
        type: 'string',
        pattern: '^whd_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix whd_',
      },
      object: { type: 'string', const: 'webhook_delivery' },
      mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
      endpoint_id: {
        type: 'string',
        pattern: '^we_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix we_',
      },
      event_id: {
        type: 'string',
        pattern: '^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix evt_',
      },
      event_type: {
        type: 'string',
        enum: [
          'payment.created',
          'payment.pending',
          'payment.processing',
          'payment.on_hold',
          'payment.completed',
          'payment.underpaid',
          'payment.failed',
          'payment.expired',
          'payment.cancelled',
          'payment.refunded',
          'payment.received',
          'payout.requested',
          'payout.approved',
          'payout.processing',
          'payout.completed',
          'payout.rejected',
          'payout.failed',
          'payout.cancelled',
          'payout_batch.approved',
          'payout_batch.completed',
          'payout_batch.stopped',
          'payout_batch.rejected',
          'payout_schedule.run_created',
          'payout_schedule.run_failed',
          'payout_schedule.ended',
          'recipient.created',
          'recipient.updated',
          'recipient.deleted',
          'refund.created',
          'refund.completed',
          'refund.failed',
          'webhook.ping',
        ],
        description: 'The type of the event',
      },
      object_id: { type: 'string', description: 'The ID of the object that the event is about' },
      status: {
        type: 'string',
        enum: ['pending', 'succeeded', 'failed', 'skipped', 'abandoned'],
        description: 'The status of the delivery',
      },
      attempt_count: {
        type: 'integer',
        description: 'Attempts of the schedule; resending is not counted',
      },
      next_attempt_at: {
        type: ['string', 'null'],
        anyOf: [
          { type: 'string', format: 'date-time', description: 'The time of the next attempt' },
          { type: 'null' },
        ],
        description: 'Null after the last one',
      },
      last_error: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'The error code of the last attempt',
      },
      created_at: { type: 'string', format: 'date-time', description: 'The time of creation' },
      finished_at: {
        type: ['string', 'null'],
        anyOf: [
          { type: 'string', format: 'date-time', description: 'The time of the end' },
          { type: 'null' },
        ],
        description: 'Null while it is pending',
      },
    },
    description: 'The delivery of an event to an endpoint',
  },
  WebhookDeliveryWithAttempts: {
    type: 'object',
    required: [
      'id',
      'object',
      'mode',
      'endpoint_id',
      'event_id',
      'event_type',
      'object_id',
      'status',
      'attempt_count',
      'next_attempt_at',
      'last_error',
      'created_at',
      'finished_at',
      'attempts',
    ],
    properties: {
      id: {
        type: 'string',
        pattern: '^whd_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix whd_',
      },
      object: { type: 'string', const: 'webhook_delivery' },
      mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
      endpoint_id: {
        type: 'string',
        pattern: '^we_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix we_',
      },
      event_id: {
        type: 'string',
        pattern: '^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix evt_',
      },
      event_type: {
        type: 'string',
        enum: [
          'payment.created',
          'payment.pending',
          'payment.processing',
          'payment.on_hold',
          'payment.completed',
          'payment.underpaid',
          'payment.failed',
          'payment.expired',
          'payment.cancelled',
          'payment.refunded',
          'payment.received',
          'payout.requested',
          'payout.approved',
          'payout.processing',
          'payout.completed',
          'payout.rejected',
          'payout.failed',
          'payout.cancelled',
          'payout_batch.approved',
          'payout_batch.completed',
          'payout_batch.stopped',
          'payout_batch.rejected',
          'payout_schedule.run_created',
          'payout_schedule.run_failed',
          'payout_schedule.ended',
          'recipient.created',
          'recipient.updated',
          'recipient.deleted',
          'refund.created',
          'refund.completed',
          'refund.failed',
          'webhook.ping',
        ],
        description: 'The type of the event',
      },
      object_id: { type: 'string', description: 'The ID of the object that the event is about' },
      status: {
        type: 'string',
        enum: ['pending', 'succeeded', 'failed', 'skipped', 'abandoned'],
        description: 'The status of the delivery',
      },
      attempt_count: {
        type: 'integer',
        description: 'Attempts of the schedule; resending is not counted',
      },
      next_attempt_at: {
        type: ['string', 'null'],
        anyOf: [
          { type: 'string', format: 'date-time', description: 'The time of the next attempt' },
          { type: 'null' },
        ],
        description: 'Null after the last one',
      },
      last_error: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'The error code of the last attempt',
      },
      created_at: { type: 'string', format: 'date-time', description: 'The time of creation' },
      finished_at: {
        type: ['string', 'null'],
        anyOf: [
          { type: 'string', format: 'date-time', description: 'The time of the end' },
          { type: 'null' },
        ],
        description: 'Null while it is pending',
      },
      attempts: {
        type: 'array',
        items: {
          type: 'object',
          required: [
            'number',
            'manual',
            'url',
            'outcome',
            'response_status',
            'error_code',
            'error',
            'started_at',
            'finished_at',
            'duration_ms',
            'response_body',
          ],
          properties: {
            number: { type: 'integer', description: 'Counted from 1' },
            manual: { type: 'boolean', description: 'Whether somebody asked for it' },
            url: { type: 'string', description: 'Where the event was sent' },
            outcome: {
              type: ['string', 'null'],
              anyOf: [
                { type: 'string', enum: ['succeeded', 'failed'], description: 'The outcome' },
                { type: 'null' },
              ],
              description: 'Null while it runs',
            },
            response_status: {
              type: ['integer', 'null'],
              anyOf: [{ type: 'integer' }, { type: 'null' }],
              description: 'The HTTP status of the receiver; null without one',
            },
            error_code: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'Why it failed',
            },
            error: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'The same as a sentence',
            },
            started_at: {
              type: 'string',
              format: 'date-time',
              description: 'The time of its start',
            },
            finished_at: {
              type: ['string', 'null'],
              anyOf: [
                { type: 'string', format: 'date-time', description: 'The time of its end' },
                { type: 'null' },
              ],
              description: 'Null while it runs',
            },
            duration_ms: {
              type: ['integer', 'null'],
              anyOf: [{ type: 'integer' }, { type: 'null' }],
              description: 'The duration',
            },
            response_body: {
              type: ['string', 'null'],
              anyOf: [{ type: 'string' }, { type: 'null' }],
              description: 'The first 16 KiB of the response, kept for 30 days',
            },
          },
          description: 'An attempt',
        },
        description: 'Oldest first',
      },
    },
    description: 'A delivery with its attempts',
  },
  RequestLog: {
    type: 'object',
    required: [
      'id',
      'object',
      'mode',
      'api_key_id',
      'method',
      'path',
      'query',
      'status',
      'replayed',
      'idempotency_key',
      'ip_address',
      'user_agent',
      'duration_ms',
      'request_body',
      'response_body',
      'created_at',
    ],
    properties: {
      id: {
        type: 'string',
        pattern: '^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$',
        description: 'ID with the prefix req_',
      },
      object: { type: 'string', const: 'request_log' },
      mode: { type: 'string', enum: ['test', 'live'], description: 'The mode of the API key' },
      api_key_id: { type: 'string', description: 'The ID of the API key' },
      method: { type: 'string', description: 'The HTTP method' },
      path: { type: 'string', description: 'The path' },
      query: {
        type: 'string',
        description: 'The query without its question mark; empty if there is none',
      },
      status: { type: 'integer', description: 'The HTTP status of the response' },
      replayed: {
        type: 'boolean',
        description: 'Whether the response was the stored one of an earlier request',
      },
      idempotency_key: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'The Idempotency-Key, if there was one',
      },
      ip_address: { type: 'string', description: 'Where the request came from' },
      user_agent: { type: 'string', description: 'The User-Agent header; empty if there is none' },
      duration_ms: { type: 'integer', description: 'How long the gateway took' },
      request_body: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'The first 4 KiB as text, without secrets; null if there is none',
      },
      response_body: {
        type: ['string', 'null'],
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description:
          'The first 4 KiB of the response as text, without secrets and with the first rows of a list; null for a file',
      },
      created_at: { type: 'string', format: 'date-time', description: 'The time of the request' },
    },
    description: 'A request to the API',
  },
};

export const ERRORS: Readonly<Record<string, ErrorMeaning>> = {
  account_suspended: {
    status: 403,
    message: 'This merchant account is suspended. Contact the operator.',
    details: null,
  },
  authentication_required: {
    status: 401,
    message:
      'No API key was provided. Send your API key in the header "Authorization: Bearer <key>".',
    details: null,
  },
  currency_not_allowed: {
    status: 403,
    message:
      'This API key may not pay in this currency. Use a currency in details.allowed, or another key.',
    details: {
      type: 'object',
      required: ['allowed'],
      properties: { allowed: { type: 'array', items: { type: 'string' } } },
      description: 'The currencies of the key',
    },
  },
  cursor_expired: {
    status: 410,
    message:
      'Events after this position are no longer available. Retrieve your objects to see their current status, then continue with after=oldest.',
    details: null,
  },
  destination_not_supported: {
    status: 422,
    message:
      'No enabled provider supports this currency with this type of destination. Use a combination listed in details.supported.',
    details: {
      type: 'object',
      properties: {},
      description: 'The request and the supported combinations',
    },
  },
  duplicate_reference: {
    status: 409,
    message:
      'This reference is already used by the object in details.existing_id. Use a new reference.',
    details: {
      type: 'object',
      required: ['existing_id', 'existing_object'],
      properties: {
        existing_id: { type: 'string' },
        existing_object: {
          enum: ['payout', 'payment', 'payout_batch', 'payout_schedule', 'refund'],
          description: 'Type of the object',
        },
      },
      description: 'The object that uses the reference',
    },
  },
  idempotency_key_required: {
    status: 400,
    message:
      'The Idempotency-Key header is missing or invalid. Send it once, with 1 to 191 printable ASCII characters.',
    details: null,
  },
  idempotency_key_reused: {
    status: 422,
    message:
      'This Idempotency-Key was already used with a different request. Use a new key for each new request.',
    details: null,
  },
  insufficient_balance: {
    status: 422,
    message:
      'The available balance does not cover the amount plus fees; see details. Add funds or lower the amount.',
    details: {
      type: 'object',
      required: ['currency', 'available', 'required'],
      properties: {
        currency: { type: 'string', pattern: '^[A-Z0-9]{2,12}$', description: 'Currency code' },
        available: {
          type: 'string',
          pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
          description: 'The available balance',
        },
        required: {
          type: 'string',
          pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
          description: 'What the request takes from the balance',
        },
      },
      description: 'The available and the required amount',
    },
  },
  insufficient_scope: {
    status: 403,
    message:
      'This API key does not have the required scope. Use a key with the scope in details.required_scope.',
    details: {
      type: 'object',
      required: ['required_scope'],
      properties: { required_scope: { type: 'string' } },
      description: 'The missing scope',
    },
  },
  internal_error: {
    status: 500,
    message: 'An internal error occurred. Retry the request with the same Idempotency-Key.',
    details: null,
  },
  invalid_api_key: {
    status: 401,
    message: 'The API key is invalid, expired or revoked. Use an active API key.',
    details: null,
  },
  invalid_json: {
    status: 400,
    message: 'The body is not valid JSON. Send a JSON object encoded as UTF-8.',
    details: null,
  },
  invalid_state: {
    status: 409,
    message:
      'The current status of the object does not allow this action. Retrieve the object to see its status.',
    details: {
      type: 'object',
      required: ['status'],
      properties: { status: { type: 'string' } },
      description: 'The current status',
    },
  },
  ip_not_allowed: {
    status: 403,
    message:
      'This API key cannot be used from your IP address. Add the address to the allowlist of the key.',
    details: null,
  },
  key_change_not_allowed: {
    status: 403,
    message:
      'This API key may not change that key. A key can change itself and the keys that it created.',
    details: {
      type: 'object',
      required: ['reason'],
      properties: {
        reason: {
          enum: ['not_made_by_this_key', 'live_keys_by_people'],
          description: 'The reason',
        },
      },
      description: 'Why the key may not be changed',
    },
  },
  limit_exceeded: {
    status: 422,
    message:
      'The payout would exceed a limit of your account or API key; see details. Lower the amount or try again later.',
    details: {
      type: 'object',
      required: ['limit', 'currency', 'maximum', 'used', 'requested', 'resets_at'],
      properties: {
        limit: {
          enum: ['per_transaction', 'daily', 'key_per_transaction', 'key_daily'],
          description: 'The limit, of the account or of the API key',
        },
        currency: { type: 'string', pattern: '^[A-Z0-9]{2,12}$', description: 'Currency code' },
        maximum: {
          type: 'string',
          pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
          description: 'The maximum',
        },
        used: {
          type: 'string',
          pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
          description: 'The amount used in the last 24 hours',
        },
        requested: {
          type: 'string',
          pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
          description: 'The requested amount',
        },
        resets_at: {
          anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
          description: 'When the oldest payout no longer counts; null if no payout counts',
        },
      },
      description: 'The limit and its use',
    },
  },
  network_required: {
    status: 422,
    message: 'A network is required for this currency. Set network to one of details.networks.',
    details: {
      type: 'object',
      required: ['provider', 'currency', 'networks'],
      properties: {
        provider: { type: 'string' },
        currency: { type: 'string', pattern: '^[A-Z0-9]{2,12}$', description: 'Currency code' },
        networks: { type: 'array', items: { type: 'string' }, minItems: 1 },
      },
      description: 'The supported networks',
    },
  },
  not_found: {
    status: 404,
    message: 'Not found. Check the path and the ID.',
    details: {
      type: 'object',
      required: ['resource'],
      properties: { resource: { type: 'string' } },
      description: 'The resource that was not found',
    },
  },
  payload_too_large: {
    status: 413,
    message: 'The body exceeds 64 KiB. Send a smaller body.',
    details: null,
  },
  rate_limited: {
    status: 429,
    message: 'Too many requests. Retry after Retry-After seconds.',
    details: {
      type: 'object',
      required: ['limit_per_minute'],
      properties: { limit_per_minute: { type: 'integer' } },
      description: 'The rate limit',
    },
  },
  recipient_not_ready: {
    status: 409,
    message:
      'The recipient is new, or its destination has changed. Send the payout again at details.usable_from, or after a second person has approved the recipient.',
    details: {
      type: 'object',
      required: ['recipient', 'usable_from'],
      properties: {
        recipient: { type: 'string' },
        usable_from: { type: 'string', format: 'date-time', description: 'When the wait ends' },
      },
      description: 'The recipient and the end of its wait',
    },
  },
  recipient_required: {
    status: 403,
    message:
      'This account or API key may pay saved recipients only. Send recipient with the ID of a recipient in place of destination.',
    details: {
      type: 'object',
      required: ['held'],
      properties: {
        held: { enum: ['account', 'api_key'], description: 'What is held to recipients' },
      },
      description: 'Where the rule is set',
    },
  },
  refund_exceeds_payment: {
    status: 422,
    message:
      'The amount exceeds what can still be refunded of this payment; see details. Lower the amount.',
    details: {
      type: 'object',
      required: ['currency', 'requested', 'refundable'],
      properties: {
        currency: { type: 'string', pattern: '^[A-Z0-9]{2,12}$', description: 'Currency code' },
        requested: {
          type: 'string',
          pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
          description: 'The requested amount',
        },
        refundable: {
          type: 'string',
          pattern: '^[0-9]{1,30}\\.[0-9]{8}$',
          description: 'What was credited and is not refunded, or being refunded, yet',
        },
      },
      description: 'The requested amount and what is left',
    },
  },
  release_not_allowed: {
    status: 403,
    message:
      'This API key may not release the payout. Use the key in details.api_key, which the payout names.',
    details: {
      type: 'object',
      required: ['api_key'],
      properties: { api_key: { type: 'string' } },
      description: 'The key that may release the payout',
    },
  },
  request_in_progress: {
    status: 409,
    message:
      'A request with this Idempotency-Key is still in progress. Retry it after Retry-After seconds.',
    details: null,
  },
  rows_refused: {
    status: 422,
    message:
      'Some rows of the batch were refused, and nothing was reserved. Correct the rows in details.rows, then send the batch again.',
    details: {
      type: 'object',
      required: ['refused', 'rows'],
      properties: {
        refused: {
          type: 'integer',
          description:
            'The number of refused rows. Reading ends after 1000 rows with invalid fields',
        },
        rows: {
          type: 'array',
          minItems: 1,
          maxItems: 1000,
          description: 'The first 1000 refused rows',
          items: {
            type: 'object',
            required: ['row', 'reference', 'code', 'message', 'details'],
            properties: {
              row: { type: 'integer', description: 'The row, counted from 1' },
              reference: { type: ['string', 'null'], description: 'The reference of the row' },
              code: { type: 'string', description: 'The error code' },
              message: { type: 'string', description: 'What is wrong and what to do' },
              details: { type: ['object', 'null'], description: 'The details of the error code' },
            },
            description: 'A refused row',
          },
        },
      },
      description: 'The refused rows',
    },
  },
  service_unavailable: {
    status: 503,
    message:
      'The service is temporarily unavailable. Retry the request after Retry-After seconds with the same Idempotency-Key.',
    details: {
      type: 'object',
      required: ['reason'],
      properties: { reason: { type: 'string' } },
      description: 'The reason',
    },
  },
  too_many_objects: {
    status: 409,
    message:
      'The account has the maximum number of these objects in this mode; see details. Delete or revoke one first.',
    details: {
      type: 'object',
      required: ['resource', 'maximum'],
      properties: {
        resource: { type: 'string' },
        maximum: { type: 'integer', description: 'The maximum' },
      },
      description: 'The type of object and its maximum',
    },
  },
  unsupported_media_type: {
    status: 415,
    message: 'The media type is not supported. Send "Content-Type: application/json".',
    details: null,
  },
  validation_failed: {
    status: 422,
    message: 'Some fields are invalid. Correct the fields listed in details.fields.',
    details: {
      type: 'object',
      required: ['fields'],
      properties: {
        fields: {
          type: 'array',
          items: {
            type: 'object',
            required: ['field', 'rule', 'message'],
            properties: {
              field: {
                type: 'string',
                description: 'Path of the field, such as destination.value',
              },
              rule: {
                enum: [
                  'required',
                  'type',
                  'format',
                  'too_short',
                  'too_long',
                  'min_amount',
                  'max_amount',
                  'unsupported',
                  'memo_required',
                  'memo_not_supported',
                  'unknown_provider',
                  'out_of_range',
                  'not_found',
                ],
                description: 'The rule that the field breaks',
              },
              message: { type: 'string', description: 'How to correct the field' },
            },
            description: 'An invalid field',
          },
          minItems: 1,
        },
      },
      description: 'All invalid fields',
    },
  },
};
