/** Options that the lists share, and metadata. */
import type { Values } from './command';
import { UsageError } from './failure';

export const LIMIT = {
  limit: { value: '<number>', help: 'at most so many (default: 20)' },
} as const;

export const CREATED = {
  'created-from': { value: '<time>', help: 'not before, such as 2026-11-01' },
  'created-to': { value: '<time>', help: 'not after' },
} as const;

export const LIST_OPTIONS = {
  status: { value: '<statuses>', help: 'only with these, separated by commas' },
  reference: { value: '<text>', help: 'only with this reference' },
  currency: { value: '<code>', help: 'only in this currency' },
  ...CREATED,
  ...LIMIT,
} as const;

const PAGE_MAX = 100;
const LIMIT_DEFAULT = 20;

export function listQuery(values: Values) {
  return {
    status: values.text('status'),
    reference: values.text('reference'),
    currency: values.text('currency'),
    ...pageQuery(values),
  };
}

export function pageQuery(values: Values) {
  return {
    created_from: values.text('created-from'),
    created_to: values.text('created-to'),
    limit: Math.min(values.count('limit', LIMIT_DEFAULT), PAGE_MAX),
  };
}

/** The first ones, up to --limit. */
export async function take<Item>(list: AsyncIterable<Item>, values: Values): Promise<Item[]> {
  const wanted = values.count('limit', LIMIT_DEFAULT);
  const taken: Item[] = [];
  for await (const item of list) {
    taken.push(item);
    if (taken.length === wanted) break;
  }
  return taken;
}

export const METADATA = {
  metadata: { value: '<name=value>', help: 'stored with the object', many: true },
} as const;

/** @throws UsageError */
export function metadataOf(values: Values): Record<string, string> | undefined {
  const pairs = values.texts('metadata').map((text): [string, string] => {
    const at = text.indexOf('=');
    if (at < 1) throw new UsageError('--metadata must be a name and a value, such as order=1001.');
    return [text.slice(0, at), text.slice(at + 1)];
  });
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}
