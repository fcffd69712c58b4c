/**
 * What a sweep sends: coins for the network fees to the addresses that lack them, and then the transactions.
 * Funding is ordered from the wallet as a transfer, once for each address and nonce, so that the hot wallet's
 * nonces stay in one hand and no repetition funds twice.
 */
import { type Address, type Hex, keccak256 } from 'viem';
import type { Amount } from '../../../domain/money';
import { SetupError } from '../../../platform/lib/setup-error';
import { meaningOfRefusal } from '../chain/broadcast-refusals';
import { type Chain, findReceipt, readFinalHead } from '../chain/chain';
import { isInFinalBlock } from '../chain/finality';
import { RpcRefusal } from '../chain/rpc';
import type { Database } from '../db/database';
import type { Network } from '../networks';
import { isNonceFinal } from '../sender/nonce-finality';
import { findTransfer, submitTransfer } from '../sender/transfers';
import { amountOf, NATIVE_DECIMALS } from '../units';
import type { SweepItem, SweepOrder } from './plan';

/** A transfer has 8 decimals, so funding is rounded up to them. */
const AMOUNT_STEP_WEI = 10n ** 10n;
const FUNDING_ROUNDS_MAX = 20;

export interface Funding {
  reference: string;
  amount: Amount;
}

/** The funding that is under way for the address and its nonce, or the next one. */
export async function chooseFunding(
  db: Database,
  { chain }: Pick<SweepOrder, 'chain'>,
  { addressIndex, address, lackingWei, transaction }: SweepItem,
): Promise<Funding> {
  const { mode, chainId } = chain.network;
  for (let round = 1; round <= FUNDING_ROUNDS_MAX; round += 1) {
    const place = [chainId, addressIndex, transaction.nonce ?? 0, round];
    const reference = `sweep_${place.join('_')}`;
    const known = await findTransfer(db, mode, reference);
    if (known !== null && known.purpose !== 'funding') {
      throw new SetupError(`The reference ${reference} belongs to another transfer.`);
    }
    if (known?.status === 'queued' || known?.status === 'sending') {
      return { reference, amount: known.amount };
    }
    // It has ended, and the address still lacks coins: fees have risen.
    if (known !== null) continue;
    const wei = ((lackingWei + AMOUNT_STEP_WEI - 1n) / AMOUNT_STEP_WEI) * AMOUNT_STEP_WEI;
    return { reference, amount: amountOf(wei, NATIVE_DECIMALS) };
  }
  throw new SetupError(`The address ${address} was funded ${FUNDING_ROUNDS_MAX} times in vain.`);
}

/** Queues the transfer, once for each reference. @throws SetupError when the wallet refuses it */
export async function submitFunding(
  db: Database,
  network: Network,
  address: Address,
  { reference, amount }: Funding,
): Promise<void> {
  const { mode, name, native } = network;
  const submitted = await submitTransfer(
    db,
    { networks: [network], isRefused: () => Promise.resolve(false) },
    {
      mode,
      reference,
      purpose: 'funding',
      network: name,
      asset: native.asset,
      amount,
      destination: address,
      memo: null,
    },
  );
  if (submitted.kind === 'accepted') return;
  throw new SetupError(
    `The wallet does not send ${native.asset} on ${name}: set its limits in WALLET_NETWORKS_FILE.`,
  );
}

export interface SignedSweep {
  address: Address;
  nonce: number;
  raw: Hex;
}

/** The node has it, or has used the nonce: the receipts tell which. */
function isKnown(detail: string): boolean {
  return meaningOfRefusal(detail) === 'known' || /underpriced/i.test(detail);
}

/** May be repeated. @returns what a node says against it, or null */
export async function broadcastSweep({ rpc }: Chain, raw: Hex): Promise<string | null> {
  try {
    await rpc.call('eth_sendRawTransaction', [raw]);
    return null;
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
    return isKnown(error.detail) ? null : error.detail;
  }
}

export type SweepOutcome = 'moved' | 'failed' | 'replaced';

/** Null while the nonce is not in a final block. */
export async function findOutcome(
  chain: Chain,
  { address, nonce, raw }: SignedSweep,
): Promise<SweepOutcome | null> {
  const final = await readFinalHead(chain);
  const hash = keccak256(raw);
  const receipt = await findReceipt(chain.rpc, hash);
  if (receipt === null) {
    return (await isNonceFinal(chain, address, BigInt(nonce))) ? 'replaced' : null;
  }
  if (final === null || !(await isInFinalBlock(chain.rpc, receipt, final))) return null;
  return receipt.succeeded ? 'moved' : 'failed';
}
