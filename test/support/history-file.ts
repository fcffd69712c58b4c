/** Histories of workflows as files: one event a line, so that a person can read and compare them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';

type History = Parameters<typeof historyToJSON>[0];

export function writeHistory(folder: string, name: string, history: History): void {
  const { events } = JSON.parse(historyToJSON(history)) as { events: object[] };
  mkdirSync(folder, { recursive: true });
  const lines = events.map((event) => JSON.stringify(event)).join(',\n');
  writeFileSync(join(folder, `${name}.json`), `{"events":[\n${lines}\n]}\n`);
}
