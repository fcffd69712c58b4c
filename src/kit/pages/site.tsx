/**
 * A site is a set of pages for one kind of user under one path: the dashboard or the console. This
 * middleware does what every page needs: host, security headers, session, origin check, permission,
 * form, errors. A page is a `Route`; see src/shell/dashboard/home.tsx for a short one.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Logger } from 'pino';
import { mayDo, type Permission, type UserKind } from '../../domain/users';
import { clientAddress } from '../../platform/lib/client-address';
import { startDownload } from '../../platform/lib/download';
import { newId } from '../../platform/lib/new-id';
import type { Browser, SignedIn } from '../service/sessions';
import { KeptForm } from './components';
import { type Asker, type Cost, createLimits, type Limits } from './limits';
import type { Once } from './once';
import { type Problem, ProblemBody, problemOf } from './problems';
import type { SetCookie, SignedInVisit, Visit } from './visit';
import { isSameOrigin, readForm, refuseNul, setSecurityHeaders } from './security';

export interface Page {
  kind: 'page';
  title: string;
  body: VNode;
  status?: number;
  /** The entry of the navigation that is marked. */
  nav?: string;
  /** With the script of passkeys. */
  passkeys?: boolean;
  /** The browser opens this page of ours next. */
  opensNext?: string;
  cookies?: SetCookie[];
}

/** After every change: POST, redirect, GET. */
export interface Redirect {
  kind: 'redirect';
  to: string;
  cookies?: SetCookie[];
}

/** A file that is sent while it is read. */
export interface Download {
  kind: 'download';
  name: string;
  type: string;
  content: AsyncIterable<string> | Iterable<string | Uint8Array>;
  cookies?: SetCookie[];
}

export type Answer = Page | Redirect | Download;

/** The person must sign in again first; then `page` opens with the fields of the form. */
export interface SignInAgain {
  kind: 'sign_in_again';
  page: string;
}

export type SignedInAnswer = Answer | SignInAgain;

interface RoutePath {
  method: 'get' | 'post';
  /** Below the site's prefix, such as `/payments/:id`. */
  path: string;
  /** What it costs beyond a few rows. A form counts as one in any case. */
  cost?: Cost;
  /** Its form may have megabytes. Others have 64 KiB at most. */
  takesLargeForm?: true;
  /** Its form may have a file, as multipart/form-data. */
  takesFile?: true;
}

interface SignedInRoute extends RoutePath {
  needs: Permission;
  /** Asks the person to sign in again, unless they did a few minutes ago. */
  recent?: true;
  /** Also for a person who must set up a second factor first. */
  beforeEnrolment?: true;
  run: (visit: SignedInVisit) => SignedInAnswer | Promise<SignedInAnswer>;
}

/** Open to everybody, and shown without the menu. */
interface OpenRoute extends RoutePath {
  needs: null;
  run: (visit: Visit) => Answer | Promise<Answer>;
}

export type Route = SignedInRoute | OpenRoute;

/** What a route needs, alone or with what else it says about the request. */
type AccessOf<R extends { needs: unknown }> = R['needs'] | Omit<R, 'method' | 'path' | 'run'>;

type RouteMaker<R extends { needs: unknown; run: unknown }> = (
  path: string,
  access: AccessOf<R>,
  run: R['run'],
) => R;

export function routeMaker<R extends { needs: unknown; run: unknown }>(
  method: 'get' | 'post',
): RouteMaker<R> {
  return (path, access, run) => {
    const rest = typeof access === 'object' && access !== null ? access : { needs: access };
    return { ...rest, method, path, run } as unknown as R;
  };
}

type MakeRoute = RouteMaker<SignedInRoute> & RouteMaker<OpenRoute>;

/** Writes a route as `get('/people', 'read', (visit) => …)`. */
export const get = routeMaker('get') as MakeRoute;
export const post = routeMaker('post') as MakeRoute;

export interface Site {
  kind: UserKind;
  /** `/dashboard` */
  prefix: string;
  /** Served on this host only; null means on every host. */
  host: string | null;
  /** Where a signed-in user starts, and where others sign in. */
  home: string;
  signIn: string;
  routes: readonly Route[];
  /** Keeps what somebody typed while they sign in again. */
  drafts: Once;
  /** The whole document. */
  document: (page: Page, visit: Visit) => VNode | Promise<VNode>;
  readSession: (token: string, address: string) => Promise<SignedIn | null>;
  /** The user whose session it is, or was until it ended. */
  sessionOwner: (token: string) => Promise<string | null>;
}

