/**
 * Stands between the gateway's processes and PostgreSQL and counts what passes: statements, and the
 * round trips that the clients wait for. It reads the frontend/backend protocol, version 3.0: each
 * message has a type, a length and a body.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Counts {
  statements: number;
  /** Statements that are sent together (pipelined) share one. */
  roundTrips: number;
  /** Statement → how often it ran. */
  texts: Map<string, number>;
}

export interface CountingProxy {
  port: number;
  /** What was counted since the last call. */
  take(): Counts;
  /** When a counted message last passed, by performance.now(). */
  lastAt(): number;
  stop(): Promise<void>;
}

/** Once for each connection (knex), for batches of requests and every ten seconds in the background, once a minute, and for readiness. */
const NOT_COUNTED = [
  /^select version\(\)/i,
  /^SELECT write_request_log\(/,
  /^INSERT INTO provider_calls /,
  /^SELECT clock_timestamp\(\) AS now$/,
  /to_regclass|schema_migrations/,
  /^SHOW statement_timeout$/,
  /^SELECT FROM pg_database/,
];

export async function startCountingProxy(databaseUrl: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(databaseUrl);
  let counts = noCounts();
  let lastAt = performance.now();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port), noDelay: true });
    client.setNoDelay(true);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.end();
      });
    }
    const session = new Session((text, isNewTrip) => {
      lastAt = performance.now();
      if (NOT_COUNTED.some((pattern) => pattern.test(text))) return;
      counts.statements += 1;
      counts.roundTrips += isNewTrip ? 1 : 0;
      counts.texts.set(text, (counts.texts.get(text) ?? 0) + 1);
    });
    const fromClient = new Messages(false, (type, body) => session.fromClient(type, body));
    const fromServer = new Messages(true, (type) => session.fromServer(type));
    client.on('data', (chunk: Buffer) => {
      fromClient.take(chunk);
      upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => {
      fromServer.take(chunk);
      client.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    take: () => {
      const taken = counts;
      counts = noCounts();
      return taken;
    },
    lastAt: () => lastAt,
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

function noCounts(): Counts {
  return { statements: 0, roundTrips: 0, texts: new Map() };
}

/** What one connection has prepared, and how many responses it waits for. */
class Session {
  readonly #count: (text: string, isNewTrip: boolean) => void;
  readonly #statements = new Map<string, string>();
  readonly #portals = new Map<string, string>();
  #waitingFor = 0;
  #isNewTrip = true;

  constructor(count: (text: string, isNewTrip: boolean) => void) {
    this.#count = count;
  }

  fromClient(type: string, body: Buffer): void {
    switch (type) {
      case 'P': {
        const [name, text] = strings(body);
        this.#statements.set(name, text);
        return;
      }
      case 'B': {
        const [portal, name] = strings(body);
        this.#portals.set(portal, this.#statements.get(name) ?? name);
        return;
      }
      case 'E':
        this.#execute(this.#portals.get(strings(body)[0]) ?? '');
        return;
      case 'Q':
        this.#execute(strings(body)[0]);
        this.#sync();
        return;
      case 'S':
        this.#sync();
    }
  }

  fromServer(type: string): void {
    // ReadyForQuery; the first one ends the log-in.
    if (type !== 'Z' || this.#waitingFor === 0) return;
    this.#waitingFor -= 1;
    this.#isNewTrip = this.#waitingFor === 0;
  }

  #execute(text: string): void {
    this.#count(text.replace(/\s+/g, ' ').trim(), this.#isNewTrip);
    this.#isNewTrip = false;
  }

  #sync(): void {
    this.#waitingFor += 1;
  }
}

/** The first two strings of a message. */
function strings(body: Buffer): [string, string] {
  const end = body.indexOf(0);
  const nextEnd = body.indexOf(0, end + 1);
  return [body.toString('utf8', 0, end), body.toString('utf8', end + 1, nextEnd)];
}

/** Cuts a stream into messages. */
class Messages {
  readonly #take: (type: string, body: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);
  /** The client's first message has no type. */
  #isStarted: boolean;

  constructor(isStarted: boolean, take: (type: string, body: Buffer) => void) {
    this.#isStarted = isStarted;
    this.#take = take;
  }

  take(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const head = this.#isStarted ? 1 : 0;
      if (this.#rest.length < head + 4) return;
      const end = head + this.#rest.readUInt32BE(head);
      if (this.#rest.length < end) return;
      const type = head === 0 ? '' : String.fromCharCode(this.#rest[0] ?? 0);
      this.#take(type, this.#rest.subarray(head + 4, end));
      this.#rest = this.#rest.subarray(end);
      this.#isStarted = true;
    }
  }
}
