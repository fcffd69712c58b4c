/**
 * The operators' OpenID Connect provider: where a browser is sent, and who came back with it. The rules are
 * in decisions/people#single-sign-on; src/features/people/single-sign-on.ts decides what an identity may do.
 */
import {
  allowInsecureRequests,
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
} from 'openid-client';
import type { Logger } from 'pino';
import { isPrintable } from '../../domain/printable';
import type { OperatorRole } from '../../domain/users';

export interface OidcConfig {
  issuer: string;
  clientId: string;
  clientSecret: string;
  roleOfGroup: ReadonlyMap<string, OperatorRole>;
  groupsClaim: string;
  emailClaim: string;
  scope: string;
  sessionMinutes: number;
  /** The email addresses of operators who may sign in without the provider. */
  breakGlass: readonly string[];
}

/** The values that bind an answer of the provider to the browser that was sent there. */
export interface Challenge {
  state: string;
  nonce: string;
  /** The PKCE verifier; the provider gets its hash first. */
  verifier: string;
}

/** The person of a verified ID token. */
export interface Identity {
  issuer: string;
  subject: string;
  /** Null if the provider sends none that it vouches for. */
  email: string | null;
  name: string;
  /** Null if the provider sends no groups, or not all of them. */
  groups: readonly string[] | null;
  /** When the person last proved who they are; null if the provider does not tell. */
  authenticatedAt: Date | null;
}

export type Identified =
  | { kind: 'identified'; identity: Identity }
  /** The person, or the provider for them, refused. */
  | { kind: 'denied' }
  /** The answer belongs to another browser, sign-in or provider, or was used before. */
  | { kind: 'not_accepted' }
  | { kind: 'unavailable' };

export interface OidcProvider {
  /** @param anew whether the person must prove again who they are. Null if the provider is unavailable. */
  authorizationUrl(
    challenge: Challenge,
    how: { redirectUri: string; anew: boolean },
  ): Promise<string | null>;
  /** @param answer the address that the provider sent the browser to */
  identify(challenge: Challenge, answer: URL): Promise<Identified>;
  /** Where the person signs out of the provider as well; null if it has no such page. */
  signOutUrl(returnTo: string): Promise<string | null>;
}

const TIMEOUT_S = 5;
/** A provider changes its addresses rarely; its keys are read again when an unknown one is used. */
const DISCOVERY_MS = 60 * 60_000;

export function createOidcProvider(config: OidcConfig, logger: Logger): OidcProvider {
  let known: { client: Configuration; until: number } | null = null;

  /** Null if the provider does not answer, or is not the one of the settings. A later request asks again. */
  async function discover(): Promise<Configuration | null> {
    if (known !== null && performance.now() < known.until) return known.client;
    try {
      const client = await readDiscovery(config);
      known = { client, until: performance.now() + DISCOVERY_MS };
      return client;
    } catch (error) {
      logger.warn({ err: error, issuer: config.issuer }, 'the OpenID provider is unavailable');
      return known?.client ?? null;
    }
  }

  return {
    authorizationUrl: async ({ state, nonce, verifier }, { redirectUri, anew }) => {
      const client = await discover();
      if (client === null) return null;
      const url = buildAuthorizationUrl(client, {
        redirect_uri: redirectUri,
        scope: config.scope,
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        // A provider that gets a limit says when the person signed in there.
        max_age: String(anew ? 0 : SIGN_IN_AGE_MAX_S),
        ...(anew ? { prompt: 'login' } : {}),
      });
      return url.href;
    },
    identify: async (challenge, answer) => {
      const client = await discover();
      if (client === null) return { kind: 'unavailable' };
      try {
        return {
          kind: 'identified',
          identity: await readIdentity(client, config, challenge, answer),
        };
      } catch (error) {
        const kind = kindOf(error);
        logger.warn({ err: error, outcome: kind }, 'a single sign-on failed');
        return { kind };
      }
    },
    signOutUrl: async (returnTo) => {
      const client = await discover();
      if (client?.serverMetadata().end_session_endpoint === undefined) return null;
      return buildEndSessionUrl(client, { post_logout_redirect_uri: returnTo }).href;
    },
  };
}

/** An operator signs in at the provider once a working day. */
const SIGN_IN_AGE_MAX_S = 12 * 60 * 60;

