/** An error that the user can fix: programs print its message without a stack trace. */
export class SetupError extends Error {}
