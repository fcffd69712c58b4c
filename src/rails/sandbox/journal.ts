/**
 * An append-only file of JSON lines that survives kill -9: `flushed` resolves only when every
 * line appended so far is on the disk, and the book lets nobody see a line before. Lines that
 * arrive while a write is under way share the next one.
 */
import { appendFile, mkdir, open, readFile, truncate, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

export interface Journal {
  append(line: unknown): void;
  flushed(): Promise<void>;
  close(): Promise<void>;
}

export const MEMORY_ONLY: Journal = {
  append: () => undefined,
  flushed: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

const FILE_NAME = 'book.jsonl';

/** Calls `replay` with each line that the file holds, oldest first. */
export async function openJournal(
  dataDir: string,
  replay: (line: unknown) => void,
): Promise<Journal> {
  await mkdir(dataDir, { recursive: true });
  const path = join(dataDir, FILE_NAME);
  const text = await readWholeLines(path);
  for (const line of text.split('\n')) if (line !== '') replay(JSON.parse(line));
  return new FileJournal(await open(path, 'a'));
}

/**
 * A line without its end was being written when the process died. Nobody was answered on its
 * strength, so it is cut off.
 */
async function readWholeLines(path: string): Promise<string> {
  // Made here when it is new, so that any failure to read it is a real one.
  await appendFile(path, '');
  const bytes = await readFile(path);
  const whole = bytes.lastIndexOf(0x0a) + 1;
  if (whole < bytes.length) await truncate(path, whole);
  return bytes.toString('utf8', 0, whole);
}

class FileJournal implements Journal {
  private waiting: string[] = [];
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly file: FileHandle) {}

  append(line: unknown): void {
    this.waiting.push(`${JSON.stringify(line)}\n`);
    if (this.waiting.length > 1) return;
    // A failed write rejects everything after it: a book that cannot be kept must not go on.
    this.writing = this.writing.then(() => this.writeWaiting());
  }

  flushed(): Promise<void> {
    return this.writing;
  }

  async close(): Promise<void> {
    await this.flushed();
    await this.file.close();
  }

  private async writeWaiting(): Promise<void> {
    const text = this.waiting.splice(0).join('');
    await this.file.appendFile(text);
    await this.file.datasync();
  }
}
