/**
 * The two ways an operator's request can be turned down. The admin command ends with exit code 1
 * or 2; neither is ever shown to a merchant, so they are not in domain/errors.ts.
 */

/** The request is well formed and cannot be done as things stand. */
export class AdminRefusal extends Error {}

/** A value that can never be right. The message is the sentence's end: `1e3 is not an amount`. */
export class InvalidInput extends Error {
  /** The option or field that holds it, in kebab-case: `min-fee`. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }

  /** For a terminal. */
  get sentence(): string {
    return `--${this.field} ${this.message}`;
  }
}
