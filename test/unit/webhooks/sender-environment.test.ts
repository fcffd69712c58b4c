/** What variables of the environment must not do to the sender. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  answer,
  RECEIVER_ADDRESS,
  type RawReceiver,
  startReceiver,
  startTrap,
} from '../../support/webhook/raw-receiver';
import { failed, succeeded } from '../../support/webhook/sender-steps';
import { createAuthority } from '../../support/servers/throw-away-certificates';

const OK = answer('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');

async function sendFrom(
  env: Record<string, string>,
  scheme: string,
  receiver: RawReceiver,
): Promise<unknown> {
  const program = join(__dirname, '../../support/webhook/send-once.ts');
  const url = `${scheme}://${RECEIVER_ADDRESS}:${receiver.port}/`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', program, url, '{}'],
    { env: { ...process.env, ...env } },
  );
  await receiver.close();
  return JSON.parse(stdout);
}

test('certificates are checked although the environment says no', async () => {
  const stranger = createAuthority().issue({ hosts: [RECEIVER_ADDRESS] });
  const receiver = await startReceiver(OK, stranger);
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  expect(await sendFrom(env, 'https', receiver)).toEqual(failed('tls_error'));
  expect(receiver.received.join('')).toBe('');
});

test('proxy variables do not lead the sender elsewhere', async () => {
  const trap = await startTrap();
  const host = trap.address.includes(':') ? `[${trap.address}]` : trap.address;
  const proxy = `http://${host}:${trap.port}`;
  const env = { HTTP_PROXY: proxy, http_proxy: proxy, ALL_PROXY: proxy, NODE_USE_ENV_PROXY: '1' };
  expect(await sendFrom(env, 'http', await startReceiver(OK))).toEqual(succeeded());
  expect(trap.connections).toBe(0);
  await trap.close();
});
