/**
 * A signing service over HTTP that speaks the `eth1` API of Web3Signer, which keeps keys in files,
 * in HashiCorp Vault or in the key service of a cloud:
 *
 * - `GET /api/v1/eth1/publicKeys` lists the public keys, 64 bytes each.
 * - `POST /api/v1/eth1/sign/<public key>` with `{"data": "0x<unsigned transaction>"}` signs the
 *   Keccak-256 hash of the data and answers with r, s and v, 65 bytes, as text.
 *
 * The service returns only a signature, so it cannot change the order. It is trusted with nothing
 * else: the account is recovered from the signature, and another one's is refused. Errors contain
 * neither its URL, which may hold a password, nor its answers.
 */
import {
  type Address,
  getAddress,
  type Hex,
  hexToBigInt,
  isAddressEqual,
  keccak256,
  numberToHex,
  recoverAddress,
  serializeTransaction,
  type TransactionSerializableEIP1559,
} from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import {
  AnswerTooLarge,
  createHttpConnections,
  type HttpConnections,
  readText,
} from '../../../platform/lib/http-call';
import { type Signer, SigningError } from './port';

export interface RemoteSignerOptions {
  /** `https://signer.internal:9000`; a name and password in it are sent as Basic authentication. */
  url: string;
  /** The account; the service must have its key. */
  address: Address;
  timeoutMs: number;
  /** PEM texts, as for a service that requires a client's certificate (Web3Signer's TLS). */
  tls?: { ca?: string; cert?: string; key?: string };
}

const ANSWER_BYTES_MAX = 65_536;
const PUBLIC_KEY = /^0x[0-9a-f]{128}$/i;
const SIGNATURE = /^0x([0-9a-f]{64})([0-9a-f]{64})(?:[0-9a-f]{2})?$/i;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export interface RemoteSigner extends Signer {
  close(): Promise<void>;
}

export function connectRemoteSigner(options: RemoteSignerOptions): RemoteSigner {
  const address = getAddress(options.address);
  const { base, authorization } = readUrl(options.url);
  const agent = createHttpConnections({ ...options.tls });
  const ask = (path: string, body?: object): Promise<string> =>
    askService(`${base}/api/v1/eth1/${path}`, {
      agent,
      timeoutMs: options.timeoutMs,
      authorization,
      body,
    });
  let publicKey: string | null = null;

  return {
    address,
    async sign(transaction) {
      const unsigned = serializeTransaction(transaction);
      publicKey ??= findPublicKey(await ask('publicKeys'), address);
      const answer = await ask(`sign/${publicKey}`, { data: unsigned });
      return attachSignature(transaction, keccak256(unsigned), answer, address);
    },
    close: () => agent.close(),
  };
}

function readUrl(text: string): { base: string; authorization: string | null } {
  const { origin, pathname, username, password } = new URL(text);
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(login).toString('base64')}`;
  const base = `${origin}${pathname}`.replace(/\/+$/, '');
  return { base, authorization: username === '' ? null : authorization };
}

/** The public key of the account, as the service writes it. */
function findPublicKey(answer: string, address: Address): string {
  const listed = parseJson(answer);
  const keys = Array.isArray(listed) ? listed : [];
  const found = keys.find(
    (key: unknown): key is Hex =>
      typeof key === 'string' &&
      PUBLIC_KEY.test(key) &&
      // 04: the uncompressed form.
      isAddressEqual(publicKeyToAddress(`0x04${key.slice(2)}`), address),
  );
  if (found === undefined) {
    throw new SigningError(`The signing service has no key of ${address}.`);
  }
  return found;
}

/**
 * Services disagree about v, and some keys of hardware sign with a high s, which nodes reject:
 * s is made low, and the parity is the one whose signer is the account.
 */
async function attachSignature(
  transaction: TransactionSerializableEIP1559,
  hash: Hex,
  answer: string,
  address: Address,
): Promise<Hex> {
  // Web3Signer answers with plain text; JSON's quotation marks are accepted too.
  const [, r, s] = SIGNATURE.exec(answer.trim().replace(/^"(.*)"$/, '$1')) ?? [];
  if (r === undefined || s === undefined) {
    throw new SigningError('The answer of the signing service is not a signature.');
  }
  const given = hexToBigInt(`0x${s}`);
  const low = given > CURVE_ORDER / 2n ? CURVE_ORDER - given : given;
  for (const yParity of [0, 1]) {
    const signature = { r: `0x${r}`, s: numberToHex(low, { size: 32 }), yParity } as const;
    if (await isSignedBy(address, hash, signature)) {
      return serializeTransaction(transaction, signature);
    }
  }
  throw new SigningError(`The signature of the signing service is not one of ${address}.`);
}

async function isSignedBy(
  address: Address,
  hash: Hex,
  signature: { r: Hex; s: Hex; yParity: number },
): Promise<boolean> {
  try {
    return isAddressEqual(await recoverAddress({ hash, signature }), address);
  } catch {
    // No point of the curve: not a signature.
    return false;
  }
}

interface Call {
  agent: HttpConnections;
  timeoutMs: number;
  authorization: string | null;
  body: object | undefined;
}

async function askService(
  url: string,
  { agent, timeoutMs, authorization, body }: Call,
): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await agent.send(url, {
      signal,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'text/plain, application/json',
        'content-type': 'application/json',
        ...(authorization === null ? {} : { authorization }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.statusCode !== 200) {
      answer.on('error', () => undefined).destroy();
      throw new SigningError(`The signing service answered with HTTP ${answer.statusCode ?? 0}.`);
    }
    return await readText(answer, ANSWER_BYTES_MAX);
  } catch (error) {
    if (error instanceof SigningError) throw error;
    if (error instanceof AnswerTooLarge) {
      throw new SigningError('The answer of the service is too long.');
    }
    if (signal.aborted) {
      throw new SigningError(`The signing service did not answer within ${timeoutMs} ms.`);
    }
    throw new SigningError('The connection to the signing service failed.');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SigningError('The answer of the signing service is not JSON.');
  }
}
