/** `payments-gateway`, the command for merchants, against a real gateway: what it prints, stores and exits with. */
import { statSync } from 'node:fs';
import { openMerchant } from '../../support/payout/payout-steps';
import { fails, PAYOUT, payoutOptions, settingsOf, useCommand } from './command';

const { gateway, project, run, newUser, atTerminal } = useCommand();

describe('login', () => {
  test.concurrent('a key is asked for, verified, stored for its user alone and used', async () => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: { USDT: '5' } });
    const user = newUser();
    const login = await run(['login'], user.env, `${gateway.baseUrl}/\n${client.apiKey}\n`);
    expect(login).toMatchObject({ code: 0, out: expect.stringMatching(/in test mode.*"default"/) });
    expect(statSync(user.file).mode & 0o777).toBe(0o600);
    expect(statSync(user.folder).mode & 0o777).toBe(0o700);
    const balance = await run(['balance', '--json'], user.env);
    expect(JSON.parse(balance.out)).toMatchObject({
      mode: 'test',
      balances: [{ currency: 'USDT' }],
    });

    const logout = await run(['logout'], user.env);
    expect(logout).toMatchObject({
      code: 0,
      out: 'The key of the profile "default" is deleted.\n',
    });
    expect(await run(['balance'], user.env)).toMatchObject(
      fails(2, /Run payments-gateway login, or set the variable GATEWAY_API_KEY/),
    );
  });
});

describe('profiles', () => {
  test.concurrent('a stored key is only sent to its base URL', async () => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    const user = newUser();
    await run(['login', '--base-url', gateway.baseUrl], user.env, client.apiKey);
    const other = 'http://127.0.0.1:9/api/v1';
    const refusal = { code: 2, err: expect.stringContaining(`is only sent to ${gateway.baseUrl}`) };
    expect(await run(['balance', '--base-url', other], user.env)).toMatchObject(refusal);
    const env = { ...user.env, GATEWAY_BASE_URL: other };
    expect(await run(['balance'], env)).toMatchObject(refusal);
    expect(await run(['balance', '--base-url', gateway.baseUrl], user.env)).toMatchObject({
      code: 0,
    });
  });
});

test.concurrent.each([
  [['balance', '--profile', 'live'], 2, /There is no profile "live". Stored: none./],
  [['balance', '--profile', '../x'], 2, /--profile must be 1 to 40 letters/],
  [['balance', '--key', 'x'], 2, /The API key must be an API key/],
  [['balance', '--limit', '3'], 2, /Unknown option '--limit'/],
  [['balance', 'USDT'], 2, /does not take "USDT"/],
  [['nothing'], 2, /There is no such command/],
  [['payouts', 'nothing'], 2, /The commands are payouts create, payouts get, payouts list/],
  [['payouts', 'get'], 2, /payouts get needs <id>/],
  [['payouts', 'list', '--limit', '0'], 2, /--limit must be a whole number/],
  [['payouts', 'get', 'po_1', '--key', 'sk_test_x'], 1, /invalid_api_key/],
  [['logout'], 2, /There is no profile "default"/],
])('%j exits with %d', async (args, code, message) => {
  const env = { GATEWAY_BASE_URL: gateway.baseUrl };
  expect(await run(args, env)).toMatchObject({
    code,
    out: '',
    err: expect.stringMatching(message),
  });
});

describe('payments-gateway listen', () => {
  test.concurrent.each([
    [[], /option --forward-to <url> is required/, 2],
    [['--forward-to', 'localhost:4000'], /--forward-to must be a URL starting with http/, 2],
    [['--forward-to', 'http://localhost:1'], /set the variable GATEWAY_API_KEY/, 2],
    [['--forward-to', 'http://localhost:1', '--key', 'x'], /The API key must be an API key/, 2],
    [['--forward-to', 'http://localhost:1', '--key', 'sk_test_x'], /The API key is invalid/, 1],
    [['--help'], /--cursor-file <file>/, 0],
  ])('listen %j', async (args, pattern, exitCode) => {
    const { ended, output } = project.start(['listen', ...args], {
      GATEWAY_BASE_URL: gateway.baseUrl,
    });
    expect([await ended, output.text]).toEqual([exitCode, expect.stringMatching(pattern)]);
  });
});

