/** The wallet's signers: the encrypted keystore, the signing service, and the check of signed bytes. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  type Hex,
  hexToBigInt,
  keccak256,
  numberToHex,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerializableEIP1559,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount, sign } from 'viem/accounts';
import { openXpub } from '../../src/rails/wallet/addresses/deposit-addresses';
import { runWalletCommand } from '../../src/rails/wallet/commands';
import { createDepositKey, openDepositKey } from '../../src/rails/wallet/signer/deposit-key';
import type { SignerTls } from '../../src/rails/wallet/networks';
import { createKeystore, openKeystore } from '../../src/rails/wallet/signer/keystore';
import { openSigner } from '../../src/rails/wallet/signer/open';
import { connectRemoteSigner } from '../../src/rails/wallet/signer/remote';
import { startKeystoreThread } from '../../src/rails/wallet/signer/threaded-keystore';
import { checkSigned } from '../../src/rails/wallet/signer/signed-transaction';
import { startHttpServer } from '../support/servers/sandbox';
import { createAuthority } from '../support/servers/throw-away-certificates';

const ORDER: TransactionSerializableEIP1559 = {
  type: 'eip1559',
  chainId: 31_337,
  nonce: 7,
  to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  value: 5n,
  data: '0xa9059cbb',
  gas: 60_000n,
  maxFeePerGas: 2_000_000_000n,
  maxPriorityFeePerGas: 1n,
};
const OTHER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const privateKey = generatePrivateKey();
const account = privateKeyToAccount(privateKey);
const stranger = privateKeyToAccount(generatePrivateKey());

const recoverOf = (raw: Hex) =>
  recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` });

/** The words that an error shows, its causes included, as a logger would print them. */
async function wordsOf(failing: Promise<unknown>): Promise<string> {
  const error: unknown = await failing.then(
    () => new Error('nothing failed'),
    (caught: unknown) => caught,
  );
  expect(error).toMatchObject({ name: 'SigningError' });
  return `${String(error)} ${JSON.stringify(error, Object.getOwnPropertyNames(error))}`;
}

