/**
 * Lets a stopped signer go on, after an operator found out why its nonces were used without the
 * wallet. A transfer gets another nonce only when every node says that its old one is final and holds
 * none of its transactions, because then none of them can ever be mined.
 */
import type { Address } from 'viem';
import { SetupError } from '../../lib/setup-error';
import { endAlarm } from '../alarms';
import { type Chain, findReceipt } from '../chain/chain';
import type { Database, Tx } from '../db/database';
import { recordDecision } from '../decisions';
import { adoptReplacement, describeFound, describeOpenFound } from './explain';
import { adopt, findCandidates, type FoundTransaction, listOpenFound, storeFound } from './found';
import { findTransactions } from './lookup';
import { type Attempt, findAttempts } from './attempts';
import { advanceNonce, findOpenSlots, lockSigner, type SignerKey, type Slot } from './slots';
import { isUsedByOthers } from './used-by-others';
import { type ChainView, readView } from './view';

export interface Resumed {
  /** Transfers that get another nonce. */
  requeued: number;
  nextNonce: bigint;
}

export interface ResumeDecisions {
  /** Who decides it: stays in wallet.decision. */
  by: string;
  /** Found transactions that have paid a queued transfer: it is not sent again. */
  paid?: readonly { hash: string; reference: string }[];
  /** Found transactions that have paid none of the transfers; `all`: the others, whichever they are. */
  foreign?: readonly string[] | 'all';
  /** No node shows the transactions of some nonces, and the operator knows that they paid none. */
  skipUnknownNonces?: boolean;
}

async function hasReceipt({ rpc }: Chain, attempts: readonly Attempt[]): Promise<boolean> {
  for (const { hash } of attempts) {
    if ((await findReceipt(rpc, hash)) !== null) return true;
  }
  return false;
}

/** @throws SetupError when a nonce is not final yet, a node does not answer, or a decision is missing */
export async function resumeSigner(
  db: Database,
  chain: Chain,
  address: Address,
  decisions: ResumeDecisions,
): Promise<Resumed> {
  const key: SignerKey = { chainId: chain.network.chainId, signer: address.toLowerCase() };
  const view = await readView(chain, address);
  const foreign = await listForeignSlots(db, chain, key, view);
  const nonces = foreign.map(({ nonce }) => nonce);
  const users = await findTransactions(chain, address, nonces);
  return db.transaction(async (tx) => {
    await lockSigner(tx, key);
    await storeFound(tx, chain, key, users);
    await decideFound(tx, chain, key, decisions);
    await requireDecided(tx, chain, key, view, decisions);
    await requireShown(tx, chain, key, foreign, decisions);
    await tx.query(
      `UPDATE wallet.slot SET state = 'foreign'
       WHERE chain_id = $1 AND signer = $2 AND nonce = ANY($3::bigint[]) AND state = 'open'
         AND transfer_id = ANY($4::text[])`,
      [
        key.chainId,
        key.signer,
        nonces.map((nonce) => nonce.toString()),
        foreign.map(({ transferId }) => transferId),
      ],
    );
    await tx.query(
      `UPDATE wallet.transfer SET status = 'queued'
       WHERE id = ANY($1::text[]) AND status = 'sending'`,
      [foreign.map(({ transferId }) => transferId)],
    );
    await advanceNonce(tx, key, view.usedNonces);
    await tx.query(
      `UPDATE wallet.signer
       SET stopped_reason = NULL, stopped_for = NULL, has_unseen_nonces = false
       WHERE chain_id = $1 AND address = $2`,
      [key.chainId, key.signer],
    );
    await endAlarm(tx, key.chainId, 'signer_stopped', key.signer);
    await recordDecision(tx, {
      chainId: key.chainId,
      kind: 'resume_signer',
      address: key.signer,
      by: decisions.by,
      reason: describeDecisions(decisions),
    });
    const after = await lockSigner(tx, key);
    return { requeued: foreign.length, nextNonce: after.nextNonce };
  });
}

/** Open slots whose nonce every node calls final without one of the slot's transactions. */
async function listForeignSlots(
  db: Database,
  chain: Chain,
  key: SignerKey,
  view: ChainView,
): Promise<Slot[]> {
  const foreign: Slot[] = [];
  for (const slot of await findOpenSlots(db, key, { upTo: view.usedNonces })) {
    const own = await findAttempts(db, key, { from: slot.nonce, upTo: slot.nonce + 1n });
    if (await isUsedByOthers(chain, key.signer, slot.nonce, own)) {
      // A replacement that the database lost pays the slot's own transfer.
      if (!(await adoptReplacement({ db, chain, key }, slot))) foreign.push(slot);
    } else if (!(await hasReceipt(chain, own))) {
      throw new SetupError(
        `Not every node of ${chain.network.name} confirms that nonce ${slot.nonce.toString()} is final. Make all nodes reachable, wait for the next final block, and run the command again.`,
      );
    }
  }
  return foreign;
}

