/**
 * argon2 at its least cost, which the tests that sign people in take in its place (jest.config.js): a check costs what
 * the stored hash says. test/unit/people/passwords.test.ts has the cost of production.
 */
import type { hash as hashFunction, Options, verify as verifyFunction } from '@node-rs/argon2';

const { hash: real, verify } = jest.requireActual<{
  hash: typeof hashFunction;
  verify: typeof verifyFunction;
}>('../../node_modules/@node-rs/argon2/index.js');

const hash = (password: string, options: Options) =>
  real(password, { ...options, memoryCost: 8, timeCost: 1 });

export { hash, verify };
