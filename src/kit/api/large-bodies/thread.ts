/**
 * Has large bodies parsed and checked in a thread: eight MiB of JSON take seconds, in which this process answers
 * others. The thread starts with the first body, and ends when one takes too long.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Semaphore, withTimeout } from 'async-mutex';
import { ApiError, type Refusal } from '../../../domain/errors';
import type { Mode } from '../../../domain/mode';
import { TURN_WAIT_MS_MAX } from '../../service/account-turns';
import { overloaded } from '../../service/admission';
import type { Readers } from './readers';

export interface BodyToRead {
  name: keyof Readers;
  bytes: Uint8Array;
}

export type BodyAnswer = { request: ReturnType<Readers[keyof Readers]> } | { refusal: Refusal };

interface BodyThread {
  /** @throws ApiError what the reader throws; service_unavailable when it takes too long */
  read<Name extends keyof Readers>(
    name: Name,
    bytes: Buffer,
    mode: Mode,
  ): Promise<ReturnType<Readers[Name]>>;
}

/** The slowest body takes five seconds of processor time. */
const READ_MS_MAX = 60_000;
const MEMORY_MB_MAX = 384;

/** In development nothing is compiled, and a thread does not inherit the loader of TypeScript. */
const LOADER = __filename.endsWith('.ts') ? { execArgv: ['--require', 'tsx/cjs'] } : {};

export function createBodyThread(): BodyThread {
  const turn = withTimeout(new Semaphore(1), TURN_WAIT_MS_MAX, overloaded());
  let thread: Worker | null = null;

  function start(): Worker {
    const started = new Worker(require.resolve('./body-thread'), {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
      ...LOADER,
    });
    started.once('exit', () => {
      thread = null;
    });
    // The request that waits gets the error; without a request, an error must not end the process.
    started.on('error', () => undefined);
    return started;
  }

  async function ask(body: BodyToRead): Promise<BodyAnswer> {
    const asked = (thread ??= start());
    // The process may end while the thread has nothing to do.
    asked.ref();
    const late = setTimeout(() => void asked.terminate(), READ_MS_MAX);
    const over = new AbortController();
    const { signal } = over;
    const ended = once(asked, 'exit', { signal }).then(() => {
      throw overloaded();
    });
    try {
      asked.postMessage(body);
      // It throws errors that the thread could not catch, such as running out of memory.
      const [answer] = (await Promise.race([once(asked, 'message', { signal }), ended])) as [
        BodyAnswer,
      ];
      return answer;
    } finally {
      over.abort();
      clearTimeout(late);
      asked.unref();
    }
  }

  return {
    async read<Name extends keyof Readers>(name: Name, bytes: Buffer, mode: Mode) {
      const isLive = mode === 'live' ? 1 : 0;
      const answer = await turn.runExclusive(() => ask({ name, bytes }), 1, isLive);
      if ('refusal' in answer) throw new ApiError(answer.refusal);
      return answer.request as ReturnType<Readers[Name]>;
    },
  };
}
