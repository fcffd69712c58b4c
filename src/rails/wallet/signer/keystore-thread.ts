/**
 * The thread that opens a keystore and signs with its key (started by threaded-keystore.ts). The key
 * and its password are in no other thread.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { SetupError } from '../../../platform/lib/setup-error';
import { type KeystoreFiles, openKeystore } from './keystore';
import type { SignAnswer, SignRequest, ThreadStart } from './threaded-keystore';

function serve(): void {
  const tell = (start: ThreadStart): void => parentPort?.postMessage(start);
  try {
    const signer = openKeystore(workerData as KeystoreFiles);
    parentPort?.on('message', ({ id, transaction }: SignRequest) => {
      const answer = (one: SignAnswer): void => parentPort?.postMessage(one);
      signer.sign(transaction).then(
        (raw) => {
          answer({ id, raw });
        },
        // The reason may quote the transaction; the other thread says that it failed.
        () => {
          answer({ id, raw: null });
        },
      );
    });
    tell({ address: signer.address });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    tell({ refusal: error.message });
  }
}

serve();
