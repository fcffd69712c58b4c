/**
 * The hosted page over HTTP. The id in its URL is the page's only credential, as with any provider's
 * page. Whoever serves it adds the routes of its forms.
 */
import Router from '@koa/router';
import type { Context } from 'koa';
import { PAGE_SCRIPT, PAGE_STYLE, SCRIPT_PATH, STYLE_PATH } from './assets';
import { logoOf } from './logo';
import { type Language, LANGUAGES } from './messages';
import { type PageView, renderCheckoutPage } from './page';

/**
 * Without form-action, because browsers would apply it to the redirect to the shop too.
 * @param images an origin besides the page's own data
 */
function contentPolicy(images = ''): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    `img-src data: ${images}`.trim(),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const HEADERS = {
  'Content-Security-Policy': contentPolicy(),
  'X-Content-Type-Options': 'nosniff',
  // The URL is the credential, so no other site sees it; no-referrer would hide the forms' origin.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** @param moreStyle for the cards that the server adds to the page */
export function createPageRouter(moreStyle = ''): Router {
  const router = new Router();
  const asset = (path: string, type: string, text: string): void => {
    router.get(path, (ctx) => {
      ctx.set({ ...HEADERS, 'Cache-Control': 'public, max-age=300' });
      ctx.type = type;
      ctx.body = text;
    });
  };
  asset(STYLE_PATH, 'css', PAGE_STYLE + moreStyle);
  asset(SCRIPT_PATH, 'js', PAGE_SCRIPT);
  return router;
}

export async function showPage(ctx: Context, view: PageView): Promise<void> {
  ctx.set({
    ...HEADERS,
    'Content-Security-Policy': contentPolicy(logoOf(view)?.origin),
    'Cache-Control': 'no-store',
  });
  ctx.type = 'html';
  const names = Object.keys(LANGUAGES) as Language[];
  const language = (ctx.acceptsLanguages(...names) || 'en') as Language;
  ctx.vary('Accept-Language');
  ctx.set('Content-Language', language);
  ctx.body = await renderCheckoutPage(view, language);
}

/** Whatever the browser sent here, it asks for the next page with GET. */
export function seeOther(ctx: Context, address: string): void {
  ctx.status = 303;
  ctx.redirect(address);
}
