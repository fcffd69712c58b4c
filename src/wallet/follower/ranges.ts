/** Reads final blocks in ranges that are as large as the node allows. */
import type { Chain } from '../chain/chain';
import { RpcRefusal } from '../chain/rpc';
import { type BlockContent, type BlockHeader, readRange, type Watched } from './reader';

export type BlockRange = BlockContent & { first: BlockHeader; last: BlockHeader };

/**
 * Reads as many of the blocks as the node answers about at once.
 * @returns null when the node wants to be asked about fewer, which it is next time
 */
export async function readNextRange(
  chain: Chain,
  { from, to }: { from: number; to: number },
  watched: Watched,
): Promise<BlockRange | null> {
  const node = chain.rpc.preferred();
  const last = Math.min(to, from - 1 + chain.logRanges.sizeFor(node));
  try {
    const range = await readRange(chain, from, last, watched);
    chain.logRanges.succeeded(node);
    return range;
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
    if (chain.logRanges.refused(error.node, last - from + 1, error.detail)) return null;
    // The node has not told even one block, and another node may have more to say.
    chain.rpc.avoidCurrent();
    throw error;
  }
}
