/** A gateway that is watched from outside: the calls of its on-chain provider, its mails, and its metrics. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sharedInRoom } from '../../support/room';
import { startGateway } from '../../support/servers/gateway';
import { startMailServer } from '../../support/servers/mail-server';

interface Call {
  body: string;
  headers: IncomingHttpHeaders;
}

/** Between the worker and the provider. */
async function startWatch() {
  const calls: Call[] = [];
  let target = '';
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      calls.push({ body: body.toString(), headers });
      const onward = request(target + url, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy()).end(body);
    });
  });
  server.unref().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    calls,
    url: `http://127.0.0.1:${port}`,
    leadTo: (url: string) => (target = url),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export const startWatchedGateway = sharedInRoom('watched', async () => {
  const [watch, mails] = await Promise.all([startWatch(), startMailServer()]);
  const gateway = await startGateway({
    providerTimeoutMs: 5_000,
    env: {
      METRICS_PORT: '0',
      TRACE_CONTEXT: 'on',
      ONCHAIN_TEST_URL: watch.url,
      ONCHAIN_LIVE_URL: watch.url,
    },
    workerEnv: { SMTP_URL: mails.url, MAIL_FROM: 'Payments <payments@example.com>' },
  });
  watch.leadTo(gateway.sandbox.onchainUrl);
  const stop = async () => {
    await gateway.stop();
    watch.stop();
    await mails.stop();
  };
  return { ...gateway, calls: watch.calls, mails: mails.mails, stop };
});
