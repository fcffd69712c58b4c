/** A node that keeps the state of the newest blocks only, as is usual on chains of the second layer. */
import {
  type NodeAnswer,
  type NodeCall,
  type NodeProxy,
  startNodeProxy,
} from '../support/wallet/node-proxy';
import type { TestChain } from '../support/wallet/chain';

/** With the place of the block among the parameters. */
const STATE_METHODS: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getTransactionCount: 1,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_estimateGas: 1,
};
const KEPT_BLOCKS = 4;

/** @param answer what the node says before that, in place of the chain */
export async function startForgetfulNode(
  chain: TestChain,
  answer: (call: NodeCall) => NodeAnswer | Promise<NodeAnswer> = () => undefined,
): Promise<NodeProxy> {
  const isForgotten = async (at: unknown): Promise<boolean> => {
    if (typeof at !== 'string' || at === 'latest' || at === 'pending') return false;
    const number = at.startsWith('0x')
      ? Number(at)
      : await chain.blockNumber(at as 'safe' | 'finalized');
    return number <= (await chain.blockNumber()) - KEPT_BLOCKS;
  };
  return startNodeProxy(chain.url, async (call) => {
    const own = await answer(call);
    if (own !== undefined) return own;
    const place = STATE_METHODS[call.method];
    if (place === undefined || !(await isForgotten(call.params[place]))) return undefined;
    return { error: { code: -32000, message: 'missing trie node 5f3a (path ) <nil>' } };
  });
}
