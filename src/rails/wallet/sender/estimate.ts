/**
 * Asks the nodes what a transfer costs, and decides what a refusal is about. Nodes have no common words
 * for it, so a comparison decides: one that fails for good must be about its recipient. The same transfer
 * to an address without code succeeds from the same hot wallet, at the same node, and a second node says
 * the same. Otherwise it may be about the token, the hot wallet or the node, and waits.
 */
import { randomBytes } from 'node:crypto';
import type { Address, Hex } from 'viem';
import { type Chain, nodesRequired, toHex } from '../chain/chain';
import { ignoreSilence, type Rpc, type RpcAnswer, type RpcCall } from '../chain/rpc';
import { type Unpaid, transactionOf } from './transaction';

export type Estimate =
  | { kind: 'gas'; gas: bigint }
  /** The recipient refuses it, or takes more gas than gas_max. */
  | { kind: 'refused' }
  | { kind: 'waits'; for: 'asset' | 'estimate' | 'second node'; detail: string };

interface EstimateParts {
  chain: Chain;
  signer: string;
  /** The limit keeps a recipient's contract from burning more of a node's time. */
  gasMax: bigint;
}

/** Answers in the order of the transfers. One that a node refuses changes nothing for the others. */
export async function estimateEach(
  parts: EstimateParts,
  transfers: readonly Unpaid[],
): Promise<Estimate[]> {
  const calls = transfers.map((one) => estimateCall(parts, one));
  const answers = await parts.chain.rpc.batches<Hex>(calls);
  const unclear = transfers.filter((_, index) => gasOf(parts, answers[index]) === null);
  const judged = unclear.length === 0 ? [] : await judge(parts, unclear);
  return transfers.map((one, index) => {
    const gas = gasOf(parts, answers[index]);
    if (gas !== null) return { kind: 'gas', gas };
    return judged[unclear.indexOf(one)] ?? { kind: 'waits', for: 'estimate', detail: '' };
  });
}

function estimateCall({ chain, signer, gasMax }: EstimateParts, transfer: Unpaid): RpcCall {
  const { to, data, valueWei } = transactionOf(chain, transfer);
  const call = { from: signer, to, data, value: toHex(valueWei), gas: toHex(gasMax) };
  // Without a tag, some nodes execute their whole pool first.
  return { method: 'eth_estimateGas', params: [call, 'latest'] };
}

/** No transaction takes less. */
const GAS_MIN = 21_000n;

/** Null for a refusal, and for an answer that is out of bounds. */
function gasOf({ gasMax }: EstimateParts, answer: RpcAnswer<Hex> | undefined): bigint | null {
  if (answer === undefined || 'refusal' in answer) return null;
  const gas = BigInt(answer.result);
  return gas < GAS_MIN || gas > gasMax ? null : gas;
}

type Opinion = { gas: bigint } | { about: 'recipient' | 'asset' | 'node'; detail: string };

/** A node that does not answer has no opinion. */
async function judge(parts: EstimateParts, transfers: readonly Unpaid[]): Promise<Estimate[]> {
  const opinions: Opinion[][] = transfers.map(() => []);
  for (const { rpc } of parts.chain.nodes) {
    const said = (await askNode(parts, rpc, transfers).catch(ignoreSilence)) ?? [];
    for (const [index, opinion] of said.entries()) opinions[index]?.push(opinion);
  }
  return opinions.map((one) => conclude(one, nodesRequired(parts.chain)));
}

/** The node is asked about each transfer, about its control, and whether it can estimate anything. */
async function askNode(
  parts: EstimateParts,
  node: Rpc,
  transfers: readonly Unpaid[],
): Promise<Opinion[]> {
  const controls = transfers.map((one) => ({ ...one, recipient: unusedAddress() }));
  const { asset } = parts.chain.network.native;
  const nothing = { asset, units: 0n, recipient: unusedAddress() };
  const calls = [...transfers, ...controls, nothing].map((one) => estimateCall(parts, one));
  const answers = await node.batches<Hex>(calls);
  const canEstimate = gasOf(parts, answers.pop()) !== null;
  return transfers.map((_, index): Opinion => {
    const answer = answers[index];
    const control = answers[transfers.length + index];
    const gas = gasOf(parts, answer);
    if (gas !== null) return { gas };
    if (gasOf(parts, control) !== null) return { about: 'recipient', detail: wordsOf(answer) };
    return { about: canEstimate ? 'asset' : 'node', detail: wordsOf(control) };
  });
}

/** Nobody has its key, and it has no code that could refuse anything. */
function unusedAddress(): Address {
  return `0x${randomBytes(20).toString('hex')}`;
}

function wordsOf(answer: RpcAnswer<Hex> | undefined): string {
  if (answer === undefined) return 'no answer';
  return 'refusal' in answer ? answer.refusal.detail : `${BigInt(answer.result)} gas`;
}

function conclude(opinions: readonly Opinion[], required: number): Estimate {
  const said = { recipient: [] as string[], asset: [] as string[], node: [] as string[] };
  for (const one of opinions) {
    if ('gas' in one) return { kind: 'gas', gas: one.gas };
    said[one.about].push(one.detail);
  }
  const [asset] = said.asset;
  if (asset !== undefined) {
    const detail = `The token or the hot wallet refuses payouts to anybody: ${asset}`;
    return { kind: 'waits', for: 'asset', detail };
  }
  if (said.recipient.length >= required) return { kind: 'refused' };
  const [recipient] = said.recipient;
  if (recipient !== undefined) {
    const detail = `A node says that the recipient refuses the payout, and no second node confirms it: ${recipient}`;
    return { kind: 'waits', for: 'second node', detail };
  }
  const words = said.node[0] ?? 'no node answers';
  return { kind: 'waits', for: 'estimate', detail: `The nodes cannot estimate a payout: ${words}` };
}
