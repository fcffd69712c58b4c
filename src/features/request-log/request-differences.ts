/** What differs between two requests with the same Idempotency-Key, for the page of the second one. */
import type { LoggedRequest } from '../../db/request-log/request-log';

/** Values as JSON, shortened; null if the request does not have the field. */
export interface FieldDifference {
  /** Such as `destination.value`. */
  field: string;
  first: string | null;
  second: string | null;
}

export interface ReusedKey {
  /** The request that used the key before. */
  first: Pick<LoggedRequest, 'id' | 'method' | 'path' | 'at'>;
  /** Null if a stored body was shortened, so the bodies cannot be compared. */
  differences: FieldDifference[] | null;
}

const DIFFERENCES_MAX = 20;
const VALUE_LENGTH_MAX = 200;

/** Compares the two requests as they are stored, which means redacted. */
export function compareRequests(first: LoggedRequest, second: LoggedRequest): ReusedKey {
  const [before, after] = [fieldsOf(first.requestBody), fieldsOf(second.requestBody)];
  if (before === null || after === null) return { first, differences: null };
  if (first.path !== second.path) {
    before.set('Path', first.path);
    after.set('Path', second.path);
  }
  const differences = [...new Set([...before.keys(), ...after.keys()])]
    .filter((field) => before.get(field) !== after.get(field))
    .slice(0, DIFFERENCES_MAX)
    .map((field) => ({ field, first: shown(before, field), second: shown(after, field) }));
  return { first, differences };
}

function shown(fields: Map<string, string>, field: string): string | null {
  return fields.get(field)?.slice(0, VALUE_LENGTH_MAX) ?? null;
}

/** The values by their place; null means no JSON. */
function fieldsOf(body: string | null): Map<string, string> | null {
  const fields = new Map<string, string>();
  try {
    collect(JSON.parse(body ?? '{}'), '', fields);
  } catch {
    return null;
  }
  return fields;
}

function collect(value: unknown, place: string, fields: Map<string, string>): void {
  if (typeof value !== 'object' || value === null) {
    fields.set(place, JSON.stringify(value));
    return;
  }
  for (const [name, part] of Object.entries(value)) {
    collect(part, place === '' ? name : `${place}.${name}`, fields);
  }
}