export interface SiteSettings {
  publicUrl: string;
  trustedProxyHops: number;
  logger: Logger;
}

const gzipped = promisify<string, Buffer>(gzip);

/** Browsers refuse cookies of more than 4096 bytes. */
const DRAFT_LENGTH_MAX = 3_500;

/** A mode or an id. */
const PATH_PART = /^\w{1,64}$/;

/** What the names of a site's cookies begin with. */
export function cookieName(site: Pick<Site, 'kind'>): string {
  return site.kind === 'merchant' ? 'gateway_dashboard' : 'gateway_console';
}

export function sessionCookie(site: Pick<Site, 'kind' | 'prefix'>, publicUrl: string): CookiePlace {
  return siteCookie(site, publicUrl);
}

type CookiePlace = Pick<SetCookie, 'name'> & { path: string };

/**
 * A cookie that another host of the domain must not plant: over HTTPS its name begins with `__Host-`, which
 * browsers take from this very host only. Its path must then be `/`.
 * @param path over HTTP
 */
export function siteCookie(
  site: Pick<Site, 'kind' | 'prefix'>,
  publicUrl: string,
  suffix?: string,
  path = site.prefix,
): CookiePlace {
  const name = `${cookieName(site)}${suffix === undefined ? '' : `_${suffix}`}`;
  if (!publicUrl.startsWith('https:')) return { name, path };
  return { name: `__Host-${name}`, path: '/' };
}

export function deviceCookie(site: Pick<Site, 'kind'>): string {
  return `${cookieName(site)}_device`;
}

/** Where a visit comes from, for a sign-in. */
export function browserOf(site: Pick<Site, 'kind'>, visit: Visit): Browser {
  const { address, userAgent } = visit;
  return { address, userAgent, device: visit.cookies.get(deviceCookie(site)) ?? null };
}

/** Only a path of the same site: a link must not lead a signed-in user elsewhere. */
export function ownPath(text: string, prefix: string): string | null {
  const url = URL.parse(text, 'http://own.invalid');
  if (url?.origin !== 'http://own.invalid' || !url.pathname.startsWith(`${prefix}/`)) return null;
  return url.pathname + url.search;
}

/** The page that a sign-in leads back to: of a form, the one that it was on. */
function pageOf(site: Site, visit: Visit): string {
  if (visit.method !== 'POST') return withQuery(visit);
  const referrer = URL.parse(visit.referrer);
  const from = referrer === null ? '' : referrer.pathname + referrer.search;
  return ownPath(from, site.prefix) ?? site.home;
}

function withQuery({ path, query }: Visit): string {
  return `${path}${query.size === 0 ? '' : `?${query.toString()}`}`;
}

/** Leads to the page that asks to sign in again, and back. */
function confirmFirst(
  { prefix, drafts }: Site,
  visit: SignedInVisit,
  { page: back, keeps }: { page: string; keeps: boolean },
): Redirect {
  const [path = back] = back.split('?');
  // A button has no fields; the page then only says that nothing was changed yet.
  const isForm = keeps && visit.method === 'POST';
  const draft = isForm ? drafts.keep(visit, path, visit.form.toString()) : null;
  const fits = draft !== null && (draft.value ?? '').length <= DRAFT_LENGTH_MAX;
  const to = `${prefix}/confirm?next=${encodeURIComponent(back)}`;
  return redirect(to, fits ? [draft] : []);
}

/** A field that must not travel in a cookie, not even in an encrypted one. */
const SECRET_FIELD = /password|secret|token|code/i;

/** Leads to the sign-in and back. The fields of a form are kept for the user whose session has ended. */
async function signInFirst(site: Site, visit: Visit, token: string | undefined): Promise<Redirect> {
  const back = pageOf(site, visit);
  const userId = token === undefined ? null : await site.sessionOwner(token);
  const form = new URLSearchParams([...visit.form].filter(([name]) => !SECRET_FIELD.test(name)));
  const [path = back] = back.split('?');
  const draft =
    userId === null || form.size === 0
      ? null
      : site.drafts.keep({ session: { userId, sessionId: '' } }, path, form.toString());
  const fits = draft !== null && (draft.value ?? '').length <= DRAFT_LENGTH_MAX;
  return redirect(`${site.signIn}?next=${encodeURIComponent(back)}`, fits ? [draft] : []);
}

/** What a page answers to a person who has not signed in recently; null if they have, so go on. */
export function signInAgain(visit: SignedInVisit, back = withQuery(visit)): SignInAgain | null {
  return visit.session.isRecent ? null : { kind: 'sign_in_again', page: back };
}