/** @throws SetupError for a hash that is not open, and for a transfer that it does not pay */
async function decideFound(
  tx: Tx,
  chain: Chain,
  key: SignerKey,
  { paid = [], foreign = [] }: ResumeDecisions,
): Promise<void> {
  const open = await listOpenFound(tx, key);
  const find = (hash: string): FoundTransaction => {
    const found = open.find((one) => one.hash === hash.toLowerCase());
    if (found !== undefined) return found;
    throw new SetupError(`${hash} is not among the unknown transactions. See \`wallet status\`.`);
  };
  for (const { hash, reference } of paid) {
    const found = find(hash);
    const candidates = await findCandidates(tx, key, found);
    const transfer = candidates.find((one) => one.reference === reference);
    if (transfer === undefined || !(await adopt(tx, chain, key, found, transfer.transferId))) {
      throw new SetupError(
        `${hash} does not pay ${reference}: asset, amount and recipient must be the same, and the transfer must be queued.`,
      );
    }
  }
  const chosen =
    foreign === 'all' ? (await listOpenFound(tx, key)).map(({ hash }) => hash) : foreign;
  for (const hash of chosen) {
    await tx.query(
      `UPDATE wallet.found_transaction SET state = 'foreign'
       WHERE chain_id = $1 AND signer = $2 AND hash = $3`,
      [key.chainId, key.signer, find(hash).hash],
    );
  }
}

/** @throws SetupError with everything that still needs a decision */
async function requireDecided(
  tx: Tx,
  chain: Chain,
  key: SignerKey,
  view: ChainView,
  { skipUnknownNonces = false }: ResumeDecisions,
): Promise<void> {
  const open = await describeFound({ db: tx, chain, key });
  if (open.length > 0) {
    throw new SetupError(
      `These transactions of ${key.signer} are not explained:\n${open.map(describeOpenFound).join('\n')}\nFor each, add --paid <HASH>=<REFERENCE> when it has paid that payout, or --foreign <HASH> when it has paid none. A payout that was paid by one of them would be paid again.`,
    );
  }
  const [row] = await tx.query<{ next: string; known: string }>(
    `SELECT next_nonce AS next,
       (SELECT count(*) FROM wallet.found_transaction found
        WHERE found.chain_id = signer.chain_id AND found.signer = signer.address
          AND nonce >= next_nonce AND nonce < $3) AS known
     FROM wallet.signer WHERE chain_id = $1 AND address = $2`,
    [key.chainId, key.signer, view.usedNonces.toString()],
  );
  const next = BigInt(row?.next ?? 0);
  const hidden = view.usedNonces - next - BigInt(row?.known ?? 0);
  if (hidden <= 0n || skipUnknownNonces) return;
  throw new SetupError(
    `The chain has transactions of ${key.signer} with the nonces ${next.toString()} to ${(view.usedNonces - 1n).toString()}, and no node shows ${hidden.toString()} of them. Compare them with the queued transfers; a transfer that was paid by one of them would be paid again. Then run the command with --skip-unknown-nonces.`,
  );
}

/**
 * A transaction that no node shows may be one of the payout itself, which an older database does not know.
 * @throws SetupError when an operator has not said that it is not
 */
async function requireShown(
  tx: Tx,
  chain: Chain,
  key: SignerKey,
  foreign: readonly Slot[],
  { skipUnknownNonces = false }: ResumeDecisions,
): Promise<void> {
  const [hidden] = await tx.query<{ nonces: string; references: string }>(
    `SELECT string_agg(nonce::text, ', ' ORDER BY nonce) AS nonces,
       string_agg(client_reference, ', ' ORDER BY nonce) AS references
     FROM wallet.slot JOIN wallet.transfer ON transfer.id = transfer_id
     WHERE slot.chain_id = $1 AND signer = $2 AND nonce = ANY($3::bigint[]) AND state = 'open'
       AND NOT EXISTS (SELECT 1 FROM wallet.found_transaction AS found
         WHERE found.chain_id = slot.chain_id AND found.signer = slot.signer
           AND found.nonce = slot.nonce)
     HAVING count(*) > 0`,
    [key.chainId, key.signer, foreign.map(({ nonce }) => nonce.toString())],
  );
  if (hidden === undefined || skipUnknownNonces) return;
  throw new SetupError(
    `No node of ${chain.network.name} shows the transactions of ${key.signer} that used these nonces: ${hidden.nonces}. They may have paid the payouts that had the nonces: ${hidden.references}. Add a node to rpc_urls that shows them, and run the command again. If you have seen elsewhere that they have not paid these payouts, add --skip-unknown-nonces: the payouts are then sent again.`,
  );
}

function describeDecisions(decisions: ResumeDecisions): string | null {
  const { foreign = [] } = decisions;
  const parts = [
    ...(decisions.paid ?? []).map(({ hash, reference }) => `${hash} has paid ${reference}`),
    ...(foreign === 'all'
      ? ['no other unknown transaction has paid a payout']
      : foreign.map((hash) => `${hash} has paid no payout`)),
    ...(decisions.skipUnknownNonces === true ? ['with --skip-unknown-nonces'] : []),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}