describe('the encrypted keystore', () => {
  let folder: string;
  let files: { keystore: string; password: string };
  const password = 'a long enough password';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-keystore-'));
    files = { keystore: join(folder, 'key.json'), password: join(folder, 'password') };
    writeFileSync(files.password, `${password}\n`);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('encrypts an imported key, which signs after it is opened', async () => {
    expect(createKeystore(files, privateKey.slice(2))).toBe(account.address);
    const signer = openKeystore(files);
    expect(signer.address).toBe(account.address);
    const raw = await signer.sign(ORDER);
    await expect(checkSigned(raw, ORDER, account.address)).resolves.toBe(keccak256(raw));
    expect(statSync(files.keystore).mode & 0o777).toBe(0o600);
    const content = readFileSync(files.keystore, 'utf8');
    expect(content).not.toContain(privateKey.slice(2));
    expect(content).not.toContain(password);
  });

  it('signs in a thread of its own, many at once; a thread that ends fails what it was asked', async () => {
    const signer = await startKeystoreThread(files);
    expect(signer.address).toBe(account.address);
    const orders = Array.from({ length: 20 }, (_, nonce) => ({ ...ORDER, nonce }));
    const signed = await Promise.all(orders.map((order) => signer.sign(order)));
    for (const [at, raw] of signed.entries()) {
      await expect(checkSigned(raw, orders[at]!, account.address)).resolves.toBe(keccak256(raw));
    }
    const impossible = signer.sign({ ...ORDER, maxFeePerGas: 1n, maxPriorityFeePerGas: 2n });
    expect(await wordsOf(impossible)).toContain('cannot sign the transaction');
    // More than the thread can sign before it ends.
    const asked = Array.from({ length: 500 }, () => signer.sign(ORDER));
    const answers = Promise.allSettled(asked);
    await signer.close();
    await answers;
    expect(await wordsOf(asked.at(-1)!)).toContain('has ended');
    expect(await wordsOf(signer.sign(ORDER))).toContain('has ended');
    const missing = { ...files, password: join(folder, 'missing') };
    await expect(startKeystoreThread(missing)).rejects.toThrow(
      `${missing.password} cannot be read (ENOENT).`,
    );
  });

  it('opens the test vector of the Web3 Secret Storage definition (scrypt with r = 1, p = 8)', () => {
    const vector = {
      keystore: join(folder, 'vector.json'),
      password: join(folder, 'vector-password'),
    };
    writeFileSync(vector.password, 'testpassword');
    writeFileSync(vector.keystore, JSON.stringify(SCRYPT_VECTOR));
    expect(openKeystore(vector).address).toBe(
      privateKeyToAccount('0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d')
        .address,
    );
  });

  it('names the file and never its content when it cannot be opened', () => {
    const wrong = { ...files, password: join(folder, 'wrong') };
    writeFileSync(wrong.password, 'another long password');
    expect(() => openKeystore(wrong)).toThrow(
      `The password in ${wrong.password} does not open ${files.keystore}.`,
    );
    const broken = { ...files, keystore: join(folder, 'broken.json') };
    writeFileSync(broken.keystore, `{"key": "${privateKey}"`);
    expect(() => openKeystore(broken)).toThrow(
      `${broken.keystore} is not a Web3 Secret Storage file of version 3.`,
    );
    expect(() => createKeystore(files)).toThrow(`${files.keystore} exists already.`);
    expect(() => createKeystore(files, 'not a key')).toThrow(
      'The private key must be 64 hexadecimal digits.',
    );
    const short = { ...files, password: join(folder, 'short') };
    writeFileSync(short.password, 'short');
    expect(() => createKeystore(short)).toThrow('must have at least 12 characters');
  });

  it('keeps the key of the deposit addresses; the wallet derives the same addresses from its xpub', () => {
    const deposits = { ...files, keystore: join(folder, 'deposits.json') };
    const xpub = createDepositKey(deposits);
    const key = openDepositKey(deposits);
    const addressOf = openXpub(xpub, 'the xpub');
    for (const index of [0, 1, 77]) {
      expect(key.signerOf(index).address).toBe(addressOf(index));
    }
    expect(readFileSync(deposits.keystore, 'utf8')).not.toContain('xprv');
    expect(() => openKeystore(deposits)).toThrow('is not the key of an account');
  });

  it('has commands that create and import a key, and print only its address', async () => {
    const options = (name: string) => [
      ...['--keystore', join(folder, name), '--password-file', files.password],
    ];
    let printed = '';
    const out = (words: string) => void (printed += words);
    const terminal = { env: {}, out, err: out };
    expect(await runWalletCommand(['key', 'create', ...options('new.json')], terminal)).toBe(0);
    const { address } = JSON.parse(readFileSync(join(folder, 'new.json'), 'utf8')) as {
      address: string;
    };
    expect(printed.trim().toLowerCase()).toBe(`0x${address}`);
    const refused = spawnSync(
      process.execPath,
      ['--import', 'tsx', 'src/bin/wallet-admin.ts', 'key', 'import', ...options('x.json')],
      { input: `${privateKey}00`, encoding: 'utf8' },
    );
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toBe('The private key must be 64 hexadecimal digits.\n');
  });
});