export function page(
  title: string,
  body: VNode,
  more: Omit<Page, 'kind' | 'title' | 'body'> = {},
): Page {
  return { kind: 'page', title, body, ...more };
}

/** An object as the API would answer with it, as a file. */
export function jsonDownload(name: string, object: object): Download {
  const content = [`${JSON.stringify(object, null, 2)}\n`];
  return { kind: 'download', name, type: 'application/json; charset=utf-8', content };
}

export function redirect(to: string, cookies: SetCookie[] = []): Redirect {
  return { kind: 'redirect', to, cookies };
}

export function serveSite(site: Site, settings: SiteSettings): Middleware {
  const router = new Router({ prefix: site.prefix });
  const limits = createLimits();
  for (const route of site.routes) {
    router[route.method](route.path, (ctx: Context & { params: Visit['params'] }) =>
      serveRoute(site, { ...settings, limits }, route, ctx),
    );
  }
  const routes = router.routes() as Middleware;

  return async (ctx, next: Next) => {
    const isOurs = ctx.path === site.prefix || ctx.path.startsWith(`${site.prefix}/`);
    if (!isOurs || (site.host !== null && ctx.host !== site.host)) return next() as Promise<void>;
    setSecurityHeaders(ctx);
    if (ctx.path === site.prefix || ctx.path === `${site.prefix}/`) {
      ctx.redirect(site.home);
      return;
    }
    try {
      await routes(ctx, () => sendProblem(site, ctx, null, problemOf('page_not_found')));
    } catch (error) {
      const problem = problemOf(error);
      if (problem.status >= 500) {
        const requestId = requestIdOf(ctx);
        settings.logger.error({ err: error, request_id: requestId }, 'page failed');
      }
      await sendProblem(site, ctx, null, problem);
    }
  };
}

async function serveRoute(
  site: Site,
  settings: SiteSettings & { limits: Limits },
  route: Route,
  ctx: Context & { params: Visit['params'] },
): Promise<void> {
  const isPost = ctx.method === 'POST';
  if (isPost && !isSameOrigin(ctx.req.headers, settings.publicUrl)) {
    await sendProblem(site, ctx, null, problemOf('other_origin'));
    return;
  }
  if (Object.values(ctx.params).some((value) => !PATH_PART.test(value ?? ''))) {
    await sendProblem(site, ctx, null, problemOf('page_not_found'));
    return;
  }
  const visit = readVisit(ctx, settings);
  const token = ctx.cookies.get(sessionCookie(site, settings.publicUrl).name);
  const readSession = () => (token === undefined ? null : site.readSession(token, visit.address));
  let session = await readSession();
  // The answer may be a file that is sent for a while.
  ctx.res.once('close', settings.limits.begin(costsOf(route), askerOf(visit, session)));
  if (isPost) {
    ({ form: visit.form, file: visit.file } = await readForm(ctx.req, route));
    // A form can be slow on purpose, and the session have ended before its last byte.
    session = await readSession();
  }
  refuseNul(visit.query, visit.form);
  if (route.needs === null) {
    // It is a page of whoever has the link, so that a merchant who is signed in sees no menu around it.
    await send(site, settings, ctx, visit, await route.run({ ...visit, session }));
    return;
  }
  if (session === null) {
    await send(site, settings, ctx, visit, await signInFirst(site, visit, token));
    return;
  }
  const signedIn = { ...visit, session, draft: null };
  if (session.mustEnrol && route.beforeEnrolment !== true) {
    ctx.status = 303;
    ctx.redirect(`${site.prefix}/security`);
    return;
  }
  if (!mayDo(session.actor, route.needs)) {
    const name = site.kind === 'merchant' ? 'not_allowed' : 'operator_not_allowed';
    await sendProblem(site, ctx, signedIn, problemOf(name));
    return;
  }
  try {
    await send(site, settings, ctx, signedIn, await answerOf(site, route, signedIn));
  } catch (error) {
    const problem = problemOf(error);
    if (problem.status >= 500) throw error;
    await sendProblem(site, ctx, signedIn, problem);
  }
}

function costsOf({ method, cost }: Route): Cost[] {
  return [...(method === 'post' ? (['form'] as const) : []), ...(cost === undefined ? [] : [cost])];
}

function askerOf({ address }: Visit, session: SignedIn | null): Asker {
  return {
    session: session?.sessionId ?? null,
    account: session?.actor.kind === 'merchant' ? session.actor.accountId : null,
    address: address === '' ? null : address,
  };
}

