/**
 * What the providers answer when a question for logs is too large, in their own words. The question
 * is asked again about fewer blocks, and what a node allows is remembered. A limit of the rate has
 * other words, and the next node is asked. docs/wallet.md has the same table.
 */

interface Wording {
  /** Whose words they are. */
  source: string;
  codes: readonly number[];
  words: RegExp;
}

const WORDINGS: readonly Wording[] = [
  { source: 'Infura', codes: [-32005], words: /query returned more than \d+ results/i },
  { source: 'Infura', codes: [-32005], words: /query timeout exceeded/i },
  {
    source: 'Alchemy',
    codes: [-32600, -32602],
    words: /up to a [\d,]+ block range|block range should work|log response size exceeded/i,
  },
  {
    source: 'QuickNode',
    codes: [-32614, -32602, -32000],
    words: /limited to a [\d,]+ (?:block )?range/i,
  },
  { source: 'Ankr', codes: [-32600, -32602, -32000], words: /block range is too (?:wide|large)/i },
  {
    source: 'publicnode',
    codes: [-32701, -32600, -32602, -32000],
    words: /exceed(?:s|ed)? (?:the )?max(?:imum)? (?:block )?(?:range|results)/i,
  },
  {
    source: 'BNB Chain, Polygon, others',
    codes: [-32005, -32000, -32602, -32603],
    words:
      /(?:block )?range (?:is )?(?:too|limit|exceed|over)|exceed(?:s|ed)? .*(?:block range|range limit)|too many (?:blocks|logs|results)/i,
  },
  {
    source: 'erigon, nethermind, reth',
    codes: [-32000, -32005, -32602, -32603, -32016],
    words: /query exceeds max (?:results|block range)|max results|response is too (?:big|large)/i,
  },
];

export function isTooManyLogs(method: string, code: number, detail: string): boolean {
  if (method !== 'eth_getLogs') return false;
  return WORDINGS.some(({ codes, words }) => codes.includes(code) && words.test(detail));
}

/** The number of blocks that the words allow; null when they name none. */
export function allowedBlocks(detail: string): number | null {
  const [, range, blocks] =
    /(?:up to|limited to) an? ([\d,]+) (?:block )?range|max(?:imum)? (?:block )?range:? (?:of )?([\d,]+)/i.exec(
      detail,
    ) ?? [];
  const text = (range ?? blocks)?.replaceAll(',', '');
  const found = Number(text);
  return text === undefined || !Number.isSafeInteger(found) || found < 1 ? null : found;
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
