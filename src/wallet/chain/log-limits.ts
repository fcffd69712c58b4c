/**
 * What the providers answer when a question for logs is too large, in their own words. The question
 * is asked again about fewer blocks, and what a node allows is remembered. A limit of the rate has
 * other words, and the next node is asked. docs/wallet.md has the same table.
 */

interface Wording {
  /** The node software or provider that uses the words. */
  whose: string;
  /** The place where they are written down. */
  source: string;
  codes: readonly number[];
  words: RegExp;
  /** An answer in full. */
  example: string;
  /** The number of blocks that the example allows; null when it names none. */
  allows: number | null;
}

const INVALID_PARAMS = -32602;
const LIMIT_EXCEEDED = -32005;
const SERVER_ERROR = -32000;
/** Where the words are known and the code differs. */
const ANY = [SERVER_ERROR, LIMIT_EXCEEDED, INVALID_PARAMS, -32600, -32603, -32008, -32011, -32016];
/** A list of many providers' words. */
const PONDER =
  'https://github.com/ponder-sh/ponder/blob/main/packages/utils/src/getLogsRetryHelper.ts';

export const WORDINGS: readonly Wording[] = [
  {
    whose: 'Infura, too many results',
    source: 'https://docs.infura.io/reference/ethereum/json-rpc-methods/eth_getlogs/#constraints',
    codes: [LIMIT_EXCEEDED],
    words: /query returned more than \d+ results/i,
    example:
      'query returned more than 10000 results. Try with this block range [0xBDE5F8, 0x102DBCC].',
    allows: null,
  },
  {
    whose: 'Infura, too slow',
    source: 'https://docs.infura.io/reference/ethereum/json-rpc-methods/eth_getlogs/#constraints',
    codes: [LIMIT_EXCEEDED],
    words: /query timeout exceeded/i,
    example: 'query timeout exceeded',
    allows: null,
  },
  {
    whose: 'Infura, blocks',
    source: 'https://github.com/INFURA/infura/issues/237',
    codes: [INVALID_PARAMS],
    words: /range \d+ exceeds limit of \d+/i,
    example: 'range 1000000 exceeds limit of 10000',
    allows: 10_000,
  },
  {
    whose: 'Alchemy, size of the answer',
    source: 'https://github.com/ethereum/go-ethereum/issues/25343',
    codes: [INVALID_PARAMS],
    words: /log response size exceeded|block range should work/i,
    example:
      'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response.',
    allows: 2_000,
  },
  {
    whose: 'Alchemy, blocks of the plan',
    source: 'https://github.com/risc0/risc0-ethereum/pull/656',
    codes: [-32600, INVALID_PARAMS],
    words: /up to a [\d,]+k? block range/i,
    example:
      'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.',
    allows: 10,
  },
  {
    whose: 'QuickNode, Berachain',
    source: 'https://github.com/OffchainLabs/arbitrum-sdk/issues/609',
    codes: [-32614, INVALID_PARAMS, SERVER_ERROR],
    words: /limited to a [\d,]+ (?:block )?range/i,
    example: 'eth_getLogs is limited to a 10,000 range',
    allows: 10_000,
  },
  {
    whose: 'BlockPI, 1RPC',
    source: 'https://github.com/foundry-rs/foundry/issues/12687',
    codes: [INVALID_PARAMS, SERVER_ERROR],
    words: /limited to (?:0 - )?[\d,]+ blocks? range/i,
    example: 'eth_getLogs is limited to 1024 block range.',
    allows: 1_024,
  },
  {
    whose: 'Ankr, Moonbeam',
    source: PONDER,
    codes: [-32600, INVALID_PARAMS, SERVER_ERROR, -32603],
    words: /block range is too (?:wide|large)/i,
    example: 'block range is too wide (maximum 1024)',
    allows: 1_024,
  },
  {
    whose: 'publicnode, BNB Smart Chain',
    source: PONDER,
    codes: [-32701, -32600, INVALID_PARAMS, SERVER_ERROR],
    words: /exceed(?:s|ed)? (?:the )?max(?:imum)? block range/i,
    example: 'exceed maximum block range: 50000',
    allows: 50_000,
  },
  {
    whose: 'dRPC, free plan',
    source: 'https://github.com/foundry-rs/foundry/issues/12687',
    codes: [35],
    words: /ranges over [\d,]+ blocks/i,
    example: 'ranges over 10000 blocks are not supported on freetier',
    allows: 10_000,
  },
  {
    whose: 'thirdweb',
    source: PONDER,
    codes: [LIMIT_EXCEEDED, INVALID_PARAMS],
    words: /number of requested blocks is \d+/i,
    example: 'Maximum allowed number of requested blocks is 1000',
    allows: 1_000,
  },
  {
    whose: 'reth, results',
    source: 'https://github.com/paradigmxyz/reth/issues/23810',
    codes: [INVALID_PARAMS, LIMIT_EXCEEDED],
    words: /query exceeds max results/i,
    example: 'query exceeds max results 20000, retry with the range 25766988-25775072',
    allows: null,
  },
  {
    whose: 'reth, blocks',
    source: 'https://github.com/foundry-rs/foundry/issues/12687',
    codes: [INVALID_PARAMS, LIMIT_EXCEEDED],
    words: /query exceeds max block range/i,
    example: 'query exceeds max block range 100000',
    allows: 100_000,
  },
  {
    whose: 'erigon, blocks',
    source: 'https://github.com/erigontech/erigon/pull/19721',
    codes: [SERVER_ERROR, INVALID_PARAMS],
    words: /block range exceeds server limit/i,
    example: 'query block range exceeds server limit, narrow your filter: 1000',
    allows: 1_000,
  },
  {
    whose: 'erigon, results',
    source: 'https://github.com/erigontech/erigon/pull/19721',
    codes: [SERVER_ERROR, INVALID_PARAMS],
    words: /returns too many logs/i,
    example: 'query returns too many logs, narrow your filter: 20000',
    allows: null,
  },
  {
    whose: 'Polygon, cdk-erigon',
    source: 'https://github.com/0xPolygon/cdk-erigon/pull/1706',
    codes: [LIMIT_EXCEEDED, SERVER_ERROR],
    words: /block range too (?:large|wide)/i,
    example: 'block range too large, max range: 10000',
    allows: 10_000,
  },
  {
    whose: 'Nethermind',
    source: 'https://github.com/NethermindEth/nethermind, EthRpcModuleTests.cs',
    codes: [LIMIT_EXCEEDED],
    words: /too many logs requested/i,
    example: 'Too many logs requested. Max logs per response is 20000.',
    allows: null,
  },
  {
    whose: 'Scroll',
    source: 'https://github.com/scroll-tech/go-ethereum/pull/529',
    codes: [SERVER_ERROR],
    words: /block range is bigger than/i,
    example: 'block range is bigger than maxBlockRange',
    allows: null,
  },
  {
    whose: 'Avalanche',
    source: PONDER,
    codes: ANY,
    words: /requested too many blocks/i,
    example: 'requested too many blocks from 1 to 5000, maximum is set to 2048',
    allows: 2_048,
  },
  {
    whose: 'Arbitrum',
    source: PONDER,
    codes: ANY,
    words: /logs matched by query exceeds limit/i,
    example: 'logs matched by query exceeds limit of 10000',
    allows: null,
  },
  {
    whose: 'Chainstack',
    source: PONDER,
    codes: ANY,
    words: /block range limit exceeded/i,
    example: 'Block range limit exceeded. See more details at https://docs.chainstack.com',
    allows: null,
  },
  {
    whose: 'Coinbase',
    source: PONDER,
    codes: ANY,
    words: /limit the query to at most [\d,]+ blocks/i,
    example: 'please limit the query to at most 1,000 blocks',
    allows: 1_000,
  },
  {
    whose: 'geth and its kin with a limit',
    source: PONDER,
    codes: ANY,
    words: /block range greater than [\d,]+ max/i,
    example: 'block range greater than 1000 max',
    allows: 1_000,
  },
  {
    whose: 'Morph',
    source: 'https://github.com/enviodev/hyperindex/issues/605',
    codes: [SERVER_ERROR],
    words: /block range is larger than/i,
    example:
      'block range is larger than max block range, block range = 5120, max block range = 5000',
    allows: 5_000,
  },
  {
    whose: 'Optimism, proxyd',
    source: PONDER,
    codes: [...ANY, -32020],
    words: /backend response too large/i,
    example: 'backend response too large',
    allows: null,
  },
  {
    whose: 'others, blocks',
    source: 'https://github.com/foundry-rs/foundry/issues/12687',
    codes: ANY,
    words:
      /(?:block )?range (?:is )?(?:too|limit|exceed|over)|exceed(?:s|ed)? .*(?:block range|range limit)|too many (?:blocks|logs|results)/i,
    example: 'eth_getLogs range is too large, max is 1k blocks',
    allows: 1_000,
  },
  {
    whose: 'others, size of the answer',
    source: 'https://github.com/foundry-rs/foundry/issues/12687',
    codes: ANY,
    words: /max results|response (?:size )?is too (?:big|large)/i,
    example: 'Response is too big',
    allows: null,
  },
];

