/** The API description as OpenAPI and as an HTML page, without authentication. */
import type Router from '@koa/router';
import { buildDocument } from '../../openapi/document';
import { renderPage } from '../../openapi/page';
import type { GatewayState } from '../context';

export function docsRoutes(router: Router<GatewayState>, publicUrl: string): void {
  const document = JSON.stringify(buildDocument());
  const page = renderPage(publicUrl);

  router.get('/api/v1/openapi.json', (ctx) => {
    ctx.type = 'application/json';
    ctx.body = document;
  });

  router.get('/docs', (ctx) => {
    ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'");
    ctx.type = 'text/html';
    ctx.body = page;
  });
}
