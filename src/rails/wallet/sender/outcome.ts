/**
 * What the receipt of a final transaction says about its transfer. Money is released, or sent again, only
 * when nothing was transferred, so one node's word for that is not enough: a second node must have the
 * same receipt in a block that it calls part of the chain, and where any node has the transfer, it was sent.
 */
import type { Address } from 'viem';
import {
  type Chain,
  nodesRequired,
  type Receipt,
  readReceipt,
  type RpcReceipt,
  toHex,
} from '../chain/chain';
import { topicOfAddress, TRANSFER_TOPIC } from '../chain/erc20';
import { ChainUnavailable, type Rpc } from '../chain/rpc';
import type { Slot } from './slots';

export type Outcome =
  | { kind: 'sent'; receipt: Receipt; units: bigint }
  /** The transaction was mined without effect. */
  | { kind: 'reverted'; receipt: Receipt }
  /** The transaction succeeded, and the token has no Transfer. */
  | { kind: 'not_transferred'; receipt: Receipt }
  /** The empty transaction of a freed nonce was mined in place of the transfer's. */
  | { kind: 'freed'; receipt: Receipt }
  | { kind: 'in_doubt'; receipt: Receipt };

export interface Mined {
  slot: Slot;
  receipt: Receipt;
  /** The receipt is of an empty transaction, and not of the transfer's. */
  isEmpty: boolean;
}

export async function findOutcome(chain: Chain, signer: string, mined: Mined): Promise<Outcome> {
  const { receipt } = mined;
  const said = read(chain, signer, mined);
  if (said.kind === 'sent') return said;
  const outcomes: Outcome[] = [];
  for (const { rpc } of chain.nodes) {
    const own = await readCanonical(rpc, receipt);
    if (own !== null) outcomes.push(read(chain, signer, { ...mined, receipt: own }));
  }
  const sent = outcomes.find(({ kind }) => kind === 'sent');
  if (sent !== undefined) return sent;
  const agreeing = outcomes.filter(({ kind }) => kind === said.kind);
  const isBelieved = agreeing.length === outcomes.length && agreeing.length >= nodesRequired(chain);
  return isBelieved ? said : { kind: 'in_doubt', receipt };
}

function read(chain: Chain, signer: string, { slot, receipt, isEmpty }: Mined): Outcome {
  if (isEmpty) return { kind: 'freed', receipt };
  if (!receipt.succeeded) return { kind: 'reverted', receipt };
  const units = transferredUnits(chain.network.tokens, slot, signer, receipt);
  return units > 0n ? { kind: 'sent', receipt, units } : { kind: 'not_transferred', receipt };
}

/** Null when the node has no receipt, has it in a block of another branch, or does not answer. */
async function readCanonical(
  node: Rpc,
  { transactionHash, blockNumber }: Receipt,
): Promise<Receipt | null> {
  try {
    const [receipt, block] = await node.batch<unknown>([
      { method: 'eth_getTransactionReceipt', params: [transactionHash] },
      { method: 'eth_getBlockByNumber', params: [toHex(blockNumber), false] },
    ]);
    if (receipt === undefined || !('result' in receipt)) return null;
    if (block === undefined || !('result' in block)) return null;
    const found = readReceipt(receipt.result as RpcReceipt);
    const hash = (block.result as { hash: string } | null)?.hash;
    return found !== null && found.blockHash === hash ? found : null;
  } catch (error) {
    if (error instanceof ChainUnavailable) return null;
    throw error;
  }
}

/** What the token says that the recipient got; a coin has no log, and its success says it. */
function transferredUnits(
  tokens: readonly { asset: string; address: Address }[],
  slot: Slot,
  signer: string,
  { logs }: Receipt,
): bigint {
  const token = tokens.find(({ asset }) => asset === slot.asset);
  if (token === undefined) return slot.units;
  const from = topicOfAddress(signer);
  const to = topicOfAddress(slot.recipient);
  return logs
    .filter(({ address }) => address.toLowerCase() === token.address.toLowerCase())
    .filter(({ topics }) => topics[0] === TRANSFER_TOPIC && topics[1] === from && topics[2] === to)
    .reduce((sum, { data }) => sum + (data === '0x' ? 0n : BigInt(data)), 0n);
}
