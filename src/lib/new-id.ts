/** Generates ids (decision W3). They increase within a process, even if the clock is set back. */
import { monotonicFactory } from 'ulid';
import { ID_PREFIXES, type IdKind } from '../domain/ids';

const nextUlid = monotonicFactory();

export function newId(kind: IdKind): string {
  return ID_PREFIXES[kind] + nextUlid();
}
