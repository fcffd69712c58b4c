/** Generates ids (decisions/api#ids). They increase within a process, even if the clock is set back. */
import { randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulid';
import { ID_PREFIXES, type IdKind } from '../../domain/ids';

/**
 * Random bytes are drawn together, because a call for each character would cost more than the rest of
 * an id.
 */
const drawn = new Uint8Array(4_096);
let used = drawn.length;

/** A character has five bits, so 8 random bits are enough for it. */
function random(): number {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  return (drawn[used++] ?? 0) / 256;
}

const nextUlid = monotonicFactory(random);

/** A new id of this kind; later ids sort after it. */
export function newId(kind: IdKind): string {
  return ID_PREFIXES[kind] + nextUlid();
}
