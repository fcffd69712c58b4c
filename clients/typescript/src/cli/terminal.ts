/** Questions to the person at the terminal. They go to standard error; answers come from standard input. */
import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { UsageError } from './failure';

export interface Terminal {
  ask(question: string): Promise<string>;
  /** The answer is not shown while it is typed. */
  askHidden(question: string): Promise<string>;
  close(): void;
}

/** One terminal for all questions of a run: lines that arrive early wait for their question. */
export function openTerminal(signal: AbortSignal): Terminal {
  let isHidden = false;
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (!isHidden) process.stderr.write(chunk);
      done();
    },
  });
  const terminal = process.stdin.isTTY;
  const reader = createInterface({ input: process.stdin, output, terminal, historySize: 0 });
  // While it is read, the terminal sends Ctrl-C as a character.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const lines = reader[Symbol.asyncIterator]();

  async function ask(question: string, hide: boolean): Promise<string> {
    isHidden = false;
    reader.setPrompt(question);
    reader.prompt();
    isHidden = hide;
    const answer = await Promise.race([lines.next(), ended(reader, signal)]);
    // The line end that was typed is not shown, or was no part of a terminal's input.
    if (hide || !terminal) process.stderr.write('\n');
    if (answer.done === true) throw new UsageError('The input has ended before the answer.');
    return answer.value.trim();
  }

  return {
    ask: (question) => ask(question, false),
    askHidden: (question) => ask(question, true),
    close: () => reader.close(),
  };
}

function ended(reader: Interface, signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => {
      // Before the end of the lines, which would be taken for the end of the input.
      reject(signal.reason as Error);
      reader.close();
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