export function isTooManyLogs(method: string, code: number, detail: string): boolean {
  if (method !== 'eth_getLogs') return false;
  return WORDINGS.some(({ codes, words }) => codes.includes(code) && words.test(detail));
}

const NAMED_BLOCKS: readonly RegExp[] = [
  /(?:up to|limited to) (?:an? |0 - )?([\d,]+k?) (?:blocks? )?range/i,
  /max(?:imum)? block range(?::| =)? (?:of )?(\d[\d,]*)/i,
  /maximum is set to ([\d,]+)/i,
  /at most ([\d,]+) blocks/i,
  /block range greater than ([\d,]+) max/i,
  /range \d+ exceeds limit of ([\d,]+)/i,
  /block range is too \w+ \(maximum ([\d,]+)\)/i,
  /ranges over ([\d,]+) blocks/i,
  /number of requested blocks is ([\d,]+)/i,
  /block range exceeds server limit, narrow your filter: ([\d,]+)/i,
  /max range: ([\d,]+)/i,
  /max is ([\d,]+k?) blocks/i,
];

/** The number of blocks that the words allow; null when they name none. */
export function allowedBlocks(detail: string): number | null {
  const text = NAMED_BLOCKS.map((words) => words.exec(detail)?.[1]).find(
    (one) => one !== undefined,
  );
  if (text === undefined) return null;
  const digits = Number(text.replaceAll(',', '').replace(/k$/i, '000'));
  return Number.isSafeInteger(digits) && digits >= 1 ? digits : null;
}