async function answerOf(
  site: Site,
  route: Extract<Route, { needs: Permission }>,
  visit: SignedInVisit,
): Promise<Answer> {
  if (route.recent === true && !visit.session.isRecent) {
    return confirmFirst(site, visit, { page: pageOf(site, visit), keeps: false });
  }
  const kept = visit.method === 'GET' ? site.drafts.take(visit) : null;
  const draft = kept === null ? null : new URLSearchParams(kept.secret);
  const answer = await route.run({ ...visit, draft });
  if (answer.kind === 'sign_in_again') {
    return confirmFirst(site, visit, { page: answer.page, keeps: true });
  }
  if (kept === null) return answer;
  const cookies = [...(answer.cookies ?? []), kept.cookie];
  if (answer.kind !== 'page') return { ...answer, cookies };
  const body = (
    <>
      <KeptForm signedIn={visit.session.isRecent} />
      {answer.body}
    </>
  );
  return { ...answer, body, cookies };
}

function readVisit(ctx: Context & { params: Visit['params'] }, settings: SiteSettings): Visit {
  const theme = ctx.cookies.get('theme');
  return {
    requestId: requestIdOf(ctx),
    method: ctx.method,
    path: ctx.path,
    params: ctx.params,
    query: new URLSearchParams(ctx.querystring),
    ...{ id: ctx.params['id'] ?? '', form: new URLSearchParams(), file: null },
    address: clientAddress(
      ctx.req.socket.remoteAddress,
      ctx.get('X-Forwarded-For'),
      settings.trustedProxyHops,
    ),
    userAgent: ctx.get('User-Agent'),
    referrer: ctx.get('Referer'),
    theme: theme === 'light' || theme === 'dark' ? theme : null,
    session: null,
    cookies: { get: (name) => ctx.cookies.get(name) },
  };
}

async function send(
  site: Site,
  { publicUrl }: SiteSettings,
  ctx: Context,
  visit: Visit,
  answer: Answer,
): Promise<void> {
  const secure = publicUrl.startsWith('https:');
  // A proxy ends TLS, so that Koa takes the connection for an insecure one.
  ctx.cookies.secure = secure;
  for (const { name, value, maxAgeSeconds, path } of answer.cookies ?? []) {
    ctx.cookies.set(name, value, {
      path: path ?? site.prefix,
      httpOnly: true,
      sameSite: 'strict',
      secure,
      ...(value === null ? {} : { maxAge: maxAgeSeconds * 1000 }),
    });
  }
  if (answer.kind === 'redirect') {
    ctx.status = 303;
    ctx.redirect(answer.to);
  } else if (answer.kind === 'download') {
    const content = await startDownload(answer.content);
    ctx.attachment(answer.name);
    ctx.type = answer.type;
    ctx.body = content;
  } else {
    ctx.status = answer.status ?? 200;
    await sendDocument(ctx, site.document(answer, visit));
  }
}

async function sendProblem(
  site: Site,
  ctx: Context,
  visit: Visit | null,
  problem: Problem,
): Promise<void> {
  const shown: Visit = visit ?? {
    requestId: requestIdOf(ctx),
    method: ctx.method,
    path: ctx.path,
    params: {},
    query: new URLSearchParams(),
    ...{ id: '', form: new URLSearchParams(), file: null },
    address: '',
    userAgent: '',
    referrer: '',
    theme: null,
    session: null,
    cookies: { get: () => undefined },
  };
  ctx.status = problem.status;
  if (problem.retryAfterS !== undefined) ctx.set('Retry-After', String(problem.retryAfterS));
  const body = <ProblemBody problem={problem} requestId={shown.requestId} home={site.home} />;
  await sendDocument(ctx, site.document(page(problem.title, body), shown));
}

/**
 * Compressed: cookies are SameSite=Strict, so no other site can have pages with guesses of its own
 * compressed beside a secret.
 */
async function sendDocument(ctx: Context, document: VNode | Promise<VNode>): Promise<void> {
  const html = `<!doctype html>${renderToString(await document)}`;
  ctx.type = 'text/html';
  ctx.vary('Accept-Encoding');
  const isCompressed = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isCompressed) ctx.set('Content-Encoding', 'gzip');
  ctx.body = isCompressed ? await gzipped(html) : html;
}

/** Set by the first middleware of the API process. */
function requestIdOf(ctx: Context): string {
  const { requestId } = ctx.state as { requestId?: string };
  return requestId ?? newId('request');
}
