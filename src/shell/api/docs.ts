/** The documentation for merchants, without authentication: openapi.json, the API reference and the guides. */
import type Router from '@koa/router';
import { ApiError, ERROR_CODES } from '../../domain/errors';
import { readAssets } from '../../openapi/assets';
import { buildDocument } from '../../openapi/document';
import { readGuides } from '../../openapi/guides';
import {
  renderErrorPage,
  renderGuidePage,
  renderMissingPage,
  renderReference,
} from '../../openapi/pages';
import { errorPagePath } from '../../kit/api/error-bodies';
import type { GatewayMiddleware, GatewayState } from '../../kit/api/context';

const FOR_EVER = 'public, max-age=31536000, immutable';

/** The guides load nothing from other hosts and have nothing inline; their script copies samples. */
const GUIDE_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** Scalar writes style elements and attributes, and sends the requests that a reader tries. */
const REFERENCE_POLICY = {
  ...GUIDE_POLICY,
  'style-src': "'self' 'unsafe-inline'",
  'connect-src': "'self'",
};

export function docsRoutes(router: Router<GatewayState>, publicUrl: string): void {
  const document = JSON.stringify(buildDocument());
  const assets = readAssets();
  const guides = readGuides(publicUrl);

  router.get('/api/v1/openapi.json', (ctx) => {
    ctx.type = 'application/json';
    ctx.body = document;
  });

  router.get('/docs', page(renderReference(guides, assets), REFERENCE_POLICY));
  for (const guide of guides) {
    router.get(
      `/docs/guides/${guide.name}`,
      page(renderGuidePage(guide, guides, assets), GUIDE_POLICY),
    );
  }

  for (const code of ERROR_CODES) {
    router.get(errorPagePath(code), page(renderErrorPage(code, guides, assets), GUIDE_POLICY));
  }

  router.get('/', (ctx) => {
    ctx.redirect('/docs');
  });

  router.get('/docs/assets/:name', async (ctx) => {
    const asset = Object.values(assets).find(({ name }) => name === ctx.params['name']);
    if (asset === undefined)
      throw new ApiError({ code: 'not_found', details: { resource: 'asset' } });
    ctx.set({
      'Cache-Control': FOR_EVER,
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept-Encoding',
    });
    ctx.type = asset.type;
    const isCompressed = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (isCompressed) ctx.set('Content-Encoding', 'gzip');
    ctx.body = isCompressed ? await asset.gzipped() : asset.body;
  });

  router.get('/docs/*path', page(renderMissingPage(guides, assets), GUIDE_POLICY, 404));
}

function page(
  html: string,
  policy: Readonly<Record<string, string>>,
  status = 200,
): GatewayMiddleware {
  const directives = Object.entries(policy).map(([name, value]) => `${name} ${value}`);
  return (ctx) => {
    ctx.set({
      'Content-Security-Policy': directives.join('; '),
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'same-origin',
    });
    ctx.status = status;
    ctx.type = 'text/html';
    ctx.body = html;
  };
}
