/**
 * Transfer logs that can be believed. A node that lags, or whose index of logs has a gap, answers
 * `eth_getLogs` with an empty list instead of an error (go-ethereum's issue 24078). So an empty answer
 * about a block is compared with the bloom filter in the block's header, and where they disagree the
 * receipts of the block decide.
 */
import type { Hex } from 'viem';
import type { Chain } from '../chain/chain';
import { type RpcCall, RpcRefusal } from '../chain/rpc';
import { isExplained, readBloom } from './bloom';
import { InconsistentNode, resultOf } from './answers';
import { type RpcLog, topicOfAddress, TRANSFER_TOPIC } from './movements';

/** What the check needs of a block. */
export interface LogBlock {
  number: Hex;
  hash: Hex;
  logsBloom?: Hex;
  transactions: readonly { hash: Hex }[];
}

type BlockReceipt = { transactionHash: Hex; blockHash: Hex; logs: RpcLog[] } | null;

/**
 * Adds what an answer left out.
 * @param found what `eth_getLogs` answered about these blocks
 * @throws InconsistentNode while the nodes' answers disagree with a header
 */
export async function completeLogs(
  chain: Chain,
  blocks: readonly LogBlock[],
  found: readonly RpcLog[],
  watched: readonly string[],
): Promise<RpcLog[]> {
  const answered = new Set<string>(found.map(({ blockHash }) => blockHash));
  const doubtful = blocks.filter(
    (block) => !answered.has(block.hash) && mayPayWatched(chain, block, watched),
  );
  if (doubtful.length === 0) return found.slice();
  const again = await readAllTransfers(chain, doubtful);
  const logs = [...found, ...again.flat()];
  for (const [index, block] of doubtful.entries()) {
    // A node that has other transfers of the block has all of them.
    if ((again[index] ?? []).length === 0) logs.push(...(await readReceiptLogs(chain, block)));
  }
  return logs;
}

function mayPayWatched({ network }: Chain, block: LogBlock, watched: readonly string[]): boolean {
  const mayHave = readBloom(block.logsBloom);
  return (
    block.transactions.length > 0 &&
    network.tokens.some(({ address }) => mayHave(address.toLowerCase() as Hex)) &&
    mayHave(TRANSFER_TOPIC) &&
    watched.some((address) => mayHave(topicOfAddress(address)))
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
    const calls = block.transactions.map(({ hash }) => ({
      method: 'eth_getTransactionReceipt',
      params: [hash],
    }));
    return (await chain.rpc.batches<BlockReceipt>(calls)).map((answer) => resultOf(answer));
  }
}
