/**
 * What a sweep would do: which deposit addresses hold final money of an asset, the transaction that
 * moves all of it, and what that costs. Nothing is stored: the chain says what is left to sweep, so a
 * sweep can be interrupted and repeated at any time.
 */
import {
  type Address,
  getAddress,
  type Hex,
  serializeTransaction,
  type TransactionSerializableEIP1559,
} from 'viem';
import { type Amount, isLess } from '../../../domain/money';
import { SetupError } from '../../../platform/lib/setup-error';
import { type BlockHead, type Chain, readFinalHead, readHead, readPrice } from '../chain/chain';
import { readUsedNonces } from '../chain/finality';
import { transferCall } from '../chain/erc20';
import { readL1Fee } from '../chain/l1-fee';
import { RpcRefusal } from '../chain/rpc';
import type { Db } from '../db/database';
import { readBalances } from '../follower/reader';
import { type Fees, firstFees } from '../sender/fees';
import { withGasMargin } from '../sender/transaction';
import { amountOf, NATIVE_DECIMALS, unitsOf } from '../units';

export interface SweepOrder {
  chain: Chain;
  asset: string;
  /** Where the money goes. */
  to: Address;
  /** Addresses with less are left out. */
  minimum: Amount | null;
}

export interface SweepItem {
  address: Address;
  addressIndex: number;
  amount: Amount;
  /** The same in the asset's smallest unit. */
  units: bigint;
  transaction: TransactionSerializableEIP1559;
  feeWei: bigint;
  /** Coins that the address lacks for the network fee; zero when it pays for itself. */
  lackingWei: bigint;
}

export interface SweepPlan {
  items: SweepItem[];
  /** Addresses that are left out: less than the minimum, or than what it costs. */
  small: number;
  /** Addresses with a transaction that is not final yet. */
  busy: number;
  /** What it costs at most, because the base fee may fall. */
  costWei: bigint;
  fundingWei: bigint;
}

export async function planSweep(db: Db, order: SweepOrder): Promise<SweepPlan> {
  const { chain, asset, minimum } = order;
  const { token, decimals } = findAsset(chain, asset);
  const final = await readFinalHead(chain);
  const head = await readHead(chain, 'latest');
  if (final === null || head === null) throw new SetupError('The chain has no final block yet.');
  const found = await findAddresses(db, chain, asset);
  const asked = found.map(({ address }) => ({ address, token }));
  const balances = await readFinalBalances(chain, asked, { final, head });
  const cap = chain.network.payouts?.maxFeePerGasWei ?? 2n ** 128n;
  const tip = await readPrice(chain, 'eth_maxPriorityFeePerGas', cap);
  if (tip === null) throw new SetupError('No node suggests a tip below max_fee_per_gas_gwei.');
  const market = { baseFeePerGas: head.baseFeePerGas, priorityFeePerGas: tip };
  const fees = firstFees(market, cap);
  const plan = emptyPlan();
  for (const [index, place] of found.entries()) {
    const units = balances[index] ?? 0n;
    if (units === 0n) continue;
    if (minimum !== null && isLess(amountOf(units, decimals), minimum)) {
      plan.small += 1;
      continue;
    }
    const nonces = await readUsedNonces(chain, place.address, final);
    if (nonces.final !== null && nonces.latest !== nonces.final) {
      plan.busy += 1;
      continue;
    }
    const nonce = Number(nonces.latest);
    const item = await planItem(order, { ...place, units, nonce, fees });
    if (item === null) plan.small += 1;
    else addItem(plan, item);
  }
  return plan;
}

export function emptyPlan(): SweepPlan {
  return { items: [], small: 0, busy: 0, costWei: 0n, fundingWei: 0n };
}

export function addItem(plan: SweepPlan, item: SweepItem): void {
  plan.items.push(item);
  plan.costWei += item.feeWei;
  plan.fundingWei += item.lackingWei;
}

export function findAsset(
  { network }: Chain,
  asset: string,
): { token: Address | null; decimals: number } {
  if (asset === network.native.asset) return { token: null, decimals: NATIVE_DECIMALS };
  const token = network.tokens.find((one) => one.asset === asset);
  if (token !== undefined) return { token: token.address, decimals: token.decimals };
  throw new SetupError(`The network ${network.name} has no asset ${asset}.`);
}

interface AddressRow {
  address: Address;
  addressIndex: number;
}

