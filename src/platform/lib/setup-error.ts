/** An error that the user can fix: programs print its message without a stack trace. */
export class SetupError extends Error {}

/** One message that lists everything that is missing or invalid. */
export function invalidEnvironment(faults: readonly string[]): SetupError {
  return new SetupError(
    `The environment is invalid:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
  );
}
