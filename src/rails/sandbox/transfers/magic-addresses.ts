/**
 * The crypto addresses that select a scenario: one per scenario and address family. Every one is
 * valid (checksums included: test/unit/destinations/addresses.test.ts checks them),
 * because the gateway refuses an invalid address before it ever reaches a provider.
 *
 * All carry the same 20 bytes: 0x20, zeros, and the scenario's four-digit code as the last two.
 * The EVM form has digits only, so that it is valid in any checksum case. Nobody holds the keys.
 */
export type AddressFamily = 'evm' | 'tron' | 'bitcoin' | 'xrpl';

export const MAGIC_ADDRESSES = {
  sends: {
    evm: '0x2000000000000000000000000000000000009000',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs899D2dH3W',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyqqmelez6',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLPFx3MiXn',
  },
  refuses: {
    evm: '0x2000000000000000000000000000000000009001',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs899HNvb6q',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyqpx0tvlg',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLPqriqZCr',
  },
  fails_later: {
    evm: '0x2000000000000000000000000000000000009002',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs899SEyCsW',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyqzgu763h',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLPqUTWaAR',
  },
  slow: {
    evm: '0x2000000000000000000000000000000000009003',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs899XZiAsR',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyqr4220v9',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLPqKBibEG',
  },
  timeout_after_accept: {
    evm: '0x2000000000000000000000000000000000009004',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs899fbXKFC',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyqy5naldq',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLPqQZrTTa',
  },
  timeout_before_accept: {
    evm: '0x2000000000000000000000000000000000009005',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs899hncSux',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyq9f9f2sj',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLPq7cv5Sn',
  },
  error_5xx: {
    evm: '0x2000000000000000000000000000000000009006',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs899sWnb3Q',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyqx8kuu7d',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLPqC5NrzE',
  },
  error_5xx_after_accept: {
    evm: '0x2000000000000000000000000000000000009007',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs89A19Q3en',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyq86qgfrl',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLPqmP47Kw',
  },
  connection_reset: {
    evm: '0x2000000000000000000000000000000000009008',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs89A6i4Bo7',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyqg9dm4u8',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLPq1mEf4z',
  },
  callback_lost: {
    evm: '0x2000000000000000000000000000000000009009',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs89A8fkXc7',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyqfcm0qp4',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLPqAr6yUF',
  },
  callback_twice: {
    evm: '0x2000000000000000000000000000000000009010',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs89B1LCAnx',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyqswchphf',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLPi5mi8sW',
  },
  callback_out_of_order: {
    evm: '0x2000000000000000000000000000000000009011',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs89B541zCu',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyq3nwr52m',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLPii7iAps',
  },
  callback_forged: {
    evm: '0x2000000000000000000000000000000000009012',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs89BC2Wu7F',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyqjaakzyy',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLPiAVhGGL',
  },
  success_after_failure: {
    evm: '0x2000000000000000000000000000000000009013',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs89BFndZiu',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyqnqtzhek',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLP1njNWas',
  },
  never_settles: {
    evm: '0x2000000000000000000000000000000000009014',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs89BRoavAL',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyq5pj48cn',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLP1UZrSDH',
  },
} as const satisfies Record<string, Record<AddressFamily, string>>;
