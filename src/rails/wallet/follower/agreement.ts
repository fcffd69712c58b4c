/**
 * Nodes that agree about deposits. One node may be wrong, compromised or on another fork, and what it
 * alone says never becomes money: before a deposit is confirmed, two nodes must have its transaction in
 * the same block, and that block must be sure at both. A network with one node relies on that node.
 */
import type { Hex } from 'viem';
import type { Alarms } from '../alarms';
import { type Chain, nodesRequired } from '../chain/chain';
import { ignoreSilence, type RpcAnswer } from '../chain/rpc';
import {
  type DepositParts,
  findSure,
  listUnagreed,
  markAgreed,
  type SureBlocks,
  type SureDeposit,
} from '../checkouts/deposits';
import type { Database } from '../db/database';
import { depositId, movementsOf, type RpcReceipt, type RpcTransaction } from './movements';
import { readHeads } from './reader';

/** A node may be some blocks behind. */
const DOUBT_AFTER_MS = 120_000;
/** The wait after a failed attempt for a deposit. */
const RETRY_AFTER_MS = 5_000;

export interface AgreementParts extends DepositParts {
  chain: Chain;
  db: Database;
  alarms: Alarms;
  doubtAfterMs?: number;
}

interface Doubt {
  since: number;
  triedAt: number;
}

export class Agreement {
  /** deposit → since when it lacks a node. After a restart the time begins again. */
  private readonly doubts = new Map<string, Doubt>();
  /** An alarm of an earlier run may be open. */
  private hasOldAlarms = true;

  constructor(private readonly parts: AgreementParts) {}

  /** Stores which of the deposits that the followed node calls sure enough nodes show. */
  async seek(sure: SureBlocks): Promise<void> {
    const { db, chainId } = this.parts;
    const all = await listUnagreed(db, chainId, sure);
    const now = performance.now();
    const due = all.filter(({ id }) => {
      const doubt = this.doubts.get(id);
      return doubt === undefined || now - doubt.triedAt >= RETRY_AFTER_MS;
    });
    const deposits = await findSure(db, this.parts, sure, due);
    const agreed = deposits.length === 0 ? [] : await this.askNodes(deposits);
    await markAgreed(db, chainId, agreed);
    const found = new Set(agreed.map(({ id }) => id));
    await this.endDoubts(all.map(({ id }) => id).filter((id) => !found.has(id)));
    for (const one of deposits) if (!found.has(one.id)) await this.doubt(one, now);
  }

  /** @returns the deposits that enough nodes have in the same block */
  private async askNodes(deposits: readonly SureDeposit[]): Promise<SureDeposit[]> {
    const { chain } = this.parts;
    const required = nodesRequired(chain);
    /** deposit → block → how many nodes have it there */
    const shown = new Map(deposits.map(({ id }) => [id, new Map<Hex, number>()]));
    const isAgreed = ({ id }: SureDeposit): boolean =>
      [...(shown.get(id)?.values() ?? [])].some((count) => count >= required);
    for (const node of chain.nodes) {
      const open = deposits.filter((one) => !isAgreed(one));
      if (open.length === 0) break;
      // A node that is silent, or lacks the method, shows nothing.
      for (const { id, block } of (await listShown(node, open).catch(ignoreSilence)) ?? []) {
        const blocks = shown.get(id);
        blocks?.set(block, (blocks.get(block) ?? 0) + 1);
      }
    }
    return deposits.filter(isAgreed);
  }

  private async doubt(one: SureDeposit, now: number): Promise<void> {
    const { alarms, chain, doubtAfterMs = DOUBT_AFTER_MS } = this.parts;
    const { since } = this.doubts.get(one.id) ?? { since: now };
    this.doubts.set(one.id, { since, triedAt: now });
    if (now - since < doubtAfterMs) return;
    const detail = `Fewer than ${String(nodesRequired(chain))} nodes of ${chain.network.name} show the transfer of transaction ${one.txHash} in block ${one.blockNumber}, so it is not credited. Compare the transaction at the nodes: repair the nodes that lack it, or remove the node that invented it from rpc_urls, restart the wallet, and run \`wallet rescan ${chain.network.name} --from ${one.blockNumber} --to ${one.blockNumber}\`, which takes the invented transfer away. The alarm ends by itself.`;
    await alarms.raise('deposit_in_doubt', one.id, detail);
  }

  /** @param ids the deposits that still lack a node */
  private async endDoubts(ids: readonly string[]): Promise<void> {
    const ended = [...this.doubts.keys()].filter((id) => !ids.includes(id));
    if (ended.length === 0 && !this.hasOldAlarms) return;
    for (const id of ended) this.doubts.delete(id);
    this.hasOldAlarms = false;
    const open = await this.parts.db.query<{ subject: string }>(
      `SELECT subject FROM wallet.alarm
       WHERE chain_id = $1 AND kind = 'deposit_in_doubt' AND cleared_at IS NULL
         AND subject <> ALL ($2)`,
      [this.parts.chainId, ids],
    );
    for (const { subject } of open) await this.parts.alarms.clear('deposit_in_doubt', subject);
  }
}

/** @returns the deposits that the node has in a block that is sure, with the hash of that block */
async function listShown(
  node: Chain,
  deposits: readonly SureDeposit[],
): Promise<{ id: string; block: Hex }[]> {
  const { safe, finalized } = await readHeads(node);
  const sure: SureBlocks = {
    finalized: finalized?.number ?? -1,
    safe: Math.max((safe ?? finalized)?.number ?? -1, finalized?.number ?? -1),
  };
  const hashes = [...new Set(deposits.map(({ txHash }) => txHash))];
  const answers = await node.rpc.batches<unknown>(
    hashes.flatMap((hash) => [
      { method: 'eth_getTransactionByHash', params: [hash] },
      { method: 'eth_getTransactionReceipt', params: [hash] },
    ]),
  );
  const byHash = new Map(
    hashes.map((hash, index) => [hash, answers.slice(2 * index, 2 * index + 2)]),
  );
  const tokens = new Set(node.network.tokens.map(({ address }) => address.toLowerCase()));
  return deposits.flatMap((deposit) => {
    if (deposit.blockNumber > sure[deposit.finality]) return [];
    const [transaction, receipt] = (byHash.get(deposit.txHash) ?? []).map(resultOrNull);
    if (transaction == null || receipt == null) return [];
    const block = blockThatShows(deposit, transaction as RpcTransaction, receipt as RpcReceipt, {
      chainId: node.network.chainId,
      tokens,
    });
    return block === null ? [] : [{ id: deposit.id, block }];
  });
}

function resultOrNull(answer: RpcAnswer): unknown {
  return 'result' in answer ? answer.result : null;
}

/** @returns the hash of the block in which the transaction makes just this deposit */
function blockThatShows(
  { id, units, blockNumber }: SureDeposit,
  transaction: RpcTransaction,
  receipt: RpcReceipt,
  { chainId, tokens }: { chainId: number; tokens: ReadonlySet<string> },
): Hex | null {
  if (Number(receipt.blockNumber) !== blockNumber) return null;
  const movement = movementsOf(transaction, receipt, tokens).find(
    (one) => depositId(chainId, one) === id,
  );
  return movement?.units === units ? receipt.blockHash : null;
}