describe('the signing service', () => {
  type Answer = (unsigned: Hex, response: ServerResponse) => Promise<void> | void;
  let answer: Answer;
  let keys: Hex[] = [account.publicKey];
  let authorization: string | undefined;
  let service: { url: string; stop(): Promise<void> };
  const signers: ReturnType<typeof connectRemoteSigner>[] = [];

  const signature = async (data: Hex, key = privateKey) =>
    sign({ hash: keccak256(data), privateKey: key });
  const honest: Answer = async (unsigned, response) => {
    const { r, s, yParity } = await signature(unsigned);
    response.end(`${r}${s.slice(2)}${numberToHex(27 + yParity!).slice(2)}`);
  };

  /** The `eth1` API of Web3Signer. It keeps public keys without the byte 04 of the curve point. */
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    authorization = request.headers.authorization;
    if (request.url === '/api/v1/eth1/publicKeys') {
      response.end(JSON.stringify(keys.map((key) => `0x${key.slice(4)}`)));
    } else if (request.url === `/api/v1/eth1/sign/0x${account.publicKey.slice(4)}`) {
      const { data } = JSON.parse(await text(request)) as { data: Hex };
      await answer(data, response);
    } else {
      response.writeHead(404).end();
    }
  }
  const connect = (timeoutMs = 20_000) => {
    const url = `${service.url.replace('127.0.0.1', 'user:rpc-secret@127.0.0.1')}/`;
    const signer = connectRemoteSigner({ url, address: account.address, timeoutMs });
    signers.push(signer);
    return signer;
  };

  beforeAll(async () => {
    service = await startHttpServer((request, response) => void serve(request, response));
  });
  beforeEach(() => {
    answer = honest;
    keys = [stranger.publicKey, account.publicKey];
  });
  afterAll(async () => {
    await Promise.all(signers.map((signer) => signer.close()));
    await service.stop();
  });

  it('signs the order', async () => {
    const raw = await connect().sign(ORDER);
    expect(raw).toBe(await account.signTransaction(ORDER));
    expect(await recoverOf(raw)).toBe(account.address);
    // The name and password of its URL.
    expect(authorization).toBe(`Basic ${Buffer.from('user:rpc-secret').toString('base64')}`);
  });

  it('may require a client certificate', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-signer-'));
    const write = (name: string, pem: string): string => {
      writeFileSync(join(folder, name), pem);
      return join(folder, name);
    };
    const authority = createAuthority();
    const client = authority.issue({ hosts: ['wallet'] });
    const caFile = write('ca.pem', authority.cert);
    const files = {
      certificateFile: write('wallet.pem', client.cert),
      keyFile: write('wallet.key', client.key),
    };
    const server = createServer(
      { ...authority.issue({ hosts: ['localhost'] }), ca: authority.cert, requestCert: true },
      (request, response) => void serve(request, response),
    );
    server.listen(0, 'localhost');
    await once(server, 'listening');
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    const open = (tls: Partial<SignerTls>) =>
      openSigner({
        ...{ kind: 'remote', url, address: account.address },
        tls: { ...{ caFile, certificateFile: null, keyFile: null }, ...tls },
      });
    const [known, unknown] = [await open(files), await open({})];
    expect(await known.sign(ORDER)).toBe(await account.signTransaction(ORDER));
    expect(await wordsOf(unknown.sign(ORDER))).toContain('connection to the signing service');
    await expect(open({ caFile: join(folder, 'gone') })).rejects.toThrow('cannot be read (ENOENT)');
    await Promise.all([known.close?.(), unknown.close?.()]);
    server.close();
    rmSync(folder, { recursive: true });
  });

  it('may answer with a high s, with v as 0 or 1, or without v', async () => {
    const signer = connect();
    const expected = await account.signTransaction(ORDER);
    const { s: lowS } = parseTransaction(expected as `0x02${string}`);
    answer = async (unsigned, response) => {
      const { r, s } = await signature(unsigned);
      const high = numberToHex(CURVE_ORDER - hexToBigInt(s), { size: 32 });
      expect(s).toBe(lowS);
      response.end(`${r}${high.slice(2)}01`);
    };
    expect(await signer.sign(ORDER)).toBe(expected);
    answer = async (unsigned, response) => {
      const { r, s } = await signature(unsigned);
      response.end(`"${r}${s.slice(2)}"`);
    };
    expect(await signer.sign(ORDER)).toBe(expected);
  });

  it.each([
    ['recipient', { to: OTHER }],
    ['nonce', { nonce: 8 }],
    ['amount', { value: 6n }],
    ['chain id', { chainId: 1 }],
  ] as const)('is refused when it signs another %s', async (_name, lie) => {
    answer = async (_unsigned, response) => {
      const raw = await account.signTransaction({ ...ORDER, ...lie });
      const { r, s, yParity } = parseTransaction(raw as `0x02${string}`);
      response.end(`${r!}${s!.slice(2)}${numberToHex(27 + yParity!).slice(2)}`);
    };
    expect(await wordsOf(connect().sign(ORDER))).toContain('is not one of');
  });

  it.each<[string, Answer, string]>([
    [
      'signs with another key',
      async (unsigned, response) => {
        const raw = await stranger.sign({ hash: keccak256(unsigned) });
        response.end(raw);
      },
      'is not one of',
    ],
    [
      'answers with something else',
      (_unsigned, response) => void response.end('rpc-secret'),
      'is not a signature',
    ],
    [
      'answers with zeros',
      (_unsigned, response) => void response.end(`0x${'0'.repeat(130)}`),
      'is not one of',
    ],
    [
      'answers without an end',
      (_unsigned, response) => void response.end('a'.repeat(70_000)),
      'is too long',
    ],
    [
      'fails',
      (_unsigned, response) => void response.writeHead(500).end('rpc-secret'),
      'answered with HTTP 500',
    ],
    [
      'breaks off',
      (_unsigned, response) => {
        response.writeHead(200, { 'content-length': '132' }).write('0x12');
        setImmediate(() => response.destroy());
      },
      'connection to the signing service failed',
    ],
  ])('is refused when it %s', async (_name, lie, words) => {
    answer = lie;
    const shown = await wordsOf(connect().sign(ORDER));
    expect(shown).toContain(words);
    expect(shown).not.toContain('rpc-secret');
    expect(shown).not.toContain(service.url);
  });

  it('is given up when it hangs, and signs when it is asked again', async () => {
    const signer = connect(300);
    answer = () => undefined;
    expect(await wordsOf(signer.sign(ORDER))).toContain('did not answer within 300 ms');
    answer = honest;
    expect(await recoverOf(await connect().sign(ORDER))).toBe(account.address);
  });

  it('is refused when it does not have the key', async () => {
    keys = [stranger.publicKey];
    expect(await wordsOf(connect().sign(ORDER))).toContain(`has no key of ${account.address}`);
  });
});

