/**
 * What a program refuses when GATEWAY_ENV=production: settings that are fine on a developer's machine
 * and lose money or secrets anywhere else. src/shell/config.ts and src/rails/wallet/config.ts report the faults.
 */
import { isIP } from 'node:net';
import { textOf } from './read-settings';
import { InvalidText, networkPrograms, secret } from './setting-kinds';
import { type Environment, type ProgramName, ROWS, type Setting } from './settings';

/** At the start of every secret that `npm start` generates. */
export const DEVELOPMENT_SECRET = 'development-only-';

const SECRET_LENGTH_MIN = 16;
/** 32 random hex digits have fewer in one of a million cases. */
const DIFFERENT_CHARACTERS_MIN = 8;
const NEW_SECRET = 'Set it to a new secret, such as the output of `openssl rand -hex 32`.';
/** Where the simulated providers serve their APIs. */
const SIMULATED_PATH = /^\/(onchain|exchange-pay)\/*$/;
const SIMULATED_SCREENING_PATH = /^\/sandbox\/screening\/*$/;
const PRIVATE_ADDRESS = /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|::1$|f[cd])/i;
const PRIVATE_NAME = /(^[^.]+|\.(local|internal|svc|svc\.cluster\.local))$/;

interface SetRow extends Setting {
  name: string;
  value: string;
}

/** Secrets are judged whether or not the program reads them; addresses are those of the program. */
export function productionFaults(program: ProgramName, env: Environment): string[] {
  if (env['GATEWAY_ENV'] !== 'production') return [];
  const rows = ROWS.flatMap(([name, row]): SetRow[] => {
    const value = textOf(name, env);
    const isJudged = row.isSecret === true || row.programs.includes(program);
    return value === null || !isJudged ? [] : partsOf({ ...row, name, value });
  });
  return [...rows.flatMap(faultsOf), ...repeatedSecrets(rows), ...unscreenedFaults(rows)];
}

/** A setting that has the URLs and the secrets of several programs is judged like as many settings. */
function partsOf(row: SetRow): SetRow[] {
  if (row.inProduction !== 'providers') return [row];
  try {
    return networkPrograms.parse(row.value).flatMap(({ networks, ...program }) => {
      const name = `${row.name} (${networks.join(',')})`;
      const { isSecret: _isSecret, ...open } = row;
      return [
        { ...open, name, value: program.baseUrl, inProduction: 'a provider' },
        { ...row, name, value: program.apiKey, inProduction: 'random and used once' },
        { ...row, name, value: program.callbackSecret, inProduction: 'random and used once' },
      ];
    });
  } catch (error) {
    // The kind refuses it.
    if (error instanceof InvalidText) return [];
    throw error;
  }
}

function faultsOf(row: SetRow): string[] {
  if (row.isSecret === true && row.value.includes(DEVELOPMENT_SECRET)) {
    return [
      `${row.name} contains a secret that \`npm start\` generated for development. ${NEW_SECRET}`,
    ];
  }
  return row.inProduction === undefined ? [] : RULES[row.inProduction](row);
}

const RULES: Record<NonNullable<Setting['inProduction']>, (row: SetRow) => string[]> = {
  // Its parts have rules of their own.
  providers: () => [],
  https: publicUrlFaults,
  'an identity provider': identityProviderFaults,
  'a provider': providerFaults,
  'a screening service': screeningFaults,
  random: guessableFaults,
  'random and used once': guessableFaults,
};

function guessableFaults({ name, value, kind }: SetRow): string[] {
  if (value.length < SECRET_LENGTH_MIN) {
    // The kind itself asks for more characters.
    if (kind === secret) return [];
    return [
      `${name} is too short for production. Use at least ${SECRET_LENGTH_MIN} random characters.`,
    ];
  }
  if (new Set(value).size >= DIFFERENT_CHARACTERS_MIN) return [];
  return [`${name} is not random. ${NEW_SECRET}`];
}

/** One secret for two purposes: who learns one has both, and neither can be changed alone. */
function repeatedSecrets(rows: readonly SetRow[]): string[] {
  const secrets = rows.filter(({ isSecret }) => isSecret === true);
  return secrets.flatMap(({ name, value, inProduction }, index) => {
    if (inProduction !== 'random and used once') return [];
    const earlier = secrets.slice(0, index).find((other) => other.value === value);
    if (earlier === undefined) return [];
    return [`${name} is the same secret as ${earlier.name}. ${NEW_SECRET}`];
  });
}

function publicUrlFaults(row: SetRow): string[] {
  return httpsFaults(row, ': put TLS in front of the program.');
}

function identityProviderFaults(row: SetRow): string[] {
  return httpsFaults(
    row,
    '. Set it to the issuer of your OpenID Connect provider, exactly as its discovery document writes it.',
  );
}

function httpsFaults({ name, value }: SetRow, remedy: string): string[] {
  if (URL.parse(value)?.protocol === 'https:') return [];
  return [`${name} must start with https:// in production${remedy}`];
}

function providerFaults(row: SetRow): string[] {
  return serviceFaults(
    row,
    SIMULATED_PATH,
    `${row.name} is a simulated provider. Set it to the provider's API, or remove it to close the provider in that mode.`,
  );
}

function screeningFaults(row: SetRow): string[] {
  return serviceFaults(
    row,
    SIMULATED_SCREENING_PATH,
    `${row.name} is the simulated screening, which clears nearly everything. Set it to your screening service.`,
  );
}

/** Whoever forgets the screening pays sanctioned addresses: doing without a service is said, not left out. */
function unscreenedFaults(rows: readonly SetRow[]): string[] {
  const isLiveProvider = ({ name, inProduction }: SetRow) =>
    inProduction === 'a provider' && name.endsWith('_LIVE_URL');
  if (!rows.some(isLiveProvider) || rows.some(({ name }) => name === 'SCREENING_URL')) return [];
  return [
    'SCREENING_URL is not set, and the gateway has a live provider. Set it to your screening service, or to none if imported lists alone, or nobody, have to clear destinations.',
  ];
}

function serviceFaults({ name, value }: SetRow, simulated: RegExp, isSimulated: string): string[] {
  const url = URL.parse(value);
  // The kind refuses what is no URL.
  if (url === null) return [];
  if (simulated.test(url.pathname)) return [isSimulated];
  if (url.protocol === 'https:' || isPrivate(url.hostname)) return [];
  return [`${name} must start with https:// outside of a private network.`];
}

function isPrivate(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? PRIVATE_NAME.test(host) : PRIVATE_ADDRESS.test(bare);
}
