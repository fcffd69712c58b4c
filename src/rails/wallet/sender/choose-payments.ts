/**
 * Which hot wallet pays which transfer: the nodes estimate each one from the hot wallet that has the
 * fewest transactions in flight. What may be about that hot wallet alone is tried with the next one.
 */
import type { Alarms } from '../alarms';
import type { Chain } from '../chain/chain';
import type { Database } from '../db/database';
import type { PayoutRules } from '../networks';
import { type Estimate, estimateEach } from './estimate';
import type { Fees } from './fees';
import { markFeesBelow, markGas } from './fingerprint';
import { type HotWallet, release, spread } from './hot-wallets';
import type { Payment } from './slots';
import { transactionOf, type Unpaid, withGasMargin } from './transaction';
import { finishTransfer } from './transfers';
import { keepWaiting, type Waiting } from './waiting';

interface PaymentParts {
  db: Database;
  chain: Chain;
  rules: PayoutRules;
  alarms: Alarms;
}

export interface Queued extends Unpaid {
  transferId: string;
  reference: string;
}

export type Paid = Queued & Payment & Fees;

/** One round of the queue. */
interface Round {
  wallets: readonly HotWallet[];
  /** The payments that each hot wallet sends. */
  payments: Map<HotWallet, Paid[]>;
  /** Transfer → who was asked, and what the nodes said last. */
  refusals: Map<string, { by: Set<HotWallet>; last: Waiting }>;
  /** How many transfers failed, or wait for what a node refused. */
  ended: number;
}

/** What may be about one hot wallet is tried with the next one, and waits when no other can send it. */
export async function choosePayments(
  parts: PaymentParts,
  wallets: readonly HotWallet[],
  queued: readonly Queued[],
): Promise<Round> {
  const { db, chain } = parts;
  const round: Round = { wallets, payments: new Map(), refusals: new Map(), ended: 0 };
  for (let rest = queued; rest.length > 0;) {
    const { chosen, obstructed } = spread(chain, wallets, rest, (one, wallet) =>
      mayTry(round, one, wallet),
    );
    for (const { transfer, obstacle } of obstructed) {
      const { transferId } = transfer;
      const refused = round.refusals.get(transferId)?.last;
      const isRetried = refused !== undefined;
      const { pollMs } = chain.network;
      await keepWaiting(db, refused ?? { transferId, ...obstacle }, { isRetried, pollMs });
    }
    const again: Queued[] = [];
    for (const [wallet, own] of chosen) again.push(...(await tryWith(parts, round, wallet, own)));
    rest = again;
  }
  return round;
}

function subjectOf({ asset }: Queued, { key }: HotWallet): string {
  return `${asset} of ${key.signer}`;
}

function mayTry({ refusals }: Round, { transferId }: Queued, wallet: HotWallet): boolean {
  return refusals.get(transferId)?.by.has(wallet) !== true;
}

/** What its recipient refuses fails. @returns what another hot wallet may send */
async function tryWith(
  parts: PaymentParts,
  round: Round,
  wallet: HotWallet,
  transfers: readonly Queued[],
): Promise<Queued[]> {
  const { db, chain, rules, alarms } = parts;
  const { pollMs } = chain.network;
  const asked = { chain, signer: wallet.key.signer, gasMax: rules.gasMax };
  const again: Queued[] = [];
  for (const [index, found] of (await estimateEach(asked, transfers)).entries()) {
    const transfer = transfers[index];
    if (transfer === undefined) continue;
    if (found.kind === 'gas') {
      const paid = payWith(parts, wallet, transfer, found.gas);
      round.payments.set(wallet, [...(round.payments.get(wallet) ?? []), paid]);
      await alarms.clear('asset_refused', subjectOf(transfer, wallet));
      continue;
    }
    release(chain, wallet, transfer);
    if (found.kind === 'waits') {
      const last = refuse(round, wallet, transfer, found);
      const hasOthers = round.wallets.some((one) => mayTry(round, transfer, one));
      // The token may have frozen this hot wallet alone.
      if (hasOthers && found.for === 'asset') {
        again.push(transfer);
        // When another one sends it, no payout tells that this one is refused.
        await alarms.raise('asset_refused', subjectOf(transfer, wallet), found.detail);
        continue;
      }
      await keepWaiting(db, last, { isRetried: true, pollMs });
    } else await failUnsent(db, transfer.transferId);
    round.ended += 1;
  }
  return again;
}

type Refusal = Estimate & { kind: 'waits' };

function refuse(
  { refusals }: Round,
  wallet: HotWallet,
  { transferId }: Queued,
  { for: reason, detail }: Refusal,
): Waiting {
  const by = refusals.get(transferId)?.by ?? new Set<HotWallet>();
  const last = { transferId, reason, detail };
  refusals.set(transferId, { by: by.add(wallet), last });
  return last;
}

function payWith(
  { chain, rules }: PaymentParts,
  { fees }: HotWallet,
  transfer: Queued,
  gas: bigint,
): Paid {
  const { reference } = transfer;
  const { data, valueWei } = transactionOf(chain, transfer);
  return {
    ...transfer,
    ...markFeesBelow(fees, reference, rules.maxFeePerGasWei),
    data,
    valueWei,
    gas: markGas(withGasMargin(gas), reference),
  };
}

/** Nothing of it was or will be sent. */
export async function failUnsent(db: Database, transferId: string): Promise<void> {
  await db.transaction((tx) =>
    finishTransfer(tx, {
      transferId,
      status: 'failed',
      failureCode: 'destination_unreachable',
      txHash: null,
    }),
  );
}
