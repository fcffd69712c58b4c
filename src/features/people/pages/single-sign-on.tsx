/**
 * Single sign-on: to the provider, back, and the first time of an operator who had a password before. Cookies
 * are SameSite=Strict, so a browser that the provider sends here brings none: the address that it comes to
 * only opens the next page, which is a visit from our own site.
 */
import { type SingleSignOn, type SingleSignOnRefusal, TICKET_MINUTES } from '../single-sign-on';
import { EMPTY_FORM, Field } from '../../../kit/pages/forms';
import {
  type Answer,
  browserOf,
  get,
  ownPath,
  type Page,
  page,
  post,
  redirect,
  type Route,
  siteCookie,
} from '../../../kit/pages/site';
import type { SetCookie, Visit } from '../../../kit/pages/visit';
import { Box } from './box';
import { signedInAnswer } from './opened-session';
import type { AccountPages } from './page-options';
import { refusalOf } from './sign-in-parts';

type CookiePlace = ReturnType<typeof siteCookie>;

const gone = (cookie: CookiePlace): SetCookie => ({ ...cookie, value: null, maxAgeSeconds: 0 });
const kept = (cookie: CookiePlace, value: string): SetCookie => ({
  ...cookie,
  value,
  maxAgeSeconds: TICKET_MINUTES * 60,
});

/** Where the pages are, and the cookie of an operator who must link first. */
function placesOf({ site, publicUrl }: AccountPages) {
  const signIn = `${site.prefix}/sign-in`;
  const path = `${signIn}/sso`;
  return { signIn, path, linkCookie: siteCookie(site, publicUrl, 'link', path) };
}

function refused(
  options: AccountPages,
  reason: SingleSignOnRefusal,
  cookies: SetCookie[] = [],
): Page {
  const { text, status } = REFUSALS[reason];
  return page(
    TITLE,
    <Box product={options.product} title={TITLE} problem={text}>
      <a class="btn" href={placesOf(options).signIn}>
        Back to the sign-in
      </a>
    </Box>,
    { status, cookies },
  );
}

export function singleSignOnPages(options: AccountPages, singleSignOn: SingleSignOn): Route[] {
  const { site, product, publicUrl: origin } = options;
  const { signIn, path, linkCookie } = placesOf(options);
  const callback = `${origin}${path}/callback`;
  const ticketCookie = siteCookie(site, origin, 'sso', path);

  /** @param session to prove again */
  async function start(visit: Visit, session: Visit['session']): Promise<Answer> {
    const next = visit.query.get('next') ?? '';
    const started = await singleSignOn.start(callback, session, next);
    if (started === null) return refused(options, 'unavailable');
    return redirect(started.url, [kept(ticketCookie, started.ticket)]);
  }

  return [
    get('/sign-in/sso', null, (visit) => start(visit, null)),
    get('/confirm/sso', { needs: 'read', beforeEnrolment: true }, (visit) =>
      start(visit, visit.session),
    ),
    get('/sign-in/sso/callback', null, ({ query }) => {
      const next = `${path}/finish?${query.toString()}`;
      return page(
        TITLE,
        <Box product={product} title="Signing you in" problem={null}>
          <a class="btn" href={next}>
            Continue
          </a>
        </Box>,
        { opensNext: next },
      );
    }),
    get('/sign-in/sso/finish', { cost: 'password', needs: null }, async (visit) => {
      const answer = new URL(callback);
      answer.search = visit.query.toString();
      const ticket = visit.cookies.get(ticketCookie.name) ?? '';
      const browser = browserOf(site, visit);
      const outcome = await singleSignOn.finish(answer, ticket, visit.session, browser);
      const cookies = [gone(ticketCookie)];
      switch (outcome.kind) {
        case 'signed_in':
          return signedInAnswer(options, visit, outcome, { next: outcome.next, cookies });
        case 'proved':
          return redirect(ownPath(outcome.next, site.prefix) ?? site.home, cookies);
        case 'link':
          return redirect(`${path}/link`, [...cookies, kept(linkCookie, outcome.ticket)]);
        case 'not_signed_in':
          return refused(options, outcome.reason, cookies);
      }
    }),
    ...linkPages(options, singleSignOn),
    get('/sign-in/sso/sign-out', null, async () =>
      redirect((await singleSignOn.signOutUrl(`${origin}${signIn}`)) ?? signIn),
    ),
  ];
}