describe('the check of signed bytes', () => {
  it.each([
    ['chainId', { chainId: 1 }],
    ['nonce', { nonce: 8 }],
    ['to', { to: OTHER }],
    ['value', { value: 6n }],
    ['data', { data: '0xa9059cbb00' }],
    ['gas', { gas: 60_001n }],
    ['maxFeePerGas', { maxFeePerGas: 3_000_000_000n }],
    ['maxPriorityFeePerGas', { maxPriorityFeePerGas: 2n }],
  ] as const)('refuses another %s', async (field, lie) => {
    const raw = await account.signTransaction({ ...ORDER, ...lie });
    expect(await wordsOf(checkSigned(raw, ORDER, account.address))).toContain(`another ${field}`);
  });

  it('refuses an access list, another signer, another type and damaged bytes', async () => {
    const accessList = [{ address: OTHER, storageKeys: [] }] as const;
    const listed = await account.signTransaction({ ...ORDER, accessList });
    expect(await wordsOf(checkSigned(listed, ORDER, account.address))).toContain('differs from');
    const foreign = await stranger.signTransaction(ORDER);
    expect(await wordsOf(checkSigned(foreign, ORDER, account.address))).toContain('not signed by');
    const legacy = await account.signTransaction({ type: 'legacy', chainId: 31_337, gasPrice: 1n });
    expect(await wordsOf(checkSigned(legacy, ORDER, account.address))).toContain('not an EIP-1559');
    const cut = (await account.signTransaction(ORDER)).slice(0, -2) as Hex;
    expect(await wordsOf(checkSigned(cut, ORDER, account.address))).toContain('not an EIP-1559');
  });
});

const SCRYPT_VECTOR = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
    ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 262144,
      p: 8,
      r: 1,
      salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
    },
    mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
  },
  id: '3198bc9c-6672-5ab9-b995-4942343ae5b6',
  version: 3,
};
