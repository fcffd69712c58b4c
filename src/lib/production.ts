/**
 * What a program refuses when GATEWAY_ENV=production: settings that are fine on a developer's machine
 * and lose money or secrets anywhere else. src/config.ts and src/wallet/config.ts report the faults.
 */
import { isIP } from 'node:net';
import { isSecretSetting } from './settings';

type Environment = Readonly<Record<string, string | undefined>>;

/** At the start of every secret that `npm start` generates. */
export const DEVELOPMENT_SECRET = 'development-only-';

const CREDENTIAL_MIN_LENGTH = 16;
/** 32 random hex digits have fewer in one of a million cases. */
const DIFFERENT_CHARACTERS_MIN = 8;
const NEW_SECRET = 'Set it to a new secret, such as the output of `openssl rand -hex 32`.';
/** Ours to choose, so they can be judged; a password in a URL cannot. */
const CHOSEN = /^(KEY_PEPPER|CURSOR_SECRET|WEBHOOK_SECRET_KEY|ONCHAIN_\w+|EXCHANGE_PAY_\w+)$/;
const PROVIDER = /^(ONCHAIN|EXCHANGE_PAY)_/;
const PROVIDER_URL = /^(ONCHAIN|EXCHANGE_PAY)_(TEST|LIVE)_URL$/;
/** Where the simulated providers serve their APIs. */
const SIMULATED_PATH = /^\/(onchain|exchange-pay)\/*$/;
const PRIVATE_ADDRESS = /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|::1$|f[cd])/i;
const PRIVATE_NAME = /(^[^.]+|\.(local|internal|svc|svc\.cluster\.local))$/;

/** @param publicUrl the variable with the address that browsers and merchants use, and whether it is needed */
export function productionFaults(
  env: Environment,
  publicUrl: { name: string; isRequired: boolean },
): string[] {
  if (env['GATEWAY_ENV'] !== 'production') return [];
  const settings = Object.entries(env).flatMap(([name, value]): [string, string][] =>
    value === undefined || value.trim() === '' ? [] : [[name, value.trim()]],
  );
  const secrets = settings.filter(([name]) => isSecretSetting(name));
  return [
    ...secrets.flatMap(([name, value]) => secretFaults(name, value)),
    ...repeatedSecrets(secrets),
    ...publicUrlFaults(publicUrl, env[publicUrl.name]?.trim() ?? ''),
    ...settings
      .filter(([name]) => PROVIDER_URL.test(name))
      .flatMap(([name, value]) => providerFaults(name, value)),
  ];
}

function secretFaults(name: string, value: string): string[] {
  if (value.includes(DEVELOPMENT_SECRET)) {
    return [
      `${name} contains a secret that \`npm start\` generated for development. ${NEW_SECRET}`,
    ];
  }
  if (!CHOSEN.test(name)) return [];
  // src/config.ts asks more of its own.
  if (PROVIDER.test(name) && value.length < CREDENTIAL_MIN_LENGTH) {
    return [
      `${name} is too short for production. Use at least ${CREDENTIAL_MIN_LENGTH} random characters.`,
    ];
  }
  if (value.length < CREDENTIAL_MIN_LENGTH || new Set(value).size >= DIFFERENT_CHARACTERS_MIN)
    return [];
  return [`${name} is not random. ${NEW_SECRET}`];
}

/** One secret for two purposes: who learns one has both, and neither can be changed alone. */
function repeatedSecrets(secrets: readonly [string, string][]): string[] {
  const chosen = secrets.filter(([name]) => CHOSEN.test(name) && !name.endsWith('_API_KEY'));
  return chosen.flatMap(([name, value], index) => {
    const [earlier] = chosen.slice(0, index).find(([, other]) => other === value) ?? [];
    return earlier === undefined ? [] : [`${name} is the same secret as ${earlier}. ${NEW_SECRET}`];
  });
}

function publicUrlFaults(
  { name, isRequired }: { name: string; isRequired: boolean },
  value: string,
): string[] {
  if (value === '') {
    if (!isRequired) return [];
    return [`${name} is not set. Set it to the https:// address that people open in production.`];
  }
  if (URL.parse(value)?.protocol === 'https:') return [];
  return [`${name} must start with https:// in production: put TLS in front of the program.`];
}

function providerFaults(name: string, value: string): string[] {
  const url = URL.parse(value);
  // What is no URL is reported elsewhere.
  if (url === null) return [];
  if (SIMULATED_PATH.test(url.pathname)) {
    return [
      `${name} is a simulated provider. Set it to the provider's API, or remove it to close the provider in that mode.`,
    ];
  }
  if (url.protocol === 'https:' || isPrivate(url.hostname)) return [];
  return [`${name} must start with https:// outside of a private network.`];
}

function isPrivate(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? PRIVATE_NAME.test(host) : PRIVATE_ADDRESS.test(bare);
}
