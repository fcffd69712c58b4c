/**
 * A local EVM chain: anvil, of the development dependency @foundry-rs/anvil. `npm start -- --chain`
 * and the tests start it.
 *
 * `safe` is 4 blocks behind the head and `finalized` is 8 (`--slots-in-an-epoch 4`), so that both
 * move within seconds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from 'viem';
import { SetupError } from '../../platform/lib/setup-error';
import { type ServerProcess, spawnServer } from '../server-process';

const START_TIMEOUT_MS = 20_000;
const CALL_TIMEOUT_MS = 20_000;

/** Blocks between the head and `finalized`. */
export const FINALITY_BLOCKS = 8;

interface AnvilOptions {
  port: number;
  chainId: number;
  logFile: string;
  /** More flags of anvil, such as `--block-time 1`. */
  args?: readonly string[];
  onSpawn?: (pid: number) => void;
}

/** One call of the node's JSON-RPC. @throws Error with the node's message */
export type Rpc = <Result>(method: string, params?: readonly unknown[]) => Promise<Result>;

export interface Anvil {
  url: string;
  process: ServerProcess;
  rpc: Rpc;
  /** The accounts that the node signs for. Each has 10,000 coins at first. */
  accounts: readonly Address[];
}

/** The path of the program, or null where the package has no binary for this system. */
export function findAnvil(): string | null {
  const system = process.platform === 'win32' ? 'win32' : process.platform;
  const machine = process.arch === 'x64' ? 'amd64' : process.arch;
  const file = process.platform === 'win32' ? 'anvil.exe' : 'anvil';
  try {
    return require.resolve(`@foundry-rs/anvil-${system}-${machine}/bin/${file}`);
  } catch {
    return null;
  }
}

/** @throws SetupError when it is not installed or does not answer */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const program = findAnvil();
  if (program === null) {
    throw new SetupError(
      `@foundry-rs/anvil has no program for ${process.platform}-${process.arch}; the local chain ` +
        'cannot be started here. Run `npm install` without --omit=dev or --omit=optional.',
    );
  }
  const { port, chainId, logFile, args = [], onSpawn } = options;
  const server = spawnServer(
    program,
    [
      '--host',
      '127.0.0.1',
      '--port',
      `${port}`,
      '--chain-id',
      `${chainId}`,
      '--slots-in-an-epoch',
      '4',
      ...args,
    ],
    { logFile },
  );
  onSpawn?.(server.pid);
  const url = `http://127.0.0.1:${port}`;
  const rpc = connectRpc(url);
  await waitUntilReady(server, rpc);
  return { url, process: server, rpc, accounts: await rpc<Address[]>('eth_accounts') };
}

export function connectRpc(url: string): Rpc {
  return async <Result>(method: string, params: readonly unknown[] = []): Promise<Result> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    const answer = (await response.json()) as { result?: Result; error?: { message: string } };
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result as Result;
  };
}

async function waitUntilReady(server: ServerProcess, rpc: Rpc): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await rpc('eth_chainId');
      return;
    } catch {
      if (server.hasEnded() || performance.now() > deadline) {
        throw new SetupError(`anvil did not start: ${server.output().trim().slice(-500)}`);
      }
      await sleep(20);
    }
  }
}
