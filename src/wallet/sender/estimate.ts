/**
 * Asks the nodes what a transfer costs, and decides what a refusal is about. One that fails for good
 * must be about its recipient: the same call to an address without code succeeds from the same hot
 * wallet, at the same node, and a second node says the same. Otherwise it may be about the token, the
 * hot wallet or the node, and waits.
 */
import { randomBytes } from 'node:crypto';
import type { Address, Hex } from 'viem';
import { type Chain, toHex } from '../chain/chain';
import { ChainUnavailable, type Rpc, type RpcAnswer, type RpcCall } from '../chain/rpc';
import { causeOf } from './refusals';
import { type Unpaid, transactionOf } from './transaction';

export type Estimate =
  | { kind: 'gas'; gas: bigint }
  /** The recipient refuses it, or takes more gas than gas_max. */
  | { kind: 'refused' }
  | { kind: 'waits'; for: 'network fees' | 'asset' | 'estimate' | 'second node'; detail: string };

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
  const refused = transfers.filter((_, index) => gasOf(answers[index]) === null);
  const judged = refused.length === 0 ? [] : await judge(parts, refused);
  return transfers.map((one, index) => {
    const gas = gasOf(answers[index]);
    if (gas !== null) return boundedBy(parts.gasMax, gas);
    return judged[refused.indexOf(one)] ?? { kind: 'waits', for: 'estimate', detail: '' };
  });
}

function boundedBy(gasMax: bigint, gas: bigint): Estimate {
  return gas > gasMax ? { kind: 'refused' } : { kind: 'gas', gas };
}

function estimateCall({ chain, signer, gasMax }: EstimateParts, transfer: Unpaid): RpcCall {
  const { to, data, valueWei } = transactionOf(chain, transfer);
  const call = { from: signer, to, data, value: toHex(valueWei), gas: toHex(gasMax) };
  // Without a tag, some nodes execute their whole pool first.
  return { method: 'eth_estimateGas', params: [call, 'latest'] };
}

function gasOf(answer: RpcAnswer<Hex> | undefined): bigint | null {
  return answer !== undefined && 'result' in answer ? BigInt(answer.result) : null;
}

/** Each node is asked about each transfer and about its control. */
async function judge(parts: EstimateParts, transfers: readonly Unpaid[]): Promise<Estimate[]> {
  const nodes = parts.chain.rpc.each();
  const opinions: Opinion[][] = transfers.map(() => []);
  for (const node of nodes) {
    for (const [index, opinion] of (await askNode(parts, node, transfers)).entries()) {
      opinions[index]?.push(opinion);
    }
  }
  return opinions.map((one) => conclude(one, nodes.length, parts.chain.network.native.asset));
}

type Opinion =
  | { about: 'nothing'; gas: bigint }
  | { about: 'recipient' | 'asset' | 'coins' | 'node'; detail: string };

async function askNode(
  parts: EstimateParts,
  node: Rpc,
  transfers: readonly Unpaid[],
): Promise<Opinion[]> {
  const controls = transfers.map((one) => ({ ...one, recipient: unusedAddress() }));
  const calls = [...transfers, ...controls].map((one) => estimateCall(parts, one));
  try {
    const answers = await node.batches<Hex>(calls);
    return transfers.map((_, index) =>
      readOpinion(answers[index], answers[transfers.length + index]),
    );
  } catch (error) {
    if (error instanceof ChainUnavailable) return [];
    throw error;
  }
}

/** Nobody has its key, and it has no code that could refuse anything. */
function unusedAddress(): Address {
  return `0x${randomBytes(20).toString('hex')}`;
}

function readOpinion(
  answer: RpcAnswer<Hex> | undefined,
  control: RpcAnswer<Hex> | undefined,
): Opinion {
  if (answer === undefined || control === undefined) return { about: 'node', detail: 'no answer' };
  if ('result' in answer) return { about: 'nothing', gas: BigInt(answer.result) };
  const { detail } = answer.refusal;
  const cause = causeOf(answer.refusal);
  if (cause === 'hot_wallet_short') return { about: 'coins', detail };
  if (cause !== 'refused' && cause !== 'out_of_gas') return { about: 'node', detail };
  if ('result' in control) return { about: 'recipient', detail };
  const controlCause = causeOf(control.refusal);
  if (controlCause === 'hot_wallet_short') return { about: 'coins', detail };
  const isOfAsset = controlCause === 'refused' || controlCause === 'out_of_gas';
  return { about: isOfAsset ? 'asset' : 'node', detail: control.refusal.detail };
}

function conclude(opinions: readonly Opinion[], nodes: number, coin: string): Estimate {
  const find = (about: Opinion['about']): Opinion | undefined =>
    opinions.find((one) => one.about === about);
  for (const opinion of opinions) {
    if (opinion.about === 'nothing') return { kind: 'gas', gas: opinion.gas };
  }
  const wordsOf = (one: Opinion): string => ('detail' in one ? one.detail : '');
  const asset = find('asset');
  if (asset !== undefined) {
    const detail = `The token or the hot wallet refuses payouts to anybody: ${wordsOf(asset)}`;
    return { kind: 'waits', for: 'asset', detail };
  }
  if (find('coins') !== undefined) {
    const detail = `The hot wallet has too little ${coin} for network fees. Send ${coin} to it.`;
    return { kind: 'waits', for: 'network fees', detail };
  }
  const ofRecipient = opinions.filter(({ about }) => about === 'recipient');
  if (ofRecipient.length >= Math.min(2, nodes)) return { kind: 'refused' };
  const [first] = ofRecipient;
  if (first !== undefined) {
    const detail = `A node says that the recipient refuses the payout, and no second node confirms it: ${wordsOf(first)}`;
    return { kind: 'waits', for: 'second node', detail };
  }
  const trouble = find('node');
  const words = trouble === undefined ? 'no node answers' : wordsOf(trouble);
  return { kind: 'waits', for: 'estimate', detail: `The nodes cannot estimate a payout: ${words}` };
}
