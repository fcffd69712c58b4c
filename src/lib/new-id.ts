/** Makes ids (decision W3). Within one process they never go back, also when the clock does. */
import { monotonicFactory } from 'ulid';
import { ID_PREFIXES, type IdKind } from '../domain/ids';

const nextUlid = monotonicFactory();

export function newId(kind: IdKind): string {
  return ID_PREFIXES[kind] + nextUlid();
}
