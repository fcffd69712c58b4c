/**
 * What a child of `npm start` writes: all of it goes to its log file, warnings and errors also to
 * the terminal.
 */
import { createWriteStream, existsSync, renameSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { LogLine } from '../lib/log-line';

const LOG_BYTES_MAX = 10_000_000;
const PINO_WARN = 40;
const PINO_ERROR = 50;
/** A child in trouble must not bury the terminal. */
const ECHO_WINDOW_MS = 10_000;
const ECHO_LINES_MAX = 20;

export interface ChildLog {
  /** Takes over both streams of one run of the child. */
  follow: (stdout: Readable | null, stderr: Readable | null) => void;
  /** From now on nothing goes to the terminal any more, only to the file. */
  quiet: () => void;
}

/** Opens the log for appending; a file that grew too long is put aside as `.old` first. */
export function openChildLog(name: string, path: string, print: LogLine): ChildLog {
  if (existsSync(path) && statSync(path).size > LOG_BYTES_MAX) renameSync(path, `${path}.old`);
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
  const echo = limitLines((text) => print(`${name} | ${text}`), path);
  let quiet = false;
  const followStream = (stream: Readable | null, isErrors: boolean): void => {
    if (stream === null) return;
    createInterface({ input: stream }).on('line', (line) => {
      file.write(`${line}\n`);
      const text = quiet ? null : textForTerminal(line, isErrors);
      if (text !== null) echo(text);
    });
  };
  return {
    follow: (stdout, stderr) => {
      followStream(stdout, false);
      followStream(stderr, true);
    },
    quiet: () => (quiet = true),
  };
}

/** The line in short when a person should see it, else null. */
function textForTerminal(line: string, isErrors: boolean): string | null {
  const entry = parsePinoLine(line);
  if (entry === null) {
    const chatter = /\[(INFO|DEBUG|TRACE)\]/.test(line) || line.trim() === '';
    return isErrors && !chatter ? line : null;
  }
  if (entry.level < PINO_WARN) return null;
  const level = entry.level >= PINO_ERROR ? 'error' : 'warning';
  const cause = entry.err?.message === undefined ? '' : `: ${entry.err.message}`;
  return `${level}: ${entry.msg ?? ''}${cause}`;
}

interface PinoLine {
  level: number;
  msg?: string;
  err?: { message?: string };
}

function parsePinoLine(line: string): PinoLine | null {
  if (!line.startsWith('{')) return null;
  try {
    const value = JSON.parse(line) as Partial<PinoLine>;
    return typeof value.level === 'number' ? (value as PinoLine) : null;
  } catch {
    return null;
  }
}

function limitLines(print: LogLine, path: string): LogLine {
  let windowStart = 0;
  let lines = 0;
  return (line) => {
    if (Date.now() - windowStart > ECHO_WINDOW_MS) {
      windowStart = Date.now();
      lines = 0;
    }
    lines += 1;
    if (lines <= ECHO_LINES_MAX) print(line);
    if (lines === ECHO_LINES_MAX) print(`… more in ${path}`);
  };
}
