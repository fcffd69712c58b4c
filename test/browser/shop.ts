/** The shop of a merchant, to which a checkout page sends the customer back. Any page says where it is. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Shop {
  urlOf: (path: string) => string;
  stop: () => Promise<void>;
}

export async function startShop(): Promise<Shop> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    const icon = '<link rel="icon" href="data:,">';
    response.end(`<!doctype html><title>Shop</title>${icon}<h1>The shop: ${request.url}</h1>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (path) => `http://127.0.0.1:${port}${path}`,
    stop: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}