/** Lists the addresses with a final deposit of the asset, unless a deposit or the checkout is on hold. */
async function findAddresses(db: Db, { network }: Chain, asset: string): Promise<AddressRow[]> {
  const rows = await db.query<{ address: Address; index: string }>(
    `SELECT checkout.address, checkout.address_index AS index FROM wallet.checkout
     WHERE checkout.mode = $1 AND NOT checkout.is_held
       AND EXISTS (SELECT 1 FROM wallet.deposit WHERE deposit.checkout_id = checkout.id
             AND deposit.chain_id = $2 AND deposit.asset = $3 AND deposit.state = 'final')
       AND NOT EXISTS (SELECT 1 FROM wallet.deposit WHERE deposit.checkout_id = checkout.id
             AND (deposit.screening <> 'clear' OR deposit.state = 'detected'))
     ORDER BY checkout.address_index`,
    [network.mode, network.chainId, asset],
  );
  return rows.map(({ address, index }) => ({
    address: getAddress(address),
    addressIndex: Number(index),
  }));
}

/**
 * Nodes without the state of the final block answer about the newest one. What is not final there is
 * still at an address of the wallet: at worst, the sweep moves nothing and is ordered again.
 */
async function readFinalBalances(
  chain: Chain,
  asked: Parameters<typeof readBalances>[1],
  { final, head }: { final: BlockHead; head: BlockHead },
): Promise<bigint[]> {
  try {
    return await readBalances(chain, asked, Number(final.number));
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
    return readBalances(chain, asked, Number(head.number));
  }
}

interface ItemFacts extends AddressRow {
  units: bigint;
  nonce: number;
  fees: Fees;
}

/** Null when the money is worth less than its way, or the token refuses the transfer. */
async function planItem(order: SweepOrder, facts: ItemFacts): Promise<SweepItem | null> {
  const { chain, asset, to } = order;
  const { address, addressIndex, units, nonce, fees } = facts;
  const { token, decimals } = findAsset(chain, asset);
  const gas = await estimateGas(order, facts);
  if (gas === null) return null;
  const build = (value: bigint): TransactionSerializableEIP1559 =>
    buildTransaction(chain.network.chainId, { token, to, units: value, nonce, gas, fees });
  const feeWei = await readFee(chain, build(units));
  if (token === null && units <= feeWei) return null;
  if (isWorthLess(chain, asset, units, feeWei)) return null;
  const moved = token === null ? units - feeWei : units;
  return {
    ...{ address, addressIndex, amount: amountOf(moved, decimals), units: moved, feeWei },
    lackingWei: await readLacking(chain, address, feeWei),
    transaction: build(moved),
  };
}

/** The most that gas, and on chains of the OP stack data on the first layer, cost. */
export async function readFee(
  chain: Chain,
  transaction: TransactionSerializableEIP1559,
): Promise<bigint> {
  const { gas = 0n, maxFeePerGas = 0n } = transaction;
  return gas * maxFeePerGas + (await readL1Fee(chain, serializeTransaction(transaction)));
}

/** The coins that the address lacks for the network fee. */
export async function readLacking(chain: Chain, address: Address, feeWei: bigint): Promise<bigint> {
  const coins = BigInt(await chain.rpc.call<Hex>('eth_getBalance', [address, 'latest']));
  return coins >= feeWei ? 0n : feeWei - coins;
}

/** Without a price of the coin in the token, nobody knows. */
function isWorthLess({ network }: Chain, asset: string, units: bigint, feeWei: bigint): boolean {
  const price = network.payouts?.nativePrices[asset];
  const token = network.tokens.find((one) => one.asset === asset);
  if (price === undefined || token === undefined) return false;
  const unitsOfCoin = unitsOf(price, token.decimals) ?? 0n;
  return units < (feeWei * unitsOfCoin) / 10n ** BigInt(NATIVE_DECIMALS);
}

async function estimateGas(
  { chain, asset, to }: SweepOrder,
  { address, units }: ItemFacts,
): Promise<bigint | null> {
  const { token } = findAsset(chain, asset);
  const call =
    token === null
      ? { from: address, to, value: '0x1' }
      : { from: address, to: token, data: transferCall(to, units) };
  try {
    const gas = BigInt(await chain.rpc.call<Hex>('eth_estimateGas', [call]));
    return token === null ? gas : withGasMargin(gas);
  } catch (error) {
    if (error instanceof RpcRefusal) return null;
    throw error;
  }
}

export function buildTransaction(
  chainId: number,
  sweep: {
    token: Address | null;
    to: Address;
    units: bigint;
    nonce: number;
    gas: bigint;
    fees: Fees;
  },
): TransactionSerializableEIP1559 {
  const { token, to, units, nonce, gas, fees } = sweep;
  const content =
    token === null ? { to, value: units } : { to: token, value: 0n, data: transferCall(to, units) };
  return { type: 'eip1559', chainId, nonce, gas, ...fees, ...content };
}
