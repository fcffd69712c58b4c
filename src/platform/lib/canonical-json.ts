/**
 * JSON as text that is the same wherever it is computed: RFC 8785, whose numbers and strings are those of
 * JSON.stringify, and whose members are sorted by UTF-16 code units, as Array.sort does.
 */
import { createHash } from 'node:crypto';

/** The canonical text of a value. @param value as JSON.parse returns it */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${canonicalJson(one)}`).join(',')}}`;
}

/** The SHA-256 of the parts, one after the other. */
export function sha256(...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}
