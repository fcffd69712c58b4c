/**
 * Ends transfers when the chain calls their transaction final, and not before: until then a
 * reorganisation may undo it. A nonce that is used at a final block without a receipt of ours was
 * used by somebody else, and stops the signer.
 */
import type { Address, Hex } from 'viem';
import { type Receipt, readReceipt, type RpcReceipt } from '../chain/chain';
import type { Tx } from '../db/database';
import { adoptReplacement } from './explain';
import type { QueueParts } from './queue';
import { type Attempt, findAttempts, findOpenSlots, type Slot, stopSigner } from './slots';
import { finishTransfer, type FailureCode } from './transfers';
import { type ChainView, readView, wordOf } from './view';

const BATCH = 20;

/** @returns whether there may be more */
export async function settleFinal(parts: QueueParts, view: ChainView): Promise<boolean> {
  const { db, key } = parts;
  const slots = await findOpenSlots(db, key, { upTo: view.finalNonces, limit: BATCH });
  const last = slots.at(-1);
  if (last === undefined) return false;
  const attempts = await findAttempts(db, key, { upTo: last.nonce + 1n });
  const receipts = await readReceipts(parts, attempts);
  const ends: { slot: Slot; receipt: Receipt }[] = [];
  for (const slot of slots) {
    const own = attempts.filter(({ nonce }) => nonce === slot.nonce);
    const receipt = own.map(({ hash }) => receipts.get(hash)).find((one) => one !== undefined);
    if (receipt === undefined) {
      await reportForeign(parts, slot, own);
    } else if (receipt.blockNumber <= view.finalBlock) ends.push({ slot, receipt });
  }
  if (ends.length === 0) return false;
  await db.transaction(async (tx) => {
    for (const { slot, receipt } of ends) await settle(parts, tx, slot, receipt);
  });
  return slots.length === BATCH;
}

async function readReceipts(
  { chain }: QueueParts,
  attempts: readonly Attempt[],
): Promise<Map<Hex, Receipt>> {
  const calls = attempts.map(({ hash }) => ({
    method: 'eth_getTransactionReceipt',
    params: [hash],
  }));
  const receipts = new Map<Hex, Receipt>();
  for (const [index, answer] of (await chain.rpc.batches<RpcReceipt>(calls)).entries()) {
    const receipt = 'result' in answer ? readReceipt(answer.result) : null;
    const attempt = attempts[index];
    if (receipt !== null && attempt !== undefined) receipts.set(attempt.hash, receipt);
  }
  return receipts;
}

async function settle(
  { key, chain, alarms }: QueueParts,
  tx: Tx,
  slot: Slot,
  receipt: Receipt,
): Promise<void> {
  const arrived = receipt.succeeded
    ? transferredUnits(chain.network.tokens, slot, key.signer, receipt)
    : 0n;
  const isSent = arrived > 0n;
  const failureCode: FailureCode | null = isSent
    ? null
    : receipt.succeeded
      ? 'not_transferred'
      : 'destination_unreachable';
  const [row] = await tx.query(
    `UPDATE wallet.slot SET state = $4
     WHERE chain_id = $1 AND signer = $2 AND nonce = $3 AND state = 'open' RETURNING nonce`,
    [key.chainId, key.signer, slot.nonce.toString(), isSent ? 'sent' : 'failed'],
  );
  if (row === undefined) return;
  await finishTransfer(tx, {
    transferId: slot.transferId,
    status: isSent ? 'confirmed' : 'failed',
    failureCode,
    txHash: receipt.transactionHash,
  });
  if (!receipt.succeeded || arrived === slot.units) return;
  const what = isSent ? `${arrived.toString()} units of ${slot.units.toString()}` : 'nothing';
  await alarms.raise(
    'not_transferred',
    slot.transferId,
    `Transaction ${receipt.transactionHash} succeeded, but transferred ${what} of ${slot.asset}. Check the token's contract.`,
    tx,
  );
}

/** keccak256 of Transfer(address,address,uint256) */
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** What the token says that the recipient got; a coin has no log, and its success says it. */
function transferredUnits(
  tokens: readonly { asset: string; address: Address }[],
  slot: Slot,
  signer: string,
  { logs }: Receipt,
): bigint {
  const token = tokens.find(({ asset }) => asset === slot.asset);
  if (token === undefined) return slot.units;
  const from = `0x${wordOf(signer as Address)}`;
  const to = `0x${wordOf(slot.recipient)}`;
  return logs
    .filter(({ address }) => address.toLowerCase() === token.address.toLowerCase())
    .filter(({ topics }) => topics[0] === TRANSFER_TOPIC && topics[1] === from && topics[2] === to)
    .reduce((sum, { data }) => sum + (data === '0x' ? 0n : BigInt(data)), 0n);
}

/**
 * Nodes may lag behind each other, so each one is asked. Nothing about the transfer changes: an
 * operator looks first, and `resumeSigner` asks all nodes again.
 */
async function reportForeign(
  parts: QueueParts,
  slot: Slot,
  attempts: readonly Attempt[],
): Promise<void> {
  const { db, chain, key, alarms } = parts;
  if (!(await isUsedByOthers(chain, key.signer, slot.nonce, attempts))) return;
  if (await adoptReplacement(parts, slot)) return;
  const reason = `Nonce ${slot.nonce.toString()} was used by a transaction that the wallet did not make.`;
  const remedy = 'Find out who else has the key, then run npm run wallet -- resume-signer.';
  await db.transaction(async (tx) => {
    if (!(await stopSigner(tx, key, reason, { openNonce: slot.nonce }))) return;
    await alarms.raise('signer_stopped', key.signer, `${reason} ${remedy}`, tx);
  });
}

/** True when every node that answers has the nonce in a final block and none of the attempts. */
export async function isUsedByOthers(
  chain: QueueParts['chain'],
  signer: string,
  nonce: bigint,
  attempts: readonly Attempt[],
  { everyNode = false } = {},
): Promise<boolean> {
  let answered = 0;
  const nodes = chain.rpc.each();
  for (const rpc of nodes) {
    const view = await readView({ ...chain, rpc }, signer as Address).catch(() => null);
    if (view === null) continue;
    if (view.finalNonces <= nonce) return false;
    const calls = attempts.map(({ hash }) => ({
      method: 'eth_getTransactionReceipt',
      params: [hash],
    }));
    const receipts = await rpc.batches<RpcReceipt>(calls);
    if (receipts.some((one) => !('result' in one) || one.result !== null)) return false;
    answered += 1;
  }
  return answered > 0 && (!everyNode || answered === nodes.length);
}
