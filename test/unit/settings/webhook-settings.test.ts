import { readApiConfig } from '../../../src/shell/config';
import { readSettings } from '../../../src/platform/settings/read-settings';
import type { Environment } from '../../../src/platform/settings/settings';
import { WEBHOOK_SETTINGS, webhookSettings } from '../../../src/platform/settings/webhook-settings';

const KEY = { WEBHOOK_SECRET_KEY: 'a secret that is long enough for it' };
const read = (env: Environment) =>
  webhookSettings(readSettings(WEBHOOK_SETTINGS, { ...KEY, ...env }));

const NOTHING = { allowedHosts: [], allowCidrs: [] };

test.each([
  ['production', {}, NOTHING],
  ['no setting', { GATEWAY_ENV: '' }, NOTHING],
  [
    'development',
    { GATEWAY_ENV: 'development' },
    { allowedHosts: ['localhost', '127.0.0.1'], allowCidrs: ['127.0.0.0/8'] },
  ],
  [
    'development with WEBHOOK_ALLOW_CIDRS',
    { GATEWAY_ENV: 'development', WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8' },
    { allowedHosts: [], allowCidrs: ['10.0.0.0/8'] },
  ],
])('additional addresses of test mode: %s', (_, env, expected) => {
  expect(read(env).testMode).toEqual(expected);
});

test('lists are trimmed and empty parts are ignored', () => {
  const settings = read({ WEBHOOK_ALLOW_CIDRS: ' 10.0.0.0/8 , ,fd00::/8,' });
  expect(settings.testMode.allowCidrs).toEqual(['10.0.0.0/8', 'fd00::/8']);
});

test('WEBHOOK_ALLOW_CIDRS is for test mode: live webhooks have a setting of their own', () => {
  const test = { WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8' };
  expect(read(test).allowCidrs).toEqual([]);
  const live = { ...test, WEBHOOK_LIVE_ALLOW_CIDRS: '10.1.0.0/16' };
  expect(read(live).allowCidrs).toEqual(['10.1.0.0/16']);
});

test.each(['10.0.0.0', '10.0.0.0/33', 'fd00::/129', '10.0.0.0/8/8', 'localhost/8', '10.0.0.0/-1'])(
  'a program does not start with the CIDR %s or without the key',
  (network) => {
    const cidrs = `127.0.0.0/8,${network}`;
    const env = { WEBHOOK_ALLOW_CIDRS: cidrs, WEBHOOK_LIVE_ALLOW_CIDRS: cidrs };
    const start = () => readApiConfig(env);
    const reason = `has a wrong network: "${network}" is not a CIDR`;
    expect(start).toThrow(`WEBHOOK_ALLOW_CIDRS ${reason}`);
    expect(start).toThrow(`WEBHOOK_LIVE_ALLOW_CIDRS ${reason}`);
    expect(start).toThrow('WEBHOOK_SECRET_KEY is not set');
  },
);
