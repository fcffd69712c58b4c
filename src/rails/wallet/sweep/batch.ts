/**
 * A sweep as a file, for a key that never meets this machine: `--export` writes what is to be signed,
 * `sweep-sign` signs it on the other machine, `--import` checks and orders it. The file is not trusted, on
 * neither machine: what is signed is built from what sweep-sign prints, and the signed bytes must hold exactly
 * what the configuration and the order say.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { type Address, formatEther, getAddress, type Hex } from 'viem';
import { type Static, Type } from 'typebox';
import { CURRENCY_PATTERN } from '../../../domain/money';
import { checkJson } from '../../../platform/lib/check-json';
import { SetupError } from '../../../platform/lib/setup-error';
import type { Db } from '../db/database';
import type { DepositKey } from '../signer/deposit-key';
import { checkSigned } from '../signer/signed-transaction';
import { amountOf } from '../units';
import {
  addItem,
  buildTransaction,
  emptyPlan,
  findAsset,
  readFee,
  readLacking,
  type SweepItem,
  type SweepOrder,
  type SweepPlan,
} from './plan';

const CLOSED = { additionalProperties: false };
const AddressText = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });
const Index = Type.Integer({ minimum: 0 });
const Units = Type.String({ pattern: '^[0-9]{1,78}$' });
const Entry = Type.Object(
  {
    address: AddressText,
    address_index: Index,
    /** People read it; `units` counts in the asset's smallest unit. */
    amount: Type.String({ pattern: '^[0-9]+(\\.[0-9]+)?$' }),
    units: Units,
    nonce: Index,
    gas: Units,
    max_fee_per_gas: Units,
    max_priority_fee_per_gas: Units,
    raw: Type.Optional(Type.String({ pattern: '^0x[0-9a-f]+$' })),
  },
  CLOSED,
);
const Batch = Type.Object(
  {
    chain_id: Index,
    asset: Type.String({ pattern: CURRENCY_PATTERN }),
    /** Null for the coin. */
    token: Type.Union([AddressText, Type.Null()]),
    destination: AddressText,
    transactions: Type.Array(Entry),
  },
  CLOSED,
);
type Entry = Static<typeof Entry>;
type Batch = Static<typeof Batch>;

export function writeBatch(
  path: string,
  { chain, asset, to }: SweepOrder,
  items: readonly SweepItem[],
): void {
  save(path, {
    ...{ chain_id: chain.network.chainId, asset, token: findAsset(chain, asset).token },
    destination: to,
    transactions: items.map(({ address, addressIndex, amount, units, transaction }) => ({
      ...{ address, address_index: addressIndex, amount, units: units.toString() },
      nonce: transaction.nonce ?? 0,
      gas: String(transaction.gas),
      max_fee_per_gas: String(transaction.maxFeePerGas),
      max_priority_fee_per_gas: String(transaction.maxPriorityFeePerGas),
    })),
  });
}

/** Runs on the machine with the key, and needs neither a database nor a chain. */
export async function signBatch(path: string, out: string, key: DepositKey): Promise<string[]> {
  const batch = readBatch(path);
  const transactions: Entry[] = [];
  for (const entry of batch.transactions) {
    const signer = key.signerOf(entry.address_index);
    if (signer.address !== getAddress(entry.address)) {
      throw new SetupError(`The key does not own ${entry.address} (index ${entry.address_index}).`);
    }
    transactions.push({ ...entry, raw: await signer.sign(transactionOf(batch, entry)) });
  }
  save(out, { ...batch, transactions });
  return transactions.map((entry) => describeEntry(batch, entry));
}

function transactionOf({ chain_id: chainId, token, destination }: Batch, entry: Entry) {
  return buildTransaction(chainId, {
    token: token === null ? null : getAddress(token),
    to: getAddress(destination),
    units: BigInt(entry.units),
    nonce: entry.nonce,
    gas: BigInt(entry.gas),
    fees: {
      maxFeePerGas: BigInt(entry.max_fee_per_gas),
      maxPriorityFeePerGas: BigInt(entry.max_priority_fee_per_gas),
    },
  });
}

function describeEntry(batch: Batch, { address, amount, units, ...entry }: Entry): string {
  const { asset, token, destination, chain_id: chainId } = batch;
  const what =
    token === null
      ? `${formatEther(BigInt(units))} ${asset}`
      : `${amount} ${asset} (${units} units of the token ${token})`;
  const fee = formatEther(BigInt(entry.gas) * BigInt(entry.max_fee_per_gas));
  return `${what} from ${address} to ${destination} on chain ${chainId}, for a network fee of at most ${fee}`;
}

/** @throws SetupError for an entry that is not of this sweep, SigningError for other bytes */
export async function importBatch(
  db: Db,
  { chain, asset, to }: SweepOrder,
  path: string,
): Promise<{ plan: SweepPlan; signed: Hex[] }> {
  const batch = readBatch(path);
  const { token, decimals } = findAsset(chain, asset);
  const isSame =
    batch.chain_id === chain.network.chainId &&
    batch.asset === asset &&
    batch.token?.toLowerCase() === token?.toLowerCase() &&
    getAddress(batch.destination) === to;
  if (!isSame) throw new SetupError(`${path} is of another chain, asset or destination.`);
  const plan = emptyPlan();
  const signed: Hex[] = [];
  for (const entry of batch.transactions) {
    const address = getAddress(entry.address);
    await requireOwn(db, chain.network.mode, address, entry.address_index);
    const transaction = transactionOf(batch, entry);
    if (entry.raw === undefined) throw new SetupError(`${path}: ${address} has no signature.`);
    await checkSigned(entry.raw as Hex, transaction, address);
    signed.push(entry.raw as Hex);
    const feeWei = await readFee(chain, transaction);
    const units = BigInt(entry.units);
    addItem(plan, {
      ...{ address, addressIndex: entry.address_index, units, transaction, feeWei },
      amount: amountOf(units, decimals),
      lackingWei: await readLacking(chain, address, feeWei),
    });
  }
  return { plan, signed };
}

async function requireOwn(db: Db, mode: string, address: Address, index: number): Promise<void> {
  const found = await db.query(
    'SELECT 1 FROM wallet.checkout WHERE mode = $1 AND address = $2 AND address_index = $3',
    [mode, address.toLowerCase(), index],
  );
  if (found.length === 0)
    throw new SetupError(`${address} is not a deposit address of the wallet.`);
}

function save(path: string, batch: Batch): void {
  writeFileSync(path, `${JSON.stringify(batch, null, 2)}\n`, { mode: 0o600 });
}

function readBatch(path: string): Batch {
  const refuse = () => new SetupError(`${path} is not a batch of \`wallet sweep --export\`.`);
  try {
    return checkJson(Batch, JSON.parse(readFileSync(path, 'utf8')), refuse);
  } catch (error) {
    if (error instanceof SetupError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined ? refuse() : new SetupError(`${path} cannot be read (${code}).`);
  }
}
