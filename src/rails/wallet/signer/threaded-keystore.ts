/**
 * A keystore whose key is in a thread of its own: signatures are made while this thread reads the
 * chain, stores and broadcasts, and nothing else in the process has the key.
 */
import { Worker } from 'node:worker_threads';
import type { Address, Hex, TransactionSerializableEIP1559 } from 'viem';
import { SetupError } from '../../../platform/lib/setup-error';
import type { KeystoreFiles } from './keystore';
import { type Signer, SigningError } from './port';

export type ThreadStart = { address: Address } | { refusal: string };

export interface SignRequest {
  id: number;
  transaction: TransactionSerializableEIP1559;
}

/** Null when the transaction cannot be signed. */
export interface SignAnswer {
  id: number;
  raw: Hex | null;
}

const ENDED = 'The thread that signs has ended. Restart the wallet.';
const NOT_SIGNED = 'The keystore cannot sign the transaction.';

/** In development nothing is compiled, and a thread does not inherit the loader of TypeScript. */
const LOADER = __filename.endsWith('.ts') ? { execArgv: ['--require', 'tsx/cjs'] } : {};

/** @throws SetupError that names the file and never its content */
export async function startKeystoreThread(
  files: KeystoreFiles,
): Promise<Signer & { close: () => Promise<void> }> {
  const thread = new Worker(require.resolve('./keystore-thread'), { workerData: files, ...LOADER });
  const waiting = new Map<number, { resolve: (raw: Hex) => void; reject: (why: Error) => void }>();
  let hasEnded = false;
  const end = (): void => {
    hasEnded = true;
    for (const { reject } of waiting.values()) reject(new SigningError(ENDED));
    waiting.clear();
  };
  thread.on('error', end);
  thread.on('exit', end);
  const start = await new Promise<ThreadStart>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
  });
  if ('refusal' in start) {
    await thread.terminate();
    throw new SetupError(start.refusal);
  }
  thread.on('message', ({ id, raw }: SignAnswer) => {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (raw === null) asked?.reject(new SigningError(NOT_SIGNED));
    else asked?.resolve(raw);
  });
  let requests = 0;
  return {
    address: start.address,
    sign: (transaction) =>
      new Promise((resolve, reject) => {
        if (hasEnded) {
          reject(new SigningError(ENDED));
          return;
        }
        requests += 1;
        const request: SignRequest = { id: requests, transaction };
        waiting.set(requests, { resolve, reject });
        thread.postMessage(request);
      }),
    close: async () => {
      await thread.terminate();
    },
  };
}
