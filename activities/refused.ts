import type { Refusal } from '../src/domain/errors';

/** Rolls the transaction back with a refusal. The module that throws it also catches it. */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.code);
  }
}
