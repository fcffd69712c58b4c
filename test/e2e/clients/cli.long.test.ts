/** `payments-gateway`, the command for merchants: questions at a terminal, what is followed, and what is refused. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { GatewayClient } from '../../../clients/typescript/src';
import { TRIGGERS } from '../../../clients/typescript/src/cli/triggers';
import { acceptedPayout, openMerchant, whenFinal } from '../../support/payout/payout-steps';
import { randomKey } from '../../support/merchant/merchant-client';
import { scaled } from '../../support/scale';
import { faultOf, startReceiver } from '../../support/webhook/webhook-receiver';
import { waitThroughFaults } from '../../support/wait-for';
import { fails, PAYOUT, payoutOptions, settingsOf, useCommand } from './command';

const { gateway, project, run, newUser, atTerminal } = useCommand();

/** A server that takes requests and never answers. */
async function startSilentServer() {
  const server = createServer();
  const taken = once(server, 'request').then(([request]) => request as IncomingMessage);
  server.unref().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, taken, stop };
}

const ASKS = /API key \(it is not shown\): /;

describe('login', () => {
  test.concurrent('a key that the gateway refuses is not stored', async () => {
    const user = newUser();
    const args = ['login', '--base-url', gateway.baseUrl];
    const refused = await run(args, user.env, 'sk_test_x\n');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(/error: The API key is invalid, expired or revoked. Use an active/);
    expect(refused.err).toMatch(/ {2}code +invalid_api_key\n/);
    expect(refused.err).toMatch(/ {2}help +http\S+\/docs\/errors\/invalid_api_key\n/);
    expect(refused.err).toMatch(/ {2}request id +req_\w+\n/);
    const asJson = await run([...args, '--json'], user.env, 'sk_test_x\n');
    expect(JSON.parse(asJson.err.split('\n').at(-2)!)).toMatchObject({
      error: { code: 'invalid_api_key', request_id: expect.stringMatching(/^req_/) },
    });
    expect(() => statSync(user.file)).toThrow('ENOENT');
  });

  test.concurrent('a key that is typed at a terminal is not shown', async () => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    const user = newUser();
    const login = ['login', '--base-url', gateway.baseUrl];
    const typed = `${client.apiKey.slice(0, -1)}xx\x7f\x7f${client.apiKey.slice(-1)}\r`;
    const { code, text } = await atTerminal(login, user.env, ASKS, typed);
    expect(code).toBe(0);
    expect(text).toContain('Logged in to');
    expect(text).not.toContain(client.apiKey.slice(8, 20));
    expect(readFileSync(user.file, 'utf8')).toContain(client.apiKey);
  });

  test.concurrent('Ctrl-C at the question ends it with 130 and stores nothing', async () => {
    const user = newUser();
    const login = ['login', '--base-url', gateway.baseUrl];
    const { code } = await atTerminal(login, user.env, ASKS, 'sk_test_\x03');
    expect(code).toBe(130);
    expect(() => statSync(user.file)).toThrow('ENOENT');
  });
});

describe('profiles', () => {
  test.concurrent('options come before the environment, and it before the profile', async () => {
    const [stored, set, given] = await Promise.all(
      ['1', '2', '3'].map((USDT) => openMerchant(gateway, { mode: 'test', funds: { USDT } })),
    );
    const user = newUser();
    await run(['login', '--base-url', gateway.baseUrl], user.env, stored!.client.apiKey);
    const env = { ...user.env, ...settingsOf(set!.client) };
    const available = async (args: string[], settings: NodeJS.ProcessEnv) => {
      const { out } = await run(['balance', '--json', ...args], settings);
      const { balances } = JSON.parse(out) as { balances: { available: string }[] };
      return balances[0]!.available;
    };
    expect(await available([], user.env)).toBe('1.00000000');
    expect(await available([], env)).toBe('2.00000000');
    expect(await available(['--key', given!.client.apiKey], env)).toBe('3.00000000');
    expect(await available(['--profile', 'default'], env)).toBe('1.00000000');
  });

  test.concurrent.each([
    [
      'not JSON',
      (file: string) => writeFileSync(file, '{', { mode: 0o600 }),
      /is not a file of profiles/,
    ],
    [
      'of another form',
      (file: string) => writeFileSync(file, '{"default":null}', { mode: 0o600 }),
      /is not a file of profiles/,
    ],
    ['unreadable', (file: string) => mkdirSync(file, { mode: 0o700 }), /cannot be read: EISDIR/],
    [
      'readable by others',
      (file: string) => writeFileSync(file, '{}', { mode: 0o644 }),
      /Other users can read.*\nRun: chmod 600/,
    ],
  ])(
    'a file of profiles that is %s is refused, and what to do is said',
    async (_name, make, message) => {
      const user = newUser();
      mkdirSync(user.folder);
      make(user.file);
      const refused = await run(['balance'], user.env);
      expect(refused).toMatchObject(fails(2, message));
      // It is not needed where key and base URL are given.
      const given = ['--key', 'sk_test_x', '--base-url', gateway.baseUrl];
      expect(await run(['balance', ...given], user.env)).toMatchObject({ code: 1 });
    },
  );
});