/** Blocks of one question, for each node. Kept as long as the process runs. */
export class LogRanges {
  private readonly sizes = new Map<number, { size: number; ceiling: number; successes: number }>();

  constructor(private readonly largest: number) {}

  sizeFor(node: number): number {
    return this.of(node).size;
  }

  /** After twenty answers in a row the range grows again, but not beyond a limit that the node named. */
  succeeded(node: number): void {
    const learnt = this.of(node);
    learnt.successes += 1;
    if (learnt.successes < SUCCESSES_TO_GROW) return;
    learnt.successes = 0;
    learnt.size = Math.min(learnt.size * 2, learnt.ceiling);
  }

  /** @returns whether a smaller question is possible */
  refused(node: number, asked: number, detail: string): boolean {
    const learnt = this.of(node);
    learnt.successes = 0;
    if (asked <= 1) return false;
    const named = allowedBlocks(detail);
    const half = Math.max(1, Math.floor(asked / 2));
    learnt.size = named !== null && named < asked ? named : half;
    // A number that the node names holds for every range; that of results differs from one to another.
    if (named !== null) learnt.ceiling = Math.min(learnt.ceiling, learnt.size);
    return true;
  }

  private of(node: number): { size: number; ceiling: number; successes: number } {
    const stored = this.sizes.get(node);
    if (stored !== undefined) return stored;
    const learnt = { size: this.largest, ceiling: this.largest, successes: 0 };
    this.sizes.set(node, learnt);
    return learnt;
  }
}

const SUCCESSES_TO_GROW = 20;
