/** A connection that is replaced below the clients that use it. */
export interface Replaceable<Connection> {
  /** Forwards every access to the current connection. */
  connection: Connection;
  current(): Connection;
  replace(next: Connection): void;
}

export function replaceable<Connection extends object>(first: Connection): Replaceable<Connection> {
  let current = first;
  const connection = new Proxy(first, {
    get: (_first, name) => {
      const value: unknown = Reflect.get(current, name, current);
      return typeof value === 'function' ? (value.bind(current) as unknown) : value;
    },
  });
  return {
    connection,
    current: () => current,
    replace: (next) => {
      current = next;
    },
  };
}

/** A call or a poll that started on a replaced connection has ended after this time. */
export const REPLACED_CLOSES_AFTER_MS = 90_000;
