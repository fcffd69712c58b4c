/**
 * What stops the hot wallets of a chain, and what a person does about it: `wallet restore`. Empty transactions take
 * every nonce that a lost database may have signed. When they are final, the sender explains what was mined
 * (./explain), and the person decides what is left.
 */
import type { Address } from 'viem';
import { SetupError } from '../../../platform/lib/setup-error';
import { type Chain } from '../chain/chain';
import { ignoreSilence } from '../chain/rpc';
import type { Database, Db, Tx } from '../db/database';
import { WAITING_MIN } from './compare';
import { record } from './decide-unknown';
import { estimateEmpty } from './estimate-empty';
import { isFinalEverywhere, listUnseen } from './explain';
import { type Fees, firstFees, max, min } from './fees';
import { countEverywhere, type UsedNonces } from './lookup';
import { lockAllSigners, readSigner } from './slots';
import { describeFound, describeOpenFound, type OpenFound } from './unknown';
import { readView } from './view';

interface Unseen {
  nonce: string;
  /** The payout that had the nonce; null: none. */
  reference: string | null;
}

export interface HotWalletRestore {
  address: Address;
  replaced: boolean;
  stopped_reason: string | null;
  next_nonce: string;
  /** Every nonce below it must be final. Null: nothing has begun. */
  explain_to: string | null;
  is_restoring: boolean;
  /** In the order of rpc_urls; null: it does not answer. */
  nodes: ({ mined: string; pending: string } | null)[];
  /** The nonces below `explain_to` are final at every node, so what follows is complete. */
  is_final: boolean;
  unknown_transactions: OpenFound[];
  /** Used nonces whose transaction no node shows. */
  unseen_nonces: Unseen[];
}

interface SignerRow {
  address: Address;
  replaced: boolean;
  inFlight: number;
}

function listSigners(db: Db, chainId: number): Promise<SignerRow[]> {
  return db.query<SignerRow>(
    `SELECT address, replaced_at IS NOT NULL AS replaced, (SELECT count(*)::int FROM wallet.slot
       WHERE slot.chain_id = signer.chain_id AND signer = address AND state = 'open') AS "inFlight"
     FROM wallet.signer WHERE chain_id = $1 ORDER BY address`,
    [chainId],
  );
}

export async function readRestore(db: Db, chain: Chain): Promise<HotWalletRestore[]> {
  const { chainId } = chain.network;
  const shown: HotWalletRestore[] = [];
  for (const { address, replaced } of await listSigners(db, chainId)) {
    const key = { chainId, signer: address };
    const { stoppedReason, nextNonce, explainTo, isRestoring } = await readSigner(db, key);
    const counts = chain.nodes.map((node) => countAt(node, address));
    const isFinal = explainTo !== null && (await isFinalEverywhere(chain, address, explainTo));
    shown.push({
      ...{ address, replaced, stopped_reason: stoppedReason, next_nonce: nextNonce.toString() },
      ...{
        explain_to: explainTo?.toString() ?? null,
        is_restoring: isRestoring,
        is_final: isFinal,
      },
      nodes: (await Promise.all(counts)).map(
        (used) => used && { mined: used.mined.toString(), pending: used.pending.toString() },
      ),
      unknown_transactions: await describeFound(db, chain, key),
      unseen_nonces: isFinal ? await listUnseen(db, key) : [],
    });
  }
  return shown;
}

/** Null when the node does not answer. */
async function countAt(node: Chain, address: Address): Promise<UsedNonces | null> {
  const answers = await node.rpc.call('eth_blockNumber').catch(ignoreSilence);
  return answers === undefined ? null : countEverywhere(node, address);
}

const COMMAND = 'npm run wallet -- restore';

export function describeRestore({ network }: Chain, wallets: readonly HotWalletRestore[]): string {
  const [name, mode] = [network.name, network.mode];
  return wallets.map((wallet) => describeWallet(`${name} --mode ${mode}`, wallet)).join('\n');
}

function describeWallet(which: string, wallet: HotWalletRestore): string {
  const nodes = wallet.nodes.map((used) =>
    used === null ? 'no answer' : `${used.mined} mined, ${used.pending} with the pool`,
  );
  const lines = [
    `${wallet.address}${wallet.replaced ? ' (replaced)' : ''}`,
    `stopped: ${wallet.stopped_reason ?? 'no'}`,
    `database: next nonce ${wallet.next_nonce}; nodes: ${nodes.join('; ')}`,
    ...wallet.unknown_transactions.map(describeOpenFound),
    ...wallet.unseen_nonces.map(describeUnseen),
    nextStep(which, wallet),
  ];
  return `${lines.join('\n  ')}\n`;
}

function describeUnseen({ nonce, reference }: Unseen): string {
  const had = reference === null ? 'no payout had it' : `${reference} had it`;
  return `nonce ${nonce}: used, and no node shows by which transaction; ${had}`;
}

function nextStep(which: string, wallet: HotWalletRestore): string {
  const { stopped_reason: reason, explain_to: to, is_restoring: isRestoring } = wallet;
  if (reason === null) return 'next: nothing to do for this hot wallet';
  const cancel = `${COMMAND} ${which} --cancel --by … --reason …`;
  if (to === null) return `next: ${cancel}`;
  if (!wallet.is_final) {
    const end = `wait until every node calls nonce ${String(BigInt(to) - 1n)} final`;
    return isRestoring ? `next: ${end}` : `next: ${end}; if it does not happen, ${cancel}`;
  }
  if (wallet.unknown_transactions.length + wallet.unseen_nonces.length === 0) {
    return 'next: the wallet ends the stop in its next step; it must be running';
  }
  return 'next: wait some minutes for the gateway, which submits its open payouts again; then decide each of these with --paid, --foreign or --unseen';
}

