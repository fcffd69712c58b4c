import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { choosePorts, findFreePort, type PortName } from '../../../src/dev/ports';

const NONE: ReadonlySet<PortName> = new Set();
const VARIABLES = [
  ...['PORT', 'SANDBOX_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'POSTGRES_PORT'],
  ...['CHAIN_PORT', 'WALLET_PORT'],
];
const held: Server[] = [];

afterEach(() => {
  for (const server of held.splice(0)) server.close();
});

test('the ports of the environment are used', async () => {
  const env = await freeEnvironment();
  const ports = await choosePorts(env, NONE);
  expect(Object.values(ports).map(String)).toEqual(Object.values(env));
});

test.each(VARIABLES)(
  'a port of %s that is in use is rejected, and the error names both',
  async (variable) => {
    const env = await freeEnvironment();
    await hold(env[variable]!);
    await expect(choosePorts(env, NONE)).rejects.toThrow(
      new RegExp(`^Port ${env[variable]!} for .+ is in use .+ set ${variable} `),
    );
  },
);

test('the same port for two parts is rejected', async () => {
  const env = await freeEnvironment();
  const twice = { ...env, SANDBOX_PORT: env['PORT'] };
  await expect(choosePorts(twice, NONE)).rejects.toThrow(
    /for the sandbox is already assigned to the API/,
  );
});

test.each(['abc', '0', '65536', '-1', '80.5'])('PORT=%s is rejected', async (text) => {
  await expect(choosePorts({ PORT: text }, NONE)).rejects.toThrow(`PORT=${text} is not a port`);
});

test('the port of a part that does not start here may be in use', async () => {
  const env = await freeEnvironment();
  await hold(env['POSTGRES_PORT']!);
  await expect(choosePorts(env, new Set<PortName>(['postgres']))).resolves.toBeDefined();
});

test('a free port is given once, also when many are looked for at the same time', async () => {
  const ports = await Promise.all(Array.from({ length: 1_500 }, () => findFreePort()));
  expect(new Set(ports).size).toBe(ports.length);
});

test('a free port is never one that is meant for another server', async () => {
  const avoided = new Set(Array.from({ length: 7_500 }, (_, index) => 15_000 + 2 * index));
  for (let times = 0; times < 100; times += 1) {
    expect(avoided.has(await findFreePort(avoided))).toBe(false);
  }
});

async function freeEnvironment(): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const name of VARIABLES) env[name] = String(await findFreePort());
  return env;
}

async function hold(port: string): Promise<void> {
  const server = createServer();
  held.push(server);
  server.listen(Number(port), '127.0.0.1');
  await once(server, 'listening');
}
