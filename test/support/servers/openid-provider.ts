/** A real OpenID provider (oidc-provider) with people, whose ID tokens a test can falsify. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import type { PageClient } from '../merchant/page-client';

export interface Person {
  email?: string;
  email_verified?: boolean | undefined;
  name?: string;
  groups?: string[] | undefined;
}

/** What a falsified ID token says; null leaves a claim out. */
export type Falsified = Record<string, unknown>;

export interface OpenIdProvider {
  issuer: string;
  /** By subject. */
  people: Map<string, Person>;
  /** Changes each ID token before the provider signs it. */
  falsify: (claims: Falsified | null, how?: { otherKey?: boolean }) => void;
  /** The number of codes that were exchanged. */
  exchanged: () => number;
  /** The settings of a gateway that uses it. */
  settings: (more?: Record<string, string>) => Record<string, string>;
  stop: () => Promise<void>;
}

const CLIENT = { client_id: 'console', client_secret: 'a-secret-of-the-client-in-tests' };

/** @param console the address of the console, such as `https://pay.example.com/console` */
export async function startOpenIdProvider(console: string, port = 0): Promise<OpenIdProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [own, other] = await Promise.all([keyPair(), keyPair()]);
  const people = new Map<string, Person>();
  const provider = new Provider(issuer, {
    clients: [
      {
        ...CLIENT,
        redirect_uris: [`${console}/sign-in/sso/callback`],
        post_logout_redirect_uris: [`${console}/sign-in`],
      },
    ],
    jwks: {
      keys: [{ ...(await exportJWK(own.privateKey)), kid: 'own', use: 'sig', alg: 'RS256' }],
    },
    cookies: { keys: ['a key of the tests'] },
    claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email', 'email_verified'] },
    findAccount: (_ctx, id) => {
      const person = people.get(id);
      return person === undefined
        ? undefined
        : { accountId: id, claims: () => ({ sub: id, ...person }) };
    },
  });
  let falsified: { claims: Falsified; key: typeof own } | null = null;
  let exchanged = 0;
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path !== '/token' || ctx.status !== 200) return;
    exchanged += 1;
    if (falsified === null) return;
    const body = ctx.body as { id_token: string };
    const claims = { ...payloadOf(body.id_token), ...falsified.claims };
    const kept = Object.entries(claims).filter(([, value]) => value !== null);
    const token = new SignJWT(Object.fromEntries(kept));
    token.setProtectedHeader({ alg: 'RS256', kid: 'own' });
    ctx.body = { ...body, id_token: await token.sign(falsified.key.privateKey) };
  });
  const answer = provider.callback();
  server.on('request', (request, response) => void answer(request, response));
  return {
    issuer,
    people,
    falsify: (claims, { otherKey = false } = {}) => {
      falsified = claims === null ? null : { claims, key: otherKey ? other : own };
    },
    exchanged: () => exchanged,
    settings: (more) => ({
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: CLIENT.client_id,
      OIDC_CLIENT_SECRET: CLIENT.client_secret,
      OIDC_ROLE_GROUPS: 'payments-admins=admin,payments-reviewers=reviewer,payments-readers=viewer',
      ...more,
    }),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const keyPair = () => generateKeyPair('RS256', { extractable: true });

function payloadOf(token: string): Falsified {
  const [, payload = ''] = token.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Falsified;
}

/** A browser at the provider, which keeps its session there. */
export class OpenIdBrowser {
  readonly #cookies = new Map<string, string>();

  /** Goes on from the address until the provider sends the browser elsewhere. @returns that address */
  async follow(address: string, subject: string): Promise<URL> {
    const { origin } = new URL(address);
    let next = new URL(address);
    for (let steps = 0; next.origin === origin && steps < 12; steps += 1) {
      const shown = await this.#send(next);
      if (shown.status >= 300 && shown.status < 400) {
        next = new URL(shown.headers.get('location') ?? '', next);
        continue;
      }
      const page = await shown.text();
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
      const action = /action="([^"]+)"/.exec(page)?.[1];
      if (prompt === undefined || action === undefined) {
        throw new Error(`the provider answers ${shown.status}: ${page}`);
      }
      const body = new URLSearchParams({ prompt, login: subject, password: 'any' });
      const sent = await this.#send(new URL(action, next), { method: 'POST', body });
      next = new URL(sent.headers.get('location') ?? '', next);
    }
    return next;
  }

  async #send(url: URL, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { redirect: 'manual', ...init, headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return answer;
  }
}

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