interface Begun {
  address: Address;
  /** Nonces that empty transactions take. */
  from: bigint;
  to: bigint;
}

/** @throws SetupError while a node does not answer, a key is missing or a node counts what cannot be */
export async function beginRestore(
  db: Database,
  chain: Chain,
  { by, reason }: { by: string; reason: string },
): Promise<Begun[]> {
  const { chainId } = chain.network;
  const plans: Plan[] = [];
  for (const signer of await listSigners(db, chainId)) {
    const plan = await planFor(db, chain, signer);
    if (plan !== null) plans.push(plan);
  }
  if (plans.length === 0) {
    throw new SetupError(`Every hot wallet of ${chain.network.name} is being restored already.`);
  }
  await db.transaction(async (tx) => {
    await lockAllSigners(tx, chainId);
    for (const plan of plans) {
      const { address, from, to } = plan;
      await takeNonces(tx, chainId, plan);
      const what = `empty transactions for nonces ${from} to ${to - 1n}`;
      await record(tx, { chainId, signer: address }, what, { by, reason });
    }
  });
  return plans;
}

interface Plan extends Begun {
  fees: Fees;
  gas: bigint;
}

/** More unmined transactions than any wallet has. */
const UNMINED_MAX = 1_000n;

/** Null where it is being restored, or is replaced and has nothing that could be mined. */
async function planFor(db: Db, chain: Chain, signer: SignerRow): Promise<Plan | null> {
  const { network } = chain;
  const { address, replaced, inFlight } = signer;
  const state = await readSigner(db, { chainId: network.chainId, signer: address });
  if (state.isRestoring) return null;
  const counts = await Promise.all(chain.nodes.map((node) => countAt(node, address)));
  const known = counts.filter((used) => used !== null);
  if (known.length < counts.length) {
    throw new SetupError(
      `A node of ${network.name} does not answer, and may have a transaction that the others lack. Make all nodes reachable, or remove the node from rpc_urls, and run the command again.`,
    );
  }
  if (replaced) {
    const isKnown = known.every(({ pending }) => pending <= state.nextNonce);
    if (isKnown && inFlight === 0 && state.stoppedReason === null) return null;
    throw new SetupError(
      `The hot wallet ${address} was replaced, and may have transactions that are not mined: without its key nothing can take their nonces. Name its key in WALLET_NETWORKS_FILE again until the restore has ended, restart the wallet, and run the command again.`,
    );
  }
  const [first = 0n, ...others] = known.map(({ mined }) => mined);
  const from = min(first, ...others);
  const top = max(state.nextNonce, ...known.map(({ pending }) => pending));
  if (top - from > UNMINED_MAX) {
    throw new SetupError(
      `The nodes of ${network.name} count ${top} transactions of ${address}, and one of them has only ${from} in blocks. Remove the node that is wrong from rpc_urls, and run the command again.`,
    );
  }
  const view = await readView(chain, address);
  const fees = firstFees(view, network.payouts?.maxFeePerGasWei ?? 0n);
  return {
    address,
    from,
    to: top + WAITING_MIN,
    fees,
    gas: await estimateEmpty(chain, address, '0x'),
  };
}

/**
 * Open slots get empty transactions in place of their own, and unused nonces slots without a transfer. What has
 * ended at a nonce that no block has used is followed again.
 */
async function takeNonces(tx: Tx, chainId: number, plan: Plan): Promise<void> {
  const { address, from, to, fees, gas } = plan;
  await tx.query(
    `INSERT INTO wallet.slot (chain_id, signer, nonce, asset, units, recipient, data, value_wei, gas,
       max_fee_per_gas, max_priority_fee_per_gas, freed_at)
     SELECT $1, $2, nonce, '', 0, $2, '0x', 0, $5, $6, $7, clock_timestamp()
     FROM generate_series($3::bigint, $4::bigint - 1) AS nonce
     ON CONFLICT (chain_id, signer, nonce) DO UPDATE
     SET freed_at = coalesce(slot.freed_at, clock_timestamp()), state = 'open', settled_block = NULL,
       transfer_id = CASE WHEN slot.state = 'open' THEN slot.transfer_id END,
       data = CASE WHEN slot.state = 'open' THEN slot.data ELSE '0x' END,
       is_signed = EXISTS (SELECT FROM wallet.attempt WHERE attempt.chain_id = slot.chain_id
         AND attempt.signer = slot.signer AND attempt.nonce = slot.nonce)
     WHERE slot.state IN ('open', 'foreign')`,
    [
      ...[chainId, address, from, to.toString(), gas.toString()],
      ...[fees.maxFeePerGas, fees.maxPriorityFeePerGas.toString()],
    ],
  );
  // The fence of another database has paid nobody.
  await tx.query(
    `UPDATE wallet.found_transaction SET state = 'foreign'
     WHERE chain_id = $1 AND signer = $2 AND state = 'open' AND units = 0 AND lower(recipient) = signer`,
    [chainId, address],
  );
  await tx.query(
    `UPDATE wallet.signer SET is_restoring = true, explain_to = $3,
       stopped_reason = coalesce(stopped_reason, 'An operator restores the wallet.')
     WHERE chain_id = $1 AND address = $2 AND NOT is_restoring`,
    [chainId, address, to],
  );
  await tx.query(
    `INSERT INTO wallet.alarm (chain_id, kind, subject, detail)
     VALUES ($1, 'signer_stopped', $2, 'An operator restores the wallet. See npm run wallet -- restore.')
     ON CONFLICT (chain_id, kind, subject) WHERE cleared_at IS NULL DO NOTHING`,
    [chainId, address],
  );
}