test.concurrent('without an answer of a gateway it exits with 3', async () => {
  const env = { GATEWAY_API_KEY: 'sk_test_x', GATEWAY_BASE_URL: 'http://127.0.0.1:9/api/v1' };
  const down = await run(['balance'], env);
  expect(down).toMatchObject({ code: 3, out: '' });
  expect(down.err).toMatch(/The gateway at \S+ cannot be reached/);
  const asJson = await run(['balance', '--json'], env);
  expect(JSON.parse(asJson.err)).toMatchObject({ error: { code: 'no_answer' } });
});

test.concurrent('every command has help with options and examples', async () => {
  const all = await run(['--help']);
  const [, list = ''] = /Commands:\n([\s\S]*?)\n\n/.exec(all.out)!;
  const names = list.split('\n').map((line) => line.trim().replace(/ {2}.*| <.*/, ''));
  expect(names).toContain('payouts create');
  for (const name of names) {
    const { code, out } = await run([...name.split(' '), '--help']);
    expect(code).toBe(0);
    expect(out).toMatch(/^Usage: payments-gateway [\s\S]*Options:\n[\s\S]*Examples:\n/);
  }
});

describe('payments-gateway listen', () => {
  test.concurrent(
    'events reach a receiver once each and signed, over its outage and over restarts',
    async () => {
      const { client } = await openMerchant(gateway, { mode: 'test' });
      await whenFinal(client, await acceptedPayout(client));
      const receiver = await startReceiver(500);
      const args = ['listen', '--forward-to', receiver.url, '--cursor-file', `${randomKey()}.json`];
      const env = { GATEWAY_API_KEY: client.apiKey, GATEWAY_BASE_URL: client.baseUrl };
      const first = project.start([...args, '--events', 'payout.requested,payout.completed'], env);
      const [, secret = ''] = await first.whenPrinted(/Signing secret: (whsec_\S+)/);
      await waitThroughFaults('the cursor', async () => {
        readFileSync(join(project.folder, args.at(-1)!));
        return true;
      });
      const one = await acceptedPayout(client);
      await first.whenPrinted(new RegExp(`payout.requested ${one} evt_\\w+ 500 \\d+ ms, retrying`));
      receiver.answer = 200;
      await first.whenPrinted(new RegExp(`payout.completed ${one} evt_\\w+ 200 \\d+ ms\n`));
      expect(await first.stop()).toBe(0);
      const taken = () => receiver.received.filter((each) => faultOf(each, secret) === null);
      expect(taken()).toHaveLength(receiver.received.length);

      const two = await acceptedPayout(client);
      await whenFinal(client, two);
      const before = receiver.received.length;
      const again = project.start([...args, '--secret', secret], env);
      await again.whenPrinted(new RegExp(`payout.completed ${two} evt_\\w+ 200`));
      expect(await again.stop('SIGTERM')).toBe(0);
      const since = receiver.received.slice(before).map(({ event }) => [event.data.id, event.type]);
      expect(since).toEqual(
        ['requested', 'approved', 'processing', 'completed'].map((status) => [
          two,
          `payout.${status}`,
        ]),
      );
      expect(taken()).toHaveLength(receiver.received.length);
      await receiver.stop();
    },
  );

  test.concurrent(
    'a cursor file of another account, and one that is none, are refused',
    async () => {
      const { client } = await openMerchant(gateway, { mode: 'test' });
      const env = { GATEWAY_API_KEY: client.apiKey, GATEWAY_BASE_URL: client.baseUrl };
      const listen = async (place: string) => {
        writeFileSync(join(project.folder, 'place.json'), place);
        const args = ['--forward-to', 'http://localhost:1', '--cursor-file', 'place.json'];
        const { ended, output } = project.start(['listen', ...args], env);
        return [await ended, output.text];
      };
      expect(await listen('{"after":"evt_01M7YESA634WQFACSBWYSTKM76"}')).toEqual([
        2,
        expect.stringMatching(/place.json belongs to another account or mode/),
      ]);
      expect(await listen('x')).toEqual([
        2,
        expect.stringMatching(/place.json is not a cursor file/),
      ]);
    },
  );
});

