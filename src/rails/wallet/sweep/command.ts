/** `wallet sweep` and `wallet sweep-sign`: the money of the deposit addresses to one address. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, formatEther, type Hex } from 'viem';
import { sweepWorkflowId } from '../../../../workflows/wallet/names';
import { parseRequestAmount } from '../../../domain/money';
import { UsageError } from '../../../platform/lib/command-line';
import { SetupError } from '../../../platform/lib/setup-error';
import { type Chain, createChain } from '../chain/chain';
import type { Database } from '../db/database';
import type { Network } from '../networks';
import { type DepositKey, openDepositKey } from '../signer/deposit-key';
import type { KeystoreFiles } from '../signer/keystore';
import { importBatch, signBatch, writeBatch } from './batch';
import { planSweep, type SweepOrder, type SweepPlan } from './plan';
import { findSweep, storeSweep } from './store';

export type Report = (line: string) => void;

export interface SweepOptions {
  network: Network;
  asset: string;
  to: Address;
  /** It comes as text and is checked here. */
  minimum: string | undefined;
  way:
    | { do: 'plan' }
    | { do: 'run'; key: KeystoreFiles }
    | { do: 'export'; file: string }
    | { do: 'import'; file: string };
}

/** Prints what it would cost before it does anything. */
export async function runSweep(
  db: Database,
  { network, asset, to, minimum, way }: SweepOptions,
  report: Report,
): Promise<void> {
  const order = { chain: createChain(network), asset, to, minimum: readMinimum(minimum) };
  const key = way.do === 'run' ? openDepositKey(way.key) : null;
  const imported = way.do === 'import' ? await importBatch(db, order, way.file) : null;
  const plan = imported?.plan ?? (await planSweep(db, order));
  reportPlan(order, plan, report);
  if (way.do === 'plan' || plan.items.length === 0) return;
  if (way.do === 'export') {
    writeBatch(way.file, order, plan.items);
    report(`Wrote ${plan.items.length} transactions to ${way.file}. Sign them with sweep-sign.`);
    return;
  }
  const signed = imported?.signed ?? (key === null ? [] : await signPlan(plan, key));
  await followSweep(db, await storeSweep(db, order, plan, signed), plan.items.length, to, report);
}

async function signPlan({ items }: SweepPlan, key: DepositKey): Promise<Hex[]> {
  const signed: Hex[] = [];
  for (const { address, addressIndex, transaction } of items) {
    const signer = key.signerOf(addressIndex);
    if (signer.address !== address) {
      throw new UsageError(`The key does not own ${address} (index ${addressIndex}).`);
    }
    signed.push(await signer.sign(transaction));
  }
  return signed;
}

const POLL_MS = 500;

/** The wallet carries the sweep out; this only watches, and may be interrupted. */
async function followSweep(
  db: Database,
  id: string,
  addresses: number,
  to: Address,
  report: Report,
): Promise<void> {
  report(`The wallet carries out ${id}; its workflow is ${sweepWorkflowId(id)}.`);
  report('This command waits for the end. Interrupting it does not stop the sweep.');
  for (;;) {
    const sweep = await findSweep(db, id);
    if (sweep?.failure != null) throw new SetupError(`${sweep.failure} Run the sweep again.`);
    if (sweep?.isOver === true) {
      const moved = sweep.transactions.filter(({ isMoved }) => isMoved === true).length;
      report(`${moved} of ${addresses} addresses are swept to ${to}, in final blocks.`);
      return;
    }
    await sleep(POLL_MS);
  }
}

export async function runSweepSign(
  { batch, out, key }: { batch: string; out: string; key: KeystoreFiles },
  report: Report,
): Promise<void> {
  const lines = await signBatch(batch, out, openDepositKey(key));
  for (const line of lines) report(`Signed ${line}`);
}

function reportPlan({ chain, asset, to }: SweepOrder, plan: SweepPlan, report: Report): void {
  const { native } = chain.network;
  const { items, small, busy, costWei, fundingWei } = plan;
  for (const { address, amount } of items) report(`${address}  ${amount} ${asset}`);
  report(`${items.length} addresses to ${to} on ${describeChain(chain)}.`);
  if (small > 0) report(`${small} addresses have too little and are left out.`);
  if (busy > 0) report(`${busy} addresses have a transaction that is not final yet.`);
  report(
    `Network fees of at most ${formatEther(costWei)} ${native.asset}, of which the hot wallet ` +
      `sends ${formatEther(fundingWei)} to the addresses first, at a network fee for each.`,
  );
}

function describeChain({ network }: Chain): string {
  return `${network.name} (${network.mode} mode, chain ${network.chainId})`;
}

function readMinimum(text: string | undefined): SweepOrder['minimum'] {
  if (text === undefined) return null;
  const minimum = parseRequestAmount(text);
  if (minimum === null) throw new UsageError('--minimum must be a positive amount, such as 10.');
  return minimum;
}
