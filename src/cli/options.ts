/** The options of a command line as a verb reads them; each error names the option. */
import { parseIsoTime } from '../domain/iso-time';
import { UsageError } from '../lib/command-line';

export class Options {
  readonly #values: Readonly<Record<string, string | boolean | undefined>>;

  constructor(values: Readonly<Record<string, string | boolean | undefined>>) {
    this.#values = values;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    if (typeof value !== 'string') return undefined;
    const text = value.trim();
    if (text === '') throw new UsageError(`--${name} is empty: give it a value, or leave it out.`);
    return text;
  }

  /** @param what what to write, for the sentence: `a currency such as USDT` */
  required(name: string, what: string): string {
    const text = this.text(name);
    if (text === undefined) throw new UsageError(`--${name} is missing: ${what}.`);
    return text;
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const text = this.text(name);
    const value = values.find((candidate) => candidate === text);
    if (text !== undefined && value === undefined) {
      throw new UsageError(`--${name} ${text} does not exist: it is ${values.join(' or ')}.`);
    }
    return value;
  }

  requiredOneOf<T extends string>(name: string, values: readonly T[]): T {
    this.required(name, `it is ${values.join(' or ')}`);
    return this.oneOf(name, values) as T;
  }

  onOff(name: string): boolean | undefined {
    const value = this.oneOf(name, ['on', 'off']);
    return value === undefined ? undefined : value === 'on';
  }

  /** The parts between commas. */
  list(name: string): string[] | undefined {
    return this.text(name)
      ?.split(',')
      .map((part) => part.trim());
  }

  whole(name: string, min: number, max: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = /^[0-9]{1,9}$/.test(text) ? Number(text) : NaN;
    if (number >= min && number <= max) return number;
    throw new UsageError(
      `--${name} ${text} is not possible: a whole number from ${min} to ${max}.`,
    );
  }

  /** ISO 8601 with a zone; a bare date is its first moment in UTC. */
  time(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const time = parseIsoTime(text, 'from');
    if (time !== null) return time;
    throw new UsageError(
      `--${name} ${text} is no time: write 2027-01-01 or 2027-01-01T12:00:00Z, with a zone.`,
    );
  }

  date(name: string): Date | undefined {
    const time = this.time(name);
    return time === undefined ? undefined : new Date(time);
  }
}
