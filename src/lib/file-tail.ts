/**
 * The end of a log file, for an error message that has to show what a program said.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

const TAIL_BYTES_MAX = 16_384;

/** Gives up to `lines` last lines, oldest first; an unreadable file gives an empty text. */
export function tailOf(path: string, lines: number): string {
  return readLogFrom(path, 0).trimEnd().split('\n').slice(-lines).join('\n');
}

/** What was written from this byte on; the last 16 KiB of it when it is more. */
export function readLogFrom(path: string, startByte: number): string {
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

/** The file's size in bytes, 0 when there is none: where the next lines will be. */
export function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}
