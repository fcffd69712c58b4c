/** A browser without JavaScript: cookies, forms and redirects of the dashboard and the console. */
import { createUser, type UserWithPassword } from '../../../src/features/people/users';
import type { Db } from '../../../src/db/transaction';
import type { UserKind } from '../../../src/domain/users';
import { newId } from '../../../src/platform/lib/new-id';
import { insertPasskey } from '../../../src/db/people/second-factors';
import { firstRecoveryCodes } from '../../../src/features/people/second-factors';

export interface TestUser extends UserWithPassword {
  role: string;
}

/** @param accountId of a merchant */
export async function makeUser(
  db: Db,
  kind: UserKind,
  role: string,
  accountId: string | null = null,
  email = `${newId('user').toLowerCase()}@example.com`,
): Promise<TestUser> {
  const wish = { kind, email, role, accountId, password: null };
  return { ...(await createUser(db, { actor: 'test', reason: null }, wish)), role };
}

/** Moves the sign-in to before the window of "sign in again". */
export async function ageSignIn(db: Db, user: TestUser): Promise<void> {
  const sql = `UPDATE sessions SET authenticated_at = now() - interval '11 minutes' WHERE user_id = ?`;
  await db.query(sql, [user.id]);
}

/** The browser of somebody who has signed in. @param base any address of the gateway */
export async function signedIn(base: string, user: TestUser): Promise<PageClient> {
  const client = new PageClient(base);
  await client.signIn(user);
  return client;
}

/** A page, in which nothing that somebody wrote is markup. */
export async function textOf(answer: Response | Promise<Response>, status = 200): Promise<string> {
  const response = await answer;
  const html = await response.text();
  expect({ status: response.status, url: response.url }).toEqual({ status, url: response.url });
  expect(html).not.toContain('<script>alert');
  return html;
}

/** The hidden fields of a page, or of its form that is sent to an address with this end. */
export function hiddenIn(html: string, end?: string): Record<string, string> {
  const form = new RegExp(`<form[^>]*action="[^"]*/${end}".*?</form>`);
  const [text = ''] = end === undefined ? [html] : (form.exec(html) ?? []);
  const fields = text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name, value]) => [name, value]));
}

/** Opens the page, and sends its form when it is called. @returns the page that the answer leads to */
export async function openForm(page: PageClient, path: string, kind: string) {
  const html = await page.read(path);
  return async (fields: Record<string, string> = {}): Promise<string> => {
    const response = await page.post(`${path}/${kind}`, { ...hiddenIn(html, kind), ...fields });
    expect(response.status).toBe(303);
    return page.read(response.headers.get('location')!);
  };
}

export class PageClient {
  readonly cookies = new Map<string, string>();
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.#send(path, { headers });
  }

  /** A form that a browser sends from a page of the same origin, unless the headers say otherwise. */
  post(
    path: string,
    form: Record<string, string> | URLSearchParams | FormData = {},
    headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
  ): Promise<Response> {
    const body = form instanceof FormData ? form : new URLSearchParams(form);
    return this.#send(path, { method: 'POST', body, headers });
  }

  /** A page that must be there. */
  async read(path: string, status = 200): Promise<string> {
    return textOf(this.get(path), status);
  }

  /** Signs in and follows to the start page. */
  async signIn(user: TestUser): Promise<Response> {
    const site = user.kind === 'merchant' ? '/dashboard' : '/console';
    const { email, password } = user;
    return this.post(`${site}/sign-in`, { email, password });
  }

  /** Follows a change that asks to sign in again, with the password. @returns the page it leads back to */
  async confirm(user: TestUser, asked: Response): Promise<string> {
    const confirm = new URL(asked.headers.get('location') ?? '', this.#base);
    const next = confirm.searchParams.get('next') ?? '';
    const answer = await this.post(confirm.pathname, { password: user.password, next });
    return answer.headers.get('location') ?? '';
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = {
      ...(init.headers as Record<string, string>),
      ...(cookie === '' ? {} : { cookie }),
    };
    const url = new URL(path, this.#base);
    const response = await fetch(url, { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }
}

/** @returns recovery codes, each of which works once */
export function giveSecondFactor(db: Db, { id: userId }: { id: string }): Promise<string[]> {
  return db.transaction(async (tx) => {
    const id = newId('passkey');
    const key = { credentialId: id, publicKey: Buffer.alloc(0), counter: 0, transports: [] };
    await insertPasskey(tx, { ...key, id, userId, name: 'in a drawer' });
    return (await firstRecoveryCodes(tx, userId)) ?? [];
  });
}

/** Signs in with the password and a code. */
export async function signInWithCode(
  client: PageClient,
  user: TestUser,
  code: string,
): Promise<Response> {
  const site = user.kind === 'merchant' ? '/dashboard' : '/console';
  const asked = await client.signIn(user);
  expect(asked.headers.get('location')).toContain(`${site}/sign-in/second-step`);
  return client.post(`${site}/sign-in/second-step`, { code });
}
