/**
 * What a block did to watched addresses, from raw JSON-RPC. Pure. viem's getLogs costs ten times the
 * time of decoding the one event that matters here.
 */
import { createHash } from 'node:crypto';
import type { Hex } from 'viem';
import { TRANSFER_TOPIC } from '../chain/erc20';

export interface RpcLog {
  address: Hex;
  topics: Hex[];
  data: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  transactionHash: Hex;
  logIndex: Hex;
  removed?: boolean;
}

export interface RpcTransaction {
  hash: Hex;
  from: Hex;
  to: Hex | null;
  value: Hex;
}

export interface RpcReceipt {
  transactionHash: Hex;
  blockHash: Hex;
  blockNumber: Hex;
  status: Hex;
  gasUsed: Hex;
  effectiveGasPrice: Hex;
  /** The fee of a layer 2 for its data, where the node reports it. */
  l1Fee?: Hex;
  logs: RpcLog[];
}

/** `from` null for coins that no transaction of the block sends directly. Addresses in lower case. */
export interface Movement {
  /** Null stands for the native coin. */
  token: string | null;
  from: string;
  to: string;
  units: bigint;
  txHash: string;
  /** Its place among the transaction's movements of this token to this recipient. */
  ordinal: number;
}

/**
 * Stays the same when a transaction is mined again in another block, at another place: `logIndex`
 * counts in the block and would change.
 */
export function depositId(
  chainId: number,
  { token, to, txHash, ordinal }: Pick<Movement, 'token' | 'to' | 'txHash' | 'ordinal'>,
): string {
  const name = [chainId, txHash, token ?? 'native', to, ordinal].join(' ').toLowerCase();
  return `odp_${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}

/**
 * Transfers of the listed tokens, in the order of the block. The ordinal counts transfers of zero as
 * well, so it does not depend on what is credited.
 * @param tokens the addresses of the tokens of the configuration, in lower case
 */
export function readTransferLogs(logs: readonly RpcLog[], tokens: ReadonlySet<string>): Movement[] {
  const counts = new Map<string, number>();
  const movements: Movement[] = [];
  const inOrder = [...logs].sort((a, b) => Number(BigInt(a.logIndex) - BigInt(b.logIndex)));
  for (const log of inOrder) {
    const token = log.address.toLowerCase();
    const [topic, from, to, ...more] = log.topics;
    // A fourth topic is the id of a single item (ERC-721), and not an amount.
    if (topic !== TRANSFER_TOPIC || from === undefined || to === undefined) continue;
    if (more.length > 0 || log.removed === true || !tokens.has(token)) continue;
    if (!/^0x[0-9a-f]{64}$/i.test(log.data)) continue;
    const recipient = addressOfTopic(to);
    const place = `${log.transactionHash} ${token} ${recipient}`;
    const ordinal = counts.get(place) ?? 0;
    counts.set(place, ordinal + 1);
    movements.push({
      token,
      from: addressOfTopic(from),
      to: recipient,
      units: BigInt(log.data),
      txHash: log.transactionHash,
      ordinal,
    });
  }
  return movements;
}

/** What a transaction moves: its own coins, and transfers of the listed tokens. A failed one moves nothing. */
export function movementsOf(
  transaction: RpcTransaction,
  receipt: RpcReceipt,
  tokens: ReadonlySet<string>,
): Movement[] {
  if (!isSuccessful(receipt)) return [];
  const coins = readNativeTransfer(transaction);
  return [...(coins === null ? [] : [coins]), ...readTransferLogs(receipt.logs, tokens)];
}

function readNativeTransfer({ hash, from, to, value }: RpcTransaction): Movement | null {
  if (to === null || BigInt(value) === 0n) return null;
  return {
    token: null,
    from: from.toLowerCase(),
    to: to.toLowerCase(),
    units: BigInt(value),
    txHash: hash,
    ordinal: 0,
  };
}

function isSuccessful({ status }: RpcReceipt): boolean {
  return BigInt(status) === 1n;
}

/** The fee that the sender of a transaction paid. */
export function feeOf({ gasUsed, effectiveGasPrice, l1Fee }: RpcReceipt): bigint {
  return BigInt(gasUsed) * BigInt(effectiveGasPrice) + BigInt(l1Fee ?? '0x0');
}

function addressOfTopic(topic: Hex): string {
  return `0x${topic.slice(26).toLowerCase()}`;
}