describe('payments, payouts and events', () => {
  test.concurrent('a refused payout names each field', async () => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    const wrong = payoutOptions({ amount: '-5', destination: 'nowhere' });
    const refused = await run(['payouts', 'create', ...wrong], settingsOf(client));
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(/code +validation_failed\n +amount +\S.*\n/);
  });

  test.concurrent('Ctrl-C while a payout is sent names the key as well', async () => {
    const { url, taken, stop } = await startSilentServer();
    const env = { GATEWAY_API_KEY: 'sk_test_x', GATEWAY_BASE_URL: `${url}/api/v1` };
    const lost = project.start(['payouts', 'create', ...PAYOUT], env);
    const { headers } = await taken;
    expect(await lost.stop()).toBe(130);
    const key = String(headers['idempotency-key']);
    expect(lost.output.err).toContain(`Repeat the command with --idempotency-key ${key}.`);
    stop();
  });

  test.concurrent('requests are followed until Ctrl-C, listed and shown', async () => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    const env = settingsOf(client);
    const ask = async (path: string) => (await client.get(path)).headers.get('x-request-id')!;
    const before = await ask('/payouts?limit=0');
    await waitThroughFaults('the first request in the log', async () => {
      const { out } = await run(['logs', 'list', '--json'], env);
      return out.includes(before);
    });
    const tail = project.start(['logs', 'tail', '--status', '4xx', '--json'], env);
    const all = project.start(['logs', 'tail', '--path', '/api/v1/b'], env);
    // It shows what comes after its start, which is some time after that of its process.
    const [, id = ''] = await waitThroughFaults('a refused request', async () => {
      await ask('/payouts?limit=x');
      return /"id":"(req_\w+)"/.exec(tail.output.out);
    });
    await waitThroughFaults('a balance', async () => {
      await ask('/balance');
      return / {2}200 {2}GET \/api\/v1\/balance {2}\d+ ms {2}req_\w+\n/.exec(all.output.out);
    });
    expect([await tail.stop(), await all.stop()]).toEqual([0, 0]);
    const lines = tail.output.out.trim().split('\n');
    const shown = lines.map((line) => JSON.parse(line) as { id: string; status: number });
    expect(new Set(shown.map(({ status }) => status))).toEqual(new Set([422]));
    expect(new Set(shown.map((one) => one.id)).size).toBe(shown.length);
    expect([tail.output.out.includes(before), tail.output.err + all.output.err]).toEqual([
      false,
      '',
    ]);

    const one = await run(['logs', 'get', id, '--json'], env);
    expect(JSON.parse(one.out)).toMatchObject({ id, method: 'GET', query: 'limit=x', status: 422 });
    const filters = ['--status', '422', '--path', '/api/v1/payouts', '--limit', '5000'];
    const list = await run(['logs', 'list', ...filters], env);
    expect(list.out).toMatch(
      new RegExp(`^ID +STATUS .*\n(req_.*\n)*${id} +422 +GET +/api/v1/payouts`),
    );
    const wrong = await run(['logs', 'tail', '--status', 'bad'], env);
    expect(wrong).toMatchObject(fails(1, /status +Send status as an HTTP status such as 422/));
  });

  test.concurrent('events are followed until Ctrl-C, listed and sent again', async () => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: { USDT: '100' } });
    const env = settingsOf(client);
    const before = await acceptedPayout(client);
    await whenFinal(client, before);
    const types = ['--type', 'payout.requested,payout.completed'];
    const tail = project.start(['events', 'tail', ...types, '--after', 'oldest'], env);
    await tail.whenPrinted(new RegExp(`payout.completed  ${before}  evt_\\w+\n`));
    const after = await acceptedPayout(client);
    const [, id = ''] = await tail.whenPrinted(
      new RegExp(`payout.completed  ${after}  (evt_\\w+)\n`),
    );
    expect(await tail.stop()).toBe(0);
    expect(tail.output.out.trim().split('\n')).toHaveLength(4);

    const list = await run(['events', 'list', '--object', after, '--limit', '1'], env);
    expect(list.out).toMatch(new RegExp(`^ID .*\n${id} +payout.completed +${after} +completed `));
    const receiver = await startReceiver(200);
    const resend = ['events', 'resend', id, '--forward-to', receiver.url, '--secret', 'whsec_x'];
    expect(await run(resend, env)).toMatchObject({ code: 0 });
    expect(receiver.received.map((each) => faultOf(each, 'whsec_x'))).toEqual([null]);
    receiver.answer = 500;
    expect(await run(resend, env)).toMatchObject(fails(1, /gave 500/));
    await receiver.stop();
    expect(await run(resend, env)).toMatchObject(fails(3, /no answer/));
  });

  test.concurrent('an event is sent again to the endpoints that got it', async () => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: { USDT: '100' } });
    const env = settingsOf(client);
    const sdk = new GatewayClient({ baseUrl: client.baseUrl, key: client.apiKey });
    const receiver = await startReceiver(200);
    const endpoint = { url: receiver.url, events: ['payout.completed' as const] };
    const { id: first } = await sdk.webhookEndpoints.create(endpoint);
    const { id: second } = await sdk.webhookEndpoints.create(endpoint);
    const payout = await acceptedPayout(client);
    await waitThroughFaults('both webhooks', () => receiver.received.length >= 2);
    const { event } = receiver.received[0]!;
    const all = await run(['events', 'resend', event.id], env);
    expect(all).toMatchObject({ code: 0, err: '' });
    expect(all.out).toMatch(new RegExp(`${first} +${event.id}\n`));
    expect(all.out).toMatch(new RegExp(`${second} +${event.id}\n`));
    await waitThroughFaults('both again', () => receiver.of(event.id).length >= 4);
    const one = await run(['events', 'resend', event.id, '--endpoint', first, '--json'], env);
    expect(JSON.parse(one.out)).toMatchObject([{ endpoint_id: first, object_id: payout }]);
    await waitThroughFaults('one again', () => receiver.of(event.id).length >= 5);
    const { data } = await sdk.events.list({ type: 'payout.requested' }).page();
    expect(await run(['events', 'resend', data[0]!.id], env)).toMatchObject(
      fails(1, /No endpoint got evt_/),
    );
    await receiver.stop();
  });

  test.concurrent('tail waits for a gateway that is down, and Ctrl-C ends it with 0', async () => {
    const env = { GATEWAY_API_KEY: 'sk_test_x', GATEWAY_BASE_URL: 'http://127.0.0.1:9/api/v1' };
    const tail = project.start(['events', 'tail'], env);
    await tail.whenPrinted(/cannot be reached. Retrying/);
    expect(await tail.stop()).toBe(0);
    const refused = await run(['events', 'tail'], { ...env, GATEWAY_BASE_URL: gateway.baseUrl });
    expect(refused).toMatchObject(fails(1, /invalid_api_key/));
  });
});

