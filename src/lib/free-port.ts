/**
 * Which TCP ports of this machine are free. A free port may be taken a moment later by somebody
 * else; who gets one here has to start listening at once.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { SetupError } from './setup-error';

/** Why nobody can listen on a port. */
export type PortState = 'free' | 'taken' | 'forbidden';

/** Looks at 127.0.0.1 and at all addresses, because a listener on either is in the way. */
export async function portState(port: number): Promise<PortState> {
  for (const host of ['127.0.0.1', undefined]) {
    const state = await tryListening(port, host);
    if (state !== 'free') return state;
  }
  return 'free';
}

/** Below the ports that systems give to outgoing connections: none of those can come in between. */
const LOWEST = 15_000;
const HIGHEST = 29_999;
const TRIES = 100;

/** A free port, by chance, so that two who look at the same time hardly find the same. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if ((await portState(port)) === 'free') return port;
  }
  throw new SetupError(`There is hardly a free port between ${LOWEST} and ${HIGHEST}.`);
}

function tryListening(port: number, host: string | undefined): Promise<PortState> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'EACCES' ? 'forbidden' : 'taken');
    });
    server.listen({ port, exclusive: true, ...(host === undefined ? {} : { host }) }, () => {
      server.close(() => {
        resolve('free');
      });
    });
  });
}
