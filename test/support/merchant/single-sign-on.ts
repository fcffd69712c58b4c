/** How an operator signs in to the console at the OpenID provider, as a browser without JavaScript. */
import { OpenIdBrowser } from '../servers/openid-provider';
import type { PageClient } from './page-client';

/** The visit to the provider. @returns the path that the provider sends the browser to */
export async function visitProvider(
  client: PageClient,
  subject: string,
  start = '/console/sign-in/sso',
): Promise<string> {
  const sent = await client.get(start);
  expect(sent.status).toBe(303);
  const back = await new OpenIdBrowser().follow(sent.headers.get('location')!, subject);
  expect(back.pathname).toBe('/console/sign-in/sso/callback');
  return back.pathname + back.search;
}

/** Opens the page that the callback opens. */
export async function finishVisit(client: PageClient, callback: string): Promise<Response> {
  const page = await client.read(callback);
  const [, next = ''] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page) ?? [];
  return client.get(next.replaceAll('&amp;', '&'));
}
