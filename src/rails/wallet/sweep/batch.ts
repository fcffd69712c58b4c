/**
 * A sweep as a file, for a key that never meets this machine: `--export` writes the transactions
 * without signatures, `sweep-sign` signs them on the other machine, `--import` checks and sends them.
 * The file is not trusted, on neither machine: what is signed is built again from what sweep-sign
 * prints, and what is sent from the configuration; the signed bytes must hold exactly that.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  type Address,
  formatEther,
  getAddress,
  type Hex,
  isAddress,
  type TransactionSerializableEIP1559,
} from 'viem';
import { CURRENCY_PATTERN } from '../../../domain/money';
import { SetupError } from '../../../platform/lib/setup-error';
import type { Db } from '../db/database';
import type { DepositKey } from '../signer/deposit-key';
import { checkSigned } from '../signer/signed-transaction';
import { buildTransaction, findAsset, type SweepItem, type SweepOrder } from './plan';
import type { SignedSweep } from './run';

interface Entry {
  address: string;
  address_index: number;
  /** People read it; the transaction holds the units. */
  amount: string;
  nonce: number;
  to: string;
  value: string;
  data: string;
  gas: string;
  max_fee_per_gas: string;
  max_priority_fee_per_gas: string;
  /** It counts in the asset's smallest unit. */
  units: string;
  raw?: string;
}

interface Batch {
  chain_id: number;
  network: string;
  asset: string;
  destination: string;
  transactions: Entry[];
}

export function writeBatch(path: string, order: SweepOrder, items: readonly SweepItem[]): void {
  const { chainId, name } = order.chain.network;
  const { asset, to } = order;
  const transactions = items.map((item) => describe(order, item));
  save(path, { chain_id: chainId, network: name, asset, destination: to, transactions });
}

function describe(
  { chain, asset }: SweepOrder,
  { address, addressIndex, amount, units, transaction }: SweepItem,
): Entry {
  const { nonce = 0, gas = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = transaction;
  const { token } = findAsset(chain, asset);
  return {
    address,
    address_index: addressIndex,
    amount,
    nonce,
    to: transaction.to ?? '',
    value: (transaction.value ?? 0n).toString(),
    data: token === null ? '0x' : (transaction.data ?? '0x'),
    gas: gas.toString(),
    max_fee_per_gas: maxFeePerGas.toString(),
    max_priority_fee_per_gas: maxPriorityFeePerGas.toString(),
    units: units.toString(),
  };
}

/** Runs on the machine with the key, and needs neither a database nor a chain. */
export async function signBatch(path: string, out: string, key: DepositKey): Promise<string[]> {
  const batch = readBatch(path);
  const signed: Entry[] = [];
  for (const entry of batch.transactions) {
    const signer = key.signerOf(entry.address_index);
    if (signer.address !== getAddress(entry.address)) {
      throw new SetupError(`The key does not own ${entry.address} (index ${entry.address_index}).`);
    }
    signed.push({ ...entry, raw: await signer.sign(transactionOf(batch, entry)) });
  }
  save(out, { ...batch, transactions: signed });
  return batch.transactions.map((entry) => describeEntry(batch, entry));
}

/**
 * From what `describeEntry` prints, so that a changed file cannot have something else signed.
 * @throws SetupError when the entry has another transaction
 */
function transactionOf(batch: Batch, entry: Entry): TransactionSerializableEIP1559 {
  const token = tokenOf(entry);
  const transaction = buildTransaction(batch.chain_id, {
    token,
    to: getAddress(batch.destination),
    units: BigInt(entry.units),
    ...readGas(entry),
  });
  const isSame =
    transaction.to === getAddress(entry.to) &&
    transaction.value === BigInt(entry.value) &&
    (transaction.data ?? '0x') === entry.data.toLowerCase();
  if (isSame) return transaction;
  throw new SetupError(
    `The transaction of ${entry.address} does not pay ${entry.units} units to ${batch.destination}. Nothing was signed: export the batch again.`,
  );
}

function describeEntry({ asset, destination, chain_id: chainId }: Batch, entry: Entry): string {
  const { address, amount, units } = entry;
  const token = tokenOf(entry);
  const what =
    token === null
      ? `${formatEther(BigInt(units))} ${asset}`
      : `${amount} ${asset} (${units} units of the token ${token})`;
  const { gas, fees } = readGas(entry);
  const fee = formatEther(gas * fees.maxFeePerGas);
  return `${what} from ${address} to ${destination} on chain ${chainId}, for a network fee of at most ${fee}`;
}

/** Returns null for the coin. */
function tokenOf({ data, to }: Entry): Address | null {
  return data === '0x' ? null : getAddress(to);
}

function readGas(entry: Entry) {
  return {
    nonce: entry.nonce,
    gas: BigInt(entry.gas),
    fees: {
      maxFeePerGas: BigInt(entry.max_fee_per_gas),
      maxPriorityFeePerGas: BigInt(entry.max_priority_fee_per_gas),
    },
  };
}

/** @throws SetupError for an entry that is not of this sweep, SigningError for other bytes */
export async function importBatch(db: Db, order: SweepOrder, path: string): Promise<SignedSweep[]> {
  const { chain, asset, to } = order;
  const batch = readBatch(path);
  const isSame =
    batch.chain_id === chain.network.chainId &&
    batch.asset === asset &&
    getAddress(batch.destination) === to;
  if (!isSame) throw new SetupError(`${path} is of another chain, asset or destination.`);
  const { token } = findAsset(chain, asset);
  const sweeps: SignedSweep[] = [];
  for (const entry of batch.transactions) {
    const address = getAddress(entry.address);
    await requireOwn(db, chain.network.mode, address, entry.address_index);
    const transaction = buildTransaction(chain.network.chainId, {
      token,
      to,
      units: BigInt(entry.units),
      ...readGas(entry),
    });
    if (entry.raw === undefined) throw new SetupError(`${path}: ${address} has no signature.`);
    const raw = entry.raw as Hex;
    await checkSigned(raw, transaction, address);
    sweeps.push({ address, nonce: entry.nonce, raw });
  }
  return sweeps;
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

const NUMBERS = ['value', 'gas', 'max_fee_per_gas', 'max_priority_fee_per_gas', 'units'] as const;

function readBatch(path: string): Batch {
  try {
    const batch = JSON.parse(readFileSync(path, 'utf8')) as Batch;
    const isBatch =
      Number.isSafeInteger(batch.chain_id) &&
      isAddress(batch.destination) &&
      new RegExp(CURRENCY_PATTERN).test(batch.asset) &&
      batch.transactions.every(isEntry);
    if (isBatch) return batch;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined) throw new SetupError(`${path} cannot be read (${code}).`);
  }
  throw new SetupError(`${path} is not a batch of \`wallet sweep --export\`.`);
}

function isEntry(entry: Entry): boolean {
  return (
    isAddress(entry.address) &&
    Number.isSafeInteger(entry.address_index) &&
    Number.isSafeInteger(entry.nonce) &&
    isAddress(entry.to) &&
    /^0x[0-9a-f]*$/i.test(entry.data) &&
    /^[0-9]+(\.[0-9]+)?$/.test(entry.amount) &&
    NUMBERS.every((name) => /^[0-9]{1,78}$/.test(entry[name]))
  );
}
