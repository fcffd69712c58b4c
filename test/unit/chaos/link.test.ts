/** The proxy between two parts loses, delays and silences; it never reorders. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLink } from '../../support/chaos/link';

test('what is sent after the end of a delay does not overtake what was sent before', async () => {
  const echo = createServer((socket) => socket.pipe(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const link = await startLink((echo.address() as AddressInfo).port);
  const client = connect(link.port, '127.0.0.1');
  client.setNoDelay(true);
  let received = '';
  client.on('data', (chunk: Buffer) => (received += chunk.toString()));
  await once(client, 'connect');
  link.set({ kind: 'delay', ms: 150 });
  client.write('a');
  await sleep(20);
  link.set(null);
  client.write('b');
  while (received.length < 2) await once(client, 'data');
  client.destroy();
  await link.stop();
  echo.close();
  expect(received).toBe('ab');
});
