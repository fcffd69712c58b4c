/** Compares two secrets in a time that tells nothing of where they differ. */
import { createHash, timingSafeEqual } from 'node:crypto';

export function isSameSecret(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
