/**
 * Receives provider callbacks. They need no API key: the service checks the provider's signature
 * over the exact bytes.
 */
import type Router from '@koa/router';
import type { ProviderCallbacks } from '../../kit/service/services';
import type { GatewayState } from '../../kit/api/context';
import { bytesReader } from '../../kit/api/validate';

const readBytes = bytesReader(['*/*']);

export function providerCallbackRoutes(
  router: Router<GatewayState>,
  providerCallbacks: ProviderCallbacks,
): void {
  router.post('/provider-callbacks/:provider/:mode', async (ctx) => {
    const { provider = '', mode = '' } = ctx.params;
    const body = await readBytes(ctx);
    await providerCallbacks.receive(provider, mode, ctx.req.headers, body);
    ctx.body = { received: true };
  });
}
