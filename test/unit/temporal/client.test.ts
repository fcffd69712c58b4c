import { once } from 'node:events';
import { createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createTemporalClient } from '../../../src/temporal/client';
import { waitFor } from '../../support/wait-for';

const open = new Set<ServerHttp2Session>();
/** It takes connections and answers no call. */
const server = createServer().on('session', (session) => {
  open.add(session);
  session.on('error', () => undefined).on('close', () => open.delete(session));
});

afterAll(() => {
  for (const session of open) session.destroy();
  server.close();
});

test('a client that is closed leaves no connection open, also none that was replaced', async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createTemporalClient({ address: `127.0.0.1:${port}`, namespace: 'default' });
  const connected = (count: number) =>
    waitFor('a connection', async () => {
      const call = () => client.workflowService.getSystemInfo({});
      await expect(client.withDeadline(Date.now() + 200, call)).rejects.toThrow(
        'DEADLINE_EXCEEDED',
      );
      return open.size >= count;
    });
  await connected(1);
  client.renew({});
  await connected(2);
  await client.close();
  await waitFor('the end of both', () => open.size === 0);
});
