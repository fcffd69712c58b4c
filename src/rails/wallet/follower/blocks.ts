/**
 * Blocks with the receipts of all their transactions. The logs are those of the receipts: a node that
 * lags, or whose index of logs has a gap, answers `eth_getLogs` with an empty list instead of an error
 * (go-ethereum's issue 24078). What does not fit the block and its header is not believed.
 */
import type { Hex } from 'viem';
import { type Chain, receiptCalls, toHex } from '../chain/chain';
import type { RpcAnswer, RpcCall } from '../chain/rpc';
import { InconsistentNode, isMissingMethod, resultOf } from './answers';
import { matchesBloom } from './bloom';
import type { RpcReceipt, RpcTransaction } from './movements';

export interface BlockHeader {
  number: number;
  hash: string;
  parentHash: string;
  time: Date;
}

export interface RpcBlock {
  number: Hex;
  hash: Hex;
  parentHash: Hex;
  timestamp: Hex;
  logsBloom?: Hex;
}

type RpcFullBlock = RpcBlock & { transactions: RpcTransaction[] };

export interface FullBlock {
  header: BlockHeader;
  /** Each with its receipt, in the order of the block. */
  transactions: readonly { transaction: RpcTransaction; receipt: RpcReceipt }[];
}

/** The receipts of a busy block are half a megabyte. */
const BLOCKS_PER_REQUEST = 4;

/** @throws InconsistentNode when an answer does not fit, or a block is missing at the node */
export async function readFullBlocks(
  chain: Chain,
  numbers: readonly number[],
): Promise<FullBlock[]> {
  // A node takes a number for the receipts, and not each one takes a hash. Both answers come from one
  // node, and the hashes in them show that they are about the same block.
  const answers = await chain.rpc.batches<unknown>(
    numbers.flatMap((number) => [
      blockCall(toHex(number), true),
      { method: 'eth_getBlockReceipts', params: [toHex(number)] },
    ]),
    2 * BLOCKS_PER_REQUEST,
  );
  const blocks: FullBlock[] = [];
  for (let index = 0; index < numbers.length; index += 1) {
    const block = resultOf(answers[2 * index] as RpcAnswer<RpcFullBlock | null>);
    const answer = answers[2 * index + 1] as RpcAnswer<RpcReceipt[] | null>;
    const receipts = isMissingMethod(answer)
      ? await readReceiptsOneByOne(chain, block)
      : resultOf(answer);
    blocks.push(joined(block, receipts));
  }
  return blocks;
}

async function readReceiptsOneByOne(chain: Chain, block: RpcFullBlock): Promise<RpcReceipt[]> {
  const calls = receiptCalls(block.transactions.map(({ hash }) => hash));
  return (await chain.rpc.batches<RpcReceipt | null>(calls)).map((answer) => resultOf(answer));
}

function joined(block: RpcFullBlock, receipts: readonly RpcReceipt[]): FullBlock {
  const number = String(Number(block.number));
  if (receipts.length !== block.transactions.length) {
    throw new InconsistentNode(`the receipts of block ${number} are not those of its transactions`);
  }
  const transactions = block.transactions.map((transaction, index) => {
    const receipt = receipts[index];
    if (receipt?.transactionHash !== transaction.hash || receipt.blockHash !== block.hash) {
      throw new InconsistentNode(`a receipt is not one of block ${number}`);
    }
    const isOwn = receipt.logs.every((log) => log.transactionHash === transaction.hash);
    if (!isOwn) throw new InconsistentNode(`a log of block ${number} is in the wrong receipt`);
    return { transaction, receipt };
  });
  if (
    !matchesBloom(
      block.logsBloom,
      receipts.flatMap(({ logs }) => logs),
    )
  ) {
    throw new InconsistentNode(`the logs of block ${number} are not those of its header`);
  }
  return { header: headerOf(block), transactions };
}

export function blockCall(tag: string, isFull = false): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [tag, isFull] };
}

export function headerOf({ number, hash, parentHash, timestamp }: RpcBlock): BlockHeader {
  return {
    number: Number(number),
    hash,
    parentHash,
    time: new Date(Number(timestamp) * 1000),
  };
}