async function readDiscovery({ issuer, clientId, clientSecret }: OidcConfig) {
  const isHttps = issuer.startsWith('https:');
  const client = await discovery(new URL(issuer), clientId, clientSecret, auth(clientSecret), {
    timeout: TIMEOUT_S,
    // The signature is checked even if the token came straight from the provider.
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- production refuses http://
    execute: [enableNonRepudiationChecks, ...(isHttps ? [] : [allowInsecureRequests])],
  });
  const { issuer: own } = client.serverMetadata();
  if (own !== issuer) {
    throw new Error(`the provider calls itself ${own}. Set OIDC_ISSUER to exactly that.`);
  }
  return client;
}

/** In the header, as the specification prefers, unless the provider says that it takes it in the body only. */
function auth(secret: string): ClientAuth {
  const basic = ClientSecretBasic(secret);
  const post = ClientSecretPost(secret);
  return (as, client, body, headers) => {
    const methods = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const use = methods.includes('client_secret_basic') ? basic : post;
    use(as, client, body, headers);
  };
}

async function readIdentity(
  client: Configuration,
  config: OidcConfig,
  { state, nonce, verifier }: Challenge,
  answer: URL,
): Promise<Identity> {
  const tokens = await authorizationCodeGrant(client, answer, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  });
  const token = tokens.claims();
  if (token === undefined) throw new Error('the provider sent no ID token');
  const { groupsClaim, emailClaim } = config;
  const isComplete = token[groupsClaim] !== undefined && emailOf(token, emailClaim) !== null;
  const hasMore = client.serverMetadata().userinfo_endpoint !== undefined;
  // Claims about the sign-in itself, such as its time, are read from the signed token alone.
  const more =
    isComplete || !hasMore ? {} : await fetchUserInfo(client, tokens.access_token, token.sub);
  const claims: Readonly<Record<string, unknown>> = { ...more, ...token };
  return {
    issuer: token.iss,
    subject: checkSubject(token.sub),
    email: emailOf(claims, emailClaim),
    name: textOf(claims['name']),
    groups: groupsOf(claims, groupsClaim),
    authenticatedAt: token.auth_time === undefined ? null : timeOf(token.auth_time),
  };
}

/** OpenID Connect Core 1.0, section 2, "sub". */
const SUBJECT_LENGTH_MAX = 255;

/** PostgreSQL stores no NUL, and unpaired surrogates of two people would become the same text. */
function checkSubject(subject: string): string {
  if (subject.length <= SUBJECT_LENGTH_MAX && isPrintable(subject)) return subject;
  throw new Error(
    'the subject of the ID token is too long or has characters that cannot be stored',
  );
}

function timeOf(seconds: number): Date {
  const time = new Date(seconds * 1_000);
  if (Number.isNaN(time.getTime())) throw new Error('auth_time of the ID token is not a time');
  return time;
}

/**
 * A provider whose person has too many groups names another place for the claim, or says only that there are groups.
 * @returns null when the claim is not the whole list
 */
function groupsOf(claims: Readonly<Record<string, unknown>>, claim: string): string[] | null {
  const groups = claims[claim];
  const elsewhere = claims['_claim_names'];
  const isElsewhere = typeof elsewhere === 'object' && elsewhere !== null && claim in elsewhere;
  if (isElsewhere || claims['hasgroups'] === true || claims['hasgroups'] === 'true') return null;
  if (typeof groups === 'string') return [groups];
  const isList = Array.isArray(groups) && groups.every((one) => typeof one === 'string');
  return isList ? groups : null;
}

/** Anybody can enter somebody else's address at many providers; only a verified one names a person. */
function emailOf(claims: Readonly<Record<string, unknown>>, claim: string): string | null {
  const email = textOf(claims[claim]);
  if (email === '') return null;
  return claim !== 'email' || claims['email_verified'] === true ? email : null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function kindOf(error: unknown): Exclude<Identified['kind'], 'identified'> {
  if (error instanceof AuthorizationResponseError) {
    const { error: code } = error;
    if (code === 'access_denied') return 'denied';
    return code === 'server_error' || code === 'temporarily_unavailable'
      ? 'unavailable'
      : 'not_accepted';
  }
  if (error instanceof ClientError) {
    const status = error.cause instanceof Response ? error.cause.status : 0;
    return error.code === 'OAUTH_TIMEOUT' || status >= 500 ? 'unavailable' : 'not_accepted';
  }
  // fetch throws a TypeError when nothing listens or the connection broke.
  return error instanceof TypeError ? 'unavailable' : 'not_accepted';
}
