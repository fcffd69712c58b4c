/**
 * A server program (PostgreSQL, Temporal) as a process that writes to a log file, and the end of
 * such a file for an error message.
 */
import { spawn, type SpawnOptions } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { SetupError } from '../platform/lib/setup-error';

const TAIL_BYTES_MAX = 16_384;

export interface ServerProcess {
  pid: number;
  hasEnded: () => boolean;
  /** The end of what this process has written to its log. */
  output: () => string;
}

/** @throws SetupError when the program cannot be started */
export function spawnServer(
  program: string,
  args: readonly string[],
  { logFile, ...options }: SpawnOptions & { logFile: string },
): ServerProcess {
  const logFd = openSync(logFile, 'a', 0o600);
  const logStart = fstatSync(logFd).size;
  try {
    const server = spawn(program, args, {
      ...options,
      // The server has a process group of its own, because Ctrl-C in the terminal must reach only the
      // supervisor, which stops everything in order.
      detached: true,
      stdio: ['ignore', logFd, logFd],
    });
    server.on('error', () => undefined);
    server.unref();
    const { pid } = server;
    if (pid === undefined) throw new SetupError(`${program} could not be started.`);
    return {
      pid,
      hasEnded: () => server.exitCode !== null || server.signalCode !== null,
      output: () => readEnd(logFile, logStart),
    };
  } finally {
    closeSync(logFd);
  }
}

/** The last lines of a log file, oldest first; empty when the file cannot be read. */
export function lastLines(path: string, count: number): string {
  return readEnd(path, 0).trimEnd().split('\n').slice(-count).join('\n');
}

/** The content of the file from this byte on, or the last 16 KiB of it. */
function readEnd(path: string, startByte: number): string {
  try {
    const fd = openSync(path, 'r');
    try {
      const size = fstatSync(fd).size;
      const buffer = Buffer.alloc(Math.max(0, Math.min(size - startByte, TAIL_BYTES_MAX)));
      readSync(fd, buffer, 0, buffer.length, size - buffer.length);
      return buffer.toString('utf8');
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}
