/** TLS with a required client certificate in front of a server without, as a cluster with mutual TLS. */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { Certificate } from '../support/servers/throw-away-certificates';

export interface TlsFront {
  address: string;
  /** Accepts clients of this authority only, and ends the connections of all others. */
  trust(clientAuthority: string): void;
  /** Common names of the clients that are connected. */
  clients(): string[];
  stop(): Promise<void>;
}

export async function startTlsFront(
  target: string,
  server: Certificate,
  clientAuthority: string,
): Promise<TlsFront> {
  const [host = '', port = ''] = target.split(':');
  const settings = { ...server, requestCert: true, rejectUnauthorized: true };
  const sockets = new Map<TLSSocket, Socket>();
  const front = createServer(
    { ...settings, ca: clientAuthority, ALPNProtocols: ['h2'] },
    (client) => {
      const upstream = connect(Number(port), host);
      sockets.set(client, upstream);
      client.pipe(upstream).pipe(client);
      for (const socket of [client, upstream]) {
        socket.on('error', () => undefined);
        socket.on('close', () => {
          sockets.delete(client);
          client.destroy();
          upstream.destroy();
        });
      }
    },
  );
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const cutAll = (): void => {
    for (const client of sockets.keys()) client.destroy();
  };
  return {
    address: `127.0.0.1:${(front.address() as AddressInfo).port}`,
    trust: (ca) => {
      front.setSecureContext({ ...settings, ca });
      cutAll();
    },
    clients: () =>
      [...sockets.keys()].map((client) => String(client.getPeerCertificate().subject.CN)),
    stop: async () => {
      front.close();
      cutAll();
      await once(front, 'close');
    },
  };
}
