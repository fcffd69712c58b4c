/**
 * Connections on which nothing comes back although nobody closed them: a firewall that forgot them, a
 * cable that was pulled. A statement without an answer gives its connection up, which must not go back to
 * the pool; and what was idle since before then is not used again either.
 */
import { isReadTimeout } from '../lib/unavailable';

/** The server's timeout comes first, if the connection is alive. */
export const ANSWER_GRACE_MS = 3_000;

/** A client of the driver. */
interface DriverConnection {
  connection: { stream: { destroy(): unknown } };
}

/** Of the connections of one pool. */
export class Silence {
  /** When the last statement without an answer was sent. */
  #since = 0;
  readonly #answeredAt = new WeakMap<object, number>();

  answered(connection: object): void {
    this.#answeredAt.set(connection, performance.now());
  }

  failed(connection: object, error: unknown, sentAt: number): void {
    if (!isReadTimeout(error)) return;
    this.#since = Math.max(this.#since, sentAt);
    cut(connection);
  }

  /** Of an idle connection. False: its last answer is older than the silence of another one. */
  keeps(connection: object): boolean {
    const isTrusted = !isDead(connection) && (this.#answeredAt.get(connection) ?? 0) >= this.#since;
    // Nobody would read a farewell.
    if (!isTrusted) cut(connection);
    return isTrusted;
  }
}

const dead = new WeakSet();

/** Nothing can be sent on it any more. */
export function isDead(connection: object): boolean {
  return dead.has(connection);
}

function cut(connection: object): void {
  dead.add(connection);
  (connection as DriverConnection).connection.stream.destroy();
}

const silenceOf = new WeakMap<object, Silence>();

export function watch(connection: object, silence: Silence): void {
  silence.answered(connection);
  silenceOf.set(connection, silence);
}

/** Runs a statement of the connection; the pool then knows whether it is alive. */
export async function observed<T>(connection: object, run: () => Promise<T>): Promise<T> {
  const silence = silenceOf.get(connection);
  const sentAt = performance.now();
  try {
    const result = await run();
    silence?.answered(connection);
    return result;
  } catch (error) {
    silence?.failed(connection, error, sentAt);
    throw error;
  }
}
