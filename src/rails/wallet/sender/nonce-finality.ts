/** Whether a nonce is used for ever: by a transaction in a final block. */
import type { Address, Hex } from 'viem';
import { type Chain, findReceipt, readFinalHead, toHex } from '../chain/chain';
import { isInFinalBlock, readUsedNonces } from '../chain/finality';
import { findTransactions } from './lookup';

/**
 * A node without the state of the final block must show the transaction that used the nonce, and its
 * receipt in a final block.
 * @returns null when such a node does not show the transaction, so that it cannot tell
 */
export async function isNonceFinal(
  chain: Chain,
  account: Address,
  nonce: bigint,
): Promise<boolean | null> {
  const final = await readFinalHead(chain);
  if (final === null) return false;
  const used = await readUsedNonces(chain, account, final);
  if (used.latest <= nonce) return false;
  if (used.final !== null) return used.final > nonce;
  const [user] = await findTransactions(chain, account, [nonce]);
  if (user === undefined) return null;
  const receipt = await findReceipt(chain.rpc, user.hash);
  return receipt !== null && isInFinalBlock(chain.rpc, receipt, final);
}

/** Returns null when the node has no longer the state of that block. */
export async function readNonceAt(
  { rpc }: Chain,
  signer: string,
  block: number,
): Promise<bigint | null> {
  const [answer] = await rpc.batch<Hex>([
    { method: 'eth_getTransactionCount', params: [signer, toHex(BigInt(block))] },
  ]);
  return answer !== undefined && 'result' in answer ? BigInt(answer.result) : null;
}
