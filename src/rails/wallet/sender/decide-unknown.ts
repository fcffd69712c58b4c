/** A person decides what a restore could not explain: what has paid a queued payout, and what has paid none. */
import type { Address } from 'viem';
import { SetupError } from '../../../platform/lib/setup-error';
import type { Chain } from '../chain/chain';
import type { Database, Tx } from '../db/database';
import { recordDecision } from '../decisions';
import { isFinalEverywhere, listUnseen, releaseSlot } from './explain';
import { adopt, findCandidates, type FoundTransaction, listOpenFound } from './found';
import { lockAllSigners, readSigner, type SignerKey } from './slots';

export interface RestoreDecisions {
  by: string;
  reason: string;
  /** Unknown transactions that have paid a queued payout: it is not sent again. */
  paid?: readonly { hash: string; reference: string }[];
  /** Those that have paid no payout; `all`: the others, whichever they are. */
  foreign?: readonly string[] | 'all';
  /** Used nonces that no node shows, and that have paid no payout. */
  unseen?: readonly bigint[];
}

/** @throws SetupError for what is not listed, and for a payout that the transaction does not pay */
export async function decideUnknown(
  db: Database,
  chain: Chain,
  address: Address,
  decisions: RestoreDecisions,
): Promise<void> {
  const key = { chainId: chain.network.chainId, signer: address.toLowerCase() };
  const { explainTo } = await readSigner(db, key);
  if (explainTo === null || !(await isFinalEverywhere(chain, address, explainTo))) {
    throw new SetupError(
      `Nothing of ${address} can be decided before every node calls its nonces final. See \`wallet restore\`.`,
    );
  }
  const { paid = [], foreign = [], unseen = [] } = decisions;
  await db.transaction(async (tx) => {
    await lockAllSigners(tx, key.chainId);
    for (const { hash, reference } of paid) await decidePaid(tx, chain, key, hash, reference);
    const open = await listOpenFound(tx, key);
    for (const hash of foreign === 'all' ? open.map((one) => one.hash) : foreign) {
      await tx.query(
        `UPDATE wallet.found_transaction SET state = 'foreign'
         WHERE chain_id = $1 AND signer = $2 AND hash = $3`,
        [key.chainId, key.signer, findOpen(open, hash).hash],
      );
    }
    for (const nonce of unseen) {
      await requireUnseen(tx, key, nonce);
      await releaseSlot(tx, key, nonce);
      await tx.query(
        `INSERT INTO wallet.slot (chain_id, signer, nonce, asset, units, recipient, data, value_wei, gas,
           max_fee_per_gas, max_priority_fee_per_gas, is_signed, state)
         VALUES ($1, $2, $3, '', 0, $2, '0x', 0, 0, 0, 0, true, 'foreign') ON CONFLICT DO NOTHING`,
        [key.chainId, key.signer, nonce],
      );
    }
    await record(tx, key, describeDecisions(decisions), decisions);
  });
}

export function record(
  tx: Tx,
  { chainId, signer }: SignerKey,
  what: string,
  { by, reason }: { by: string; reason: string },
): Promise<void> {
  const text = `${what}: ${reason}`;
  return recordDecision(tx, { chainId, kind: 'resume_signer', address: signer, by, reason: text });
}

async function requireUnseen(tx: Tx, key: SignerKey, nonce: bigint): Promise<void> {
  const unseen = await listUnseen(tx, key);
  if (unseen.some((one) => BigInt(one.nonce) === nonce)) return;
  throw new SetupError(`Nonce ${nonce} is not among the nonces that no node shows.`);
}

function findOpen(open: readonly FoundTransaction[], hash: string): FoundTransaction {
  const found = open.find((one) => one.hash === hash.toLowerCase());
  if (found !== undefined) return found;
  throw new SetupError(`${hash} is not among the unknown transactions. See \`wallet restore\`.`);
}

async function decidePaid(
  tx: Tx,
  chain: Chain,
  key: SignerKey,
  hash: string,
  reference: string,
): Promise<void> {
  const found = findOpen(await listOpenFound(tx, key), hash);
  const candidates = await findCandidates(tx, key, found);
  const transfer = candidates.find((one) => one.reference === reference);
  if (transfer !== undefined && (await adopt(tx, chain, key, found, transfer.transferId))) return;
  throw new SetupError(
    `${hash} does not pay ${reference}: asset, amount and recipient must be the same, and the transfer must be queued.`,
  );
}

function describeDecisions({ paid = [], foreign = [], unseen = [] }: RestoreDecisions): string {
  return [
    ...paid.map(({ hash, reference }) => `${hash} has paid ${reference}`),
    ...(foreign === 'all'
      ? ['no other unknown transaction has paid a payout']
      : foreign.map((hash) => `${hash} has paid no payout`)),
    ...unseen.map((nonce) => `nonce ${nonce} has paid no payout`),
  ].join('; ');
}
