/**
 * How much a test does: `npm test` takes the normal figure, `npm run test:long` the long one
 * (more random cases, longer races, bigger tables) with the same test code.
 */
export function scaled<T>(normal: T, long: T): T {
  return process.env['TEST_SCALE'] === 'long' ? long : normal;
}
