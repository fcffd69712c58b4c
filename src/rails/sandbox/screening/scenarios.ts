/**
 * What the simulated screening service says about an address (docs/sandbox.md): everything is clear but
 * these. The addresses are made like those of the transfers.
 */
export const SCREENING_SCENARIOS = {
  review: {
    summary: 'Review, with reasons.',
    evm: '0x2000000000000000000000000000000000009201',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs8A8z7BA8E',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyspq6djtn',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLQFFX957E',
  },
  block: {
    summary: 'Block, with reasons.',
    evm: '0x2000000000000000000000000000000000009202',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs8A9CBmPTb',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyszwfcy9v',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLQFyESEXH',
  },
  limited: {
    summary: 'The first two questions about a reference answer 429; then clear.',
    evm: '0x2000000000000000000000000000000000009203',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs8A9FAGauC',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpysrnlv3c7',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLQqf9VH4v',
  },
  error_5xx: {
    summary: 'The first two questions about a reference answer 500; then clear.',
    evm: '0x2000000000000000000000000000000000009204',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs8A9MpoGym',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpysyjxmpem',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLQq9YtK7A',
  },
  slow: {
    summary: 'Clear, after 1.5 s.',
    evm: '0x2000000000000000000000000000000000009205',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs8A9X7KUCL',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpys90s05yf',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLQqGtEvqh',
  },
  hangs: {
    summary: 'Never answers.',
    evm: '0x2000000000000000000000000000000000009206',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs8A9ZQUt6d',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpysxpr6z2k',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLQqSTuRMe',
  },
  nonsense: {
    summary: 'An HTML page with status 200.',
    evm: '0x2000000000000000000000000000000000009207',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs8A9ij4c6x',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpys8u4whhy',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLQqYcffc4',
  },
  unknown_verdict: {
    summary: 'A verdict that the documentation does not know.',
    evm: '0x2000000000000000000000000000000000009208',
    tron: 'TCtQdCQtVNgK1bxPihSdafbrs8A9qkFQo3',
    bitcoin: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpysgrcatgu',
    xrpl: 'rsvUd9swLeZMiRtm3R8vhWu5xLQqcVrxn4',
  },
} as const;

export type ScreeningScenario = keyof typeof SCREENING_SCENARIOS;

export const SCREENING_SCENARIO_NAMES = Object.keys(SCREENING_SCENARIOS) as ScreeningScenario[];

const BY_ADDRESS = new Map<string, ScreeningScenario>(
  SCREENING_SCENARIO_NAMES.flatMap((name) => {
    const { evm, tron, bitcoin, xrpl } = SCREENING_SCENARIOS[name];
    return [evm, tron, bitcoin, xrpl].map((address) => [address, name] as const);
  }),
);

export function screeningScenario(address: string): ScreeningScenario | null {
  return BY_ADDRESS.get(address) ?? null;
}
