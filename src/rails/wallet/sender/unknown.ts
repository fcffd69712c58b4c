/** Unknown transactions as an operator sees them, in `wallet status` and `wallet restore`. */
import type { Address } from 'viem';
import type { Chain } from '../chain/chain';
import type { Db } from '../db/database';
import { amountOf } from '../units';
import { type Candidate, findCandidates, listOpenFound } from './found';
import type { SignerKey } from './slots';
import { sendableDecimals } from './transfers';

export interface OpenFound {
  nonce: string;
  hash: string;
  /** Null when it is no transfer that the wallet would make. */
  pays: { asset: string; amount: string; recipient: Address } | null;
  /** References of queued transfers that it would pay. */
  candidates: { reference: string; has_mark: boolean }[];
}

export async function describeFound(db: Db, chain: Chain, key: SignerKey): Promise<OpenFound[]> {
  const described: OpenFound[] = [];
  for (const found of await listOpenFound(db, key)) {
    const { payment } = found;
    const decimals = payment === null ? null : sendableDecimals(chain.network, payment.asset);
    const candidates: Candidate[] = await findCandidates(db, key, found);
    described.push({
      nonce: found.nonce.toString(),
      hash: found.hash,
      pays:
        payment === null || decimals === null
          ? null
          : {
              asset: payment.asset,
              amount: amountOf(payment.units, decimals),
              recipient: payment.recipient,
            },
      candidates: candidates.map(({ reference, isMarked }) => ({ reference, has_mark: isMarked })),
    });
  }
  return described;
}

export function describeOpenFound({ nonce, hash, pays, candidates }: OpenFound): string {
  const what =
    pays === null
      ? 'it is no transfer of the wallet: somebody else has the key, or it is the fence of another database'
      : `it pays ${pays.amount} ${pays.asset} to ${pays.recipient}`;
  const fits = candidates.map(({ reference }) => reference).join(', ');
  return `nonce ${nonce}, ${hash}: ${what}; ${fits === '' ? 'no queued payout fits' : `fits ${fits}`}`;
}