describe('payments, payouts and events', () => {
  test.concurrent('a payment and a payout are created, shown and listed', async () => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: { USDT: '100' } });
    const env = settingsOf(client);
    const order = ['--amount', '5', '--currency', 'USDT', '--reference', 'order-1'];
    const metadata = [
      '--metadata',
      'shop=north',
      '--metadata',
      'note=a=b',
      '--metadata',
      'hue=a\u001b[31m',
      '--description',
      'Two books',
    ];
    const payment = await run(['payments', 'create', ...order, ...metadata], env);
    expect(payment).toMatchObject({ code: 0, err: '' });
    expect(payment.out).toMatch(/^id +pay_\w+\n[\s\S]*metadata.note +a=b\n/);
    expect(payment.out).toMatch(/metadata\.hue +a\\u001b\[31m\n/);
    const [, paymentId = ''] = /(pay_\w+)/.exec(payment.out)!;
    const got = await run(['payments', 'get', paymentId, '--json'], env);
    expect(JSON.parse(got.out)).toMatchObject({ id: paymentId, metadata: { shop: 'north' } });

    const create = ['payouts', 'create', ...PAYOUT, '--idempotency-key', 'key-1'];
    const first = await run([...create, '--json'], env);
    const again = await run([...create, '--json'], env);
    expect(first.code).toBe(0);
    expect(JSON.parse(again.out)).toEqual(JSON.parse(first.out));
    const { id } = JSON.parse(first.out) as { id: string };
    await run(['payouts', 'create', ...payoutOptions({ reference: 'invoice-2' })], env);
    const list = await run(['payouts', 'list', '--limit', '1'], env);
    expect(list.out).toMatch(
      /^ID +STATUS +AMOUNT[^\n]*\npo_\w+ +\w+ +1\.00000000 +USDT +tron +invoice-2 +\S+\n$/,
    );
    const found = await run(['payouts', 'list', '--reference', 'invoice-1', '--json'], env);
    expect(JSON.parse(found.out)).toMatchObject([{ id, reference: 'invoice-1' }]);
    const none = await run(['payouts', 'list', '--status', 'rejected'], env);
    expect(none).toMatchObject({ code: 0, out: 'Nothing found.\n' });
  });

  test.concurrent('a live payout is confirmed by a person or by --yes', async () => {
    const { client } = await openMerchant(gateway, { mode: 'live', funds: { USDT: '100' } });
    const env = settingsOf(client);
    const create = ['payouts', 'create', ...PAYOUT];
    const shown =
      /real money:\n +amount +1 USDT\n +network +tron\n +type +crypto_address\n +value +TR7/;
    const alone = await run(create, env, 'yes\n');
    expect(alone).toMatchObject({ code: 2, out: '', err: expect.stringMatching(shown) });
    expect(alone.err).toMatch(/Add --yes to send it/);
    const refused = await atTerminal(create, env, /Type yes to send it: /, 'y\r');
    expect(refused).toMatchObject({ code: 2, text: expect.stringMatching(/Nothing was sent/) });
    expect(JSON.parse((await run(['payouts', 'list', '--json'], env)).out)).toEqual([]);
    const sent = await atTerminal(create, env, /Type yes to send it: /, 'yes\r');
    expect(sent).toMatchObject({ code: 0, text: expect.stringMatching(/status +under_review/) });
    const other = payoutOptions({ reference: 'invoice-2' });
    const more = await run(['payouts', 'create', ...other, '--yes'], env);
    expect(more).toMatchObject({ code: 0, err: '' });
  });

  test.concurrent('a payout without an answer names the key to repeat it with', async () => {
    const env = { GATEWAY_API_KEY: 'sk_test_x', GATEWAY_BASE_URL: 'http://127.0.0.1:9/api/v1' };
    const lost = await run(['payouts', 'create', ...PAYOUT], env);
    expect(lost).toMatchObject({ code: 3, out: '' });
    expect(lost.err).toMatch(
      /The payout may have been created. Repeat the command with --idempotency-key [\w-]{36}\./,
    );
  });
});
