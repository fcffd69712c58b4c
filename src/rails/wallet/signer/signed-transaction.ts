/**
 * The check of signed bytes that came from outside this process, from a signing service or an
 * offline key: they must hold exactly the transaction that was ordered, signed by the account.
 */
import {
  type Address,
  type Hex,
  isAddressEqual,
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  type TransactionSerializableEIP1559,
} from 'viem';
import { SigningError } from './port';

/**
 * @returns the transaction's hash
 * @throws SigningError that names what differs
 */
export async function checkSigned(
  raw: Hex,
  ordered: TransactionSerializableEIP1559,
  signer: Address,
): Promise<Hex> {
  const signed = parse(raw);
  const differing = FIELDS.find(
    (field) => comparable(signed[field]) !== comparable(ordered[field]),
  );
  if (differing !== undefined) {
    throw new SigningError(`The signed transaction has another ${differing} than the order.`);
  }
  // The fields that this list does not name, such as the access list, differ in these bytes.
  const { r, s, yParity, ...fields } = signed;
  if (serializeTransaction(fields) !== serializeTransaction(ordered)) {
    throw new SigningError('The signed transaction differs from the order.');
  }
  if (!isAddressEqual(await recover(raw), signer)) {
    throw new SigningError(`The transaction is not signed by ${signer}.`);
  }
  return keccak256(raw);
}

const FIELDS = [
  'chainId',
  'nonce',
  'to',
  'value',
  'data',
  'gas',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
] as const;

/** A parsed transaction omits what is zero or empty. */
function comparable(value: string | number | bigint | null | undefined): string {
  return value === undefined || value === null || value === '0x'
    ? '0'
    : String(value).toLowerCase();
}

function parse(raw: Hex): ReturnType<typeof parseTransaction<`0x02${string}`>> {
  try {
    if (raw.startsWith('0x02')) return parseTransaction(raw as `0x02${string}`);
  } catch {
    // The parser's message holds the bytes.
  }
  throw new SigningError('The signed bytes are not an EIP-1559 transaction.');
}

async function recover(raw: Hex): Promise<Address> {
  try {
    return await recoverTransactionAddress({
      serializedTransaction: raw as `0x02${string}`,
    });
  } catch {
    throw new SigningError('The signature of the transaction is not valid.');
  }
}