/** The first time of an operator who had a password before. */
function linkPages(options: AccountPages, singleSignOn: SingleSignOn): Route[] {
  const { site, product } = options;
  const { signIn, path, linkCookie } = placesOf(options);
  const linkForm = (email: string, problem: string | null, status = 200) =>
    page(
      LINK_TITLE,
      <LinkForm {...{ product, email, problem, signIn, action: `${path}/link` }} />,
      {
        status,
      },
    );

  const readLink = (visit: Visit) =>
    singleSignOn.readLink(visit.cookies.get(linkCookie.name) ?? '');

  return [
    get('/sign-in/sso/link', null, (visit) => {
      const ticket = readLink(visit);
      return ticket === null ? refused(options, 'expired') : linkForm(ticket.email, null);
    }),
    post('/sign-in/sso/link', { cost: 'password', needs: null }, async (visit) => {
      const ticket = readLink(visit);
      if (ticket === null) return refused(options, 'expired');
      const proof = {
        password: visit.form.get('password') ?? '',
        code: visit.form.get('code') ?? '',
      };
      const outcome = await singleSignOn.link(ticket, proof, browserOf(site, visit));
      if (outcome.kind === 'signed_in') {
        const { next } = ticket;
        return signedInAnswer(options, visit, outcome, { next, cookies: [gone(linkCookie)] });
      }
      const { text, status } = refusalOf(outcome, 'The password or the code is wrong.');
      return linkForm(ticket.email, text, status);
    }),
  ];
}

const LINK_TITLE = 'Link your operator';

interface LinkFormProps {
  product: string;
  email: string;
  problem: string | null;
  action: string;
  signIn: string;
}

function LinkForm({ product, email, problem, action, signIn }: LinkFormProps) {
  return (
    <Box product={product} title={LINK_TITLE} problem={problem}>
      <p>
        {email} is an operator who signed in with a password before. Enter that password, and a code
        if you use two-step verification. From then on, single sign-on is your way in.
      </p>
      <form method="post" action={action} class="stack">
        <Field
          name="password"
          label="Password"
          type="password"
          form={EMPTY_FORM}
          required
          autocomplete="current-password"
          maxLength={200}
        />
        <Field
          name="code"
          label="Code"
          hint="The code from your authenticator app, or a recovery code. Leave it empty if you do not use two-step verification."
          form={EMPTY_FORM}
          autocomplete="one-time-code"
          maxLength={40}
        />
        <button class="btn">Link and sign in</button>
        <a class="btn" data-variant="ghost" href={signIn}>
          Cancel
        </a>
      </form>
    </Box>
  );
}

const TITLE = 'Single sign-on';

const REFUSALS: Record<SingleSignOnRefusal, { text: string; status: number }> = {
  expired: {
    text: 'This sign-in has expired, was finished before, or began in another browser. Start again.',
    status: 401,
  },
  not_accepted: {
    text: 'The answer of the single sign-on provider was not accepted. Start again. If it happens again, the log of the gateway has the reason.',
    status: 401,
  },
  denied: { text: 'The single sign-on provider did not sign you in.', status: 401 },
  unavailable: {
    text: 'The single sign-on provider cannot be reached at present. Try again in a minute.',
    status: 503,
  },
  no_groups: {
    text: 'The single sign-on provider sends no groups for you, or not all of them, so you were not signed in. Your role is unchanged. Ask whoever runs the provider.',
    status: 403,
  },
  no_role: {
    text: 'None of your groups has a role here. Ask whoever runs the single sign-on provider to add you to one.',
    status: 403,
  },
  no_email: {
    text: 'The single sign-on provider sends no verified email address for you. It is required the first time.',
    status: 403,
  },
  disabled: {
    text: 'This operator is disabled here. An admin can enable the operator.',
    status: 403,
  },
  email_of_another: {
    text: 'Your email address belongs to an operator who is linked to another person of the provider. Ask whoever runs the gateway.',
    status: 403,
  },
  another_person: {
    text: 'You signed in at the provider as another person than here. Start again as the same person.',
    status: 403,
  },
  not_recent: {
    text: 'The single sign-on provider does not say that you have just signed in there (claim auth_time). Start again; if it happens again, ask whoever runs the provider.',
    status: 403,
  },
};