describe('trigger', () => {
  const all = Object.keys(TRIGGERS);
  /** By day one of each kind of object. */
  const isFirst = (type: string) => all.find((one) => one.startsWith(type.split('.')[0]!)) === type;
  const TYPES = scaled(all.filter(isFirst), all);

  test.concurrent.each(TYPES)('%s happens to a real object', async (type) => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    const { code, out, err } = await run(['trigger', type, '--json'], settingsOf(client));
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
    const event = JSON.parse(out) as { type: string; data: { id: string } };
    expect(event.type).toBe(type);
    const { json } = await client.get(`/events?object_id=${event.data.id}`);
    expect(json.data).toEqual(expect.arrayContaining([event]));
  });

  test.concurrent('a live key is refused, and so are types that need an operator', async () => {
    const { client } = await openMerchant(gateway, { mode: 'live', funds: {} });
    const env = settingsOf(client);
    const live = await run(['trigger', 'payment.completed'], env);
    expect(live).toMatchObject(fails(2, /needs a test key/));
    expect((await client.get('/payments')).json.data).toEqual([]);
    const operator = await run(['trigger', 'payout.rejected'], env);
    expect(operator).toMatchObject(fails(2, /only an operator/));
    const unknown = await run(['trigger', 'payout.done'], env);
    expect(unknown).toMatchObject(fails(2, /is no type of event/));
  });
});
