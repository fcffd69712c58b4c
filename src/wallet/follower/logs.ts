/**
 * Transfer logs that can be believed. A node that lags, or whose index of logs has a gap, answers
 * `eth_getLogs` with an empty list instead of an error (go-ethereum's issue 24078). So an empty answer
 * about a block is compared with the bloom filter in the block's header, and where they disagree the
 * receipts of the block decide.
 */
import type { Hex } from 'viem';
import { type Chain, receiptCalls } from '../chain/chain';
import { type RpcCall, RpcRefusal } from '../chain/rpc';
import { isExplained, readBloom } from './bloom';
import { InconsistentNode, resultOf } from './answers';
import { topicOfAddress, TRANSFER_TOPIC } from '../chain/erc20';
import type { RpcLog } from './movements';

/** What the check needs of a block. */
export interface LogBlock {
  number: Hex;
  hash: Hex;
  logsBloom?: Hex;
  transactions: readonly { hash: Hex }[];
}

type BlockReceipt = { transactionHash: Hex; blockHash: Hex; logs: RpcLog[] } | null;

/** What a node answered to a question about these recipients. */
export interface AnsweredLogs {
  addresses: readonly string[];
  logs: readonly RpcLog[];
}

/**
 * Adds what the answers left out. An answer that has logs of a block is believed about that block.
 * @throws InconsistentNode while the nodes' answers disagree with a header
 */
export async function completeLogs(
  chain: Chain,
  blocks: readonly LogBlock[],
  answers: readonly AnsweredLogs[],
): Promise<RpcLog[]> {
  const found = answers.flatMap(({ logs }) => logs);
  const parts = answers.map(({ addresses, logs }) => ({
    addresses,
    answered: new Set<string>(logs.map(({ blockHash }) => blockHash)),
  }));
  const doubtful = blocks.filter((block) =>
    mayPay(
      chain,
      block,
      parts.filter(({ answered }) => !answered.has(block.hash)).map(({ addresses }) => addresses),
    ),
  );
  if (doubtful.length === 0) return found;
  const again = await readAllTransfers(chain, doubtful);
  const logs = [...found, ...again.flat()];
  for (const [index, block] of doubtful.entries()) {
    // A node that has other transfers of the block has all of them.
    if ((again[index] ?? []).length === 0) logs.push(...(await readReceiptLogs(chain, block)));
  }
  return withoutRepeated(logs);
}

/** Another part of the question may have had the same log. */
function withoutRepeated(logs: readonly RpcLog[]): RpcLog[] {
  return [
    ...new Map(
      logs.map((log) => [`${log.blockHash} ${String(BigInt(log.logIndex))}`, log]),
    ).values(),
  ];
}

function mayPay(
  { network }: Chain,
  block: LogBlock,
  addresses: readonly (readonly string[])[],
): boolean {
  if (addresses.length === 0 || block.transactions.length === 0) return false;
  const mayHave = readBloom(block.logsBloom);
  return (
    network.tokens.some(({ address }) => mayHave(address.toLowerCase() as Hex)) &&
    mayHave(TRANSFER_TOPIC) &&
    addresses.some((some) => some.some((address) => mayHave(topicOfAddress(address))))
  );
}

/** The transfers of the tokens in each block, to whomever: on a busy chain there are always some. */
async function readAllTransfers(chain: Chain, blocks: readonly LogBlock[]): Promise<RpcLog[][]> {
  const address = chain.network.tokens.map((token) => token.address);
  const calls = blocks.map(({ hash }): RpcCall => ({
    method: 'eth_getLogs',
    params: [{ address, topics: [TRANSFER_TOPIC], blockHash: hash }],
  }));
  const answers = await chain.rpc.batches<RpcLog[] | null>(calls);
  return answers.map((answer) => resultOf(answer));
}

async function readReceiptLogs(chain: Chain, block: LogBlock): Promise<RpcLog[]> {
  const receipts = await readBlockReceipts(chain, block);
  const hashes = new Set(receipts.map((receipt) => receipt?.transactionHash));
  if (!block.transactions.every(({ hash }) => hashes.has(hash))) {
    throw new InconsistentNode('a receipt is missing');
  }
  const logs = receipts.flatMap((receipt) => {
    if (receipt?.blockHash !== block.hash) {
      throw new InconsistentNode('a receipt of another block');
    }
    return receipt.logs;
  });
  if (!isExplained(block.logsBloom, logs)) {
    const number = String(Number(block.number));
    throw new InconsistentNode(`the logs of block ${number} are not those of its header`);
  }
  return logs;
}

async function readBlockReceipts(chain: Chain, block: LogBlock): Promise<BlockReceipt[]> {
  try {
    const params = [block.hash];
    const all = await chain.rpc.call<BlockReceipt[] | null>('eth_getBlockReceipts', params);
    if (all === null) throw new InconsistentNode('the node does not have the block');
    return all;
  } catch (error) {
    // Older nodes do not have the method, or want a number.
    if (!(error instanceof RpcRefusal)) throw error;
    const calls = receiptCalls(block.transactions.map(({ hash }) => hash));
    return (await chain.rpc.batches<BlockReceipt>(calls)).map((answer) => resultOf(answer));
  }
}
