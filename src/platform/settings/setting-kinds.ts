/** What a setting can be. Each kind reads the text of a variable and says what it accepts. */
import { type Amount, CURRENCY_PATTERN, parseRequestAmount } from '../../domain/money';
import { OPERATOR_ROLES, type OperatorRole } from '../../domain/users';
import { parseCidr } from '../lib/cidr';
import { PUBLIC_KEY_BYTES } from '../lib/evidence-key';

export interface Kind<Value> {
  /** What the text must be, for messages and documents; null means any text. */
  form: string | null;
  /** @throws InvalidText */
  parse(text: string): Value;
}

/** The message says what is wrong and follows the name of the variable: "must be …". */
export class InvalidText extends Error {}

const SECRET_LENGTH_MIN = 32;

export const text: Kind<string> = { form: null, parse: (value) => value };

/** Browsers write the host in lower case. */
export const host: Kind<string> = { form: null, parse: (value) => value.toLowerCase() };

export const postgresUrl: Kind<string> = url(['postgres', 'postgresql'], (value) => value);

export const httpUrl: Kind<string> = url(['https', 'http'], (value) => value);

/** What somebody may do without, and has to say so. */
export const NONE = 'none';

export function orNone<Value>(kind: Kind<Value>): Kind<Value | null> {
  return {
    form: `${kind.form}, or ${NONE}`,
    parse: (text) => (text === NONE ? null : kind.parse(text)),
  };
}

export const smtpUrl: Kind<string> = url(['smtps', 'smtp'], (value) => value);

/** Paths are added to it, so it is read without the slashes at its end. */
export const baseUrl: Kind<string> = url(['https', 'http'], (value) => value.replace(/\/+$/, ''));

export const secret: Kind<string> = {
  form: `a secret of at least ${SECRET_LENGTH_MIN} characters`,
  parse: (value) => {
    if (value.length >= SECRET_LENGTH_MIN) return value;
    throw new InvalidText(`is too short. Use at least ${SECRET_LENGTH_MIN} random characters.`);
  },
};

export const secrets: Kind<string[]> = {
  form: `secrets of at least ${SECRET_LENGTH_MIN} characters, separated by commas`,
  parse: (value) => {
    const parts = partsOf(value);
    if (parts.every((part) => part.length >= SECRET_LENGTH_MIN)) return parts;
    throw new InvalidText(
      `has a secret that is too short. Each has at least ${SECRET_LENGTH_MIN} characters; separate them by commas.`,
    );
  },
};

export const publicKeys: Kind<string[]> = {
  form: 'public keys of 32 bytes in base64, separated by commas',
  parse: (value) => {
    const parts = partsOf(value);
    const isKey = (part: string) => {
      const bytes = Buffer.from(part, 'base64');
      return bytes.length === PUBLIC_KEY_BYTES && bytes.toString('base64') === part;
    };
    if (parts.every(isKey)) return parts;
    throw new InvalidText('has a text that is not a public key of 32 bytes in base64.');
  },
};

export const cidrs: Kind<string[]> = {
  form: 'networks such as 10.1.0.0/16, separated by commas',
  parse: (value) => {
    const parts = partsOf(value);
    for (const part of parts) {
      try {
        parseCidr(part);
      } catch (error) {
        throw new InvalidText(`has a wrong network: ${(error as Error).message}.`);
      }
    }
    return parts;
  },
};

export function count(min: number, max: number): Kind<number> {
  const form = `a whole number from ${min} to ${max}`;
  return {
    form,
    parse: (value) => {
      const number = /^[0-9]{1,9}$/.test(value) ? Number(value) : NaN;
      if (number >= min && number <= max) return number;
      throw new InvalidText(`must be ${form}, not "${value}".`);
    },
  };
}

export function choice<Value extends string>(values: readonly Value[]): Kind<Value> {
  const form = `one of: ${values.join(', ')}`;
  return {
    form,
    parse: (value) => {
      const chosen = values.find((one) => one === value);
      if (chosen === undefined) throw new InvalidText(`must be ${form}.`);
      return chosen;
    },
  };
}

/** Several of the values, in their order. */
export function choices<Value extends string>(values: readonly Value[]): Kind<Value[]> {
  const form = `a list of different values of: ${values.join(', ')}`;
  return {
    form,
    parse: (value) => {
      const asked = value.split(',').map((part) => part.trim());
      const chosen = values.filter((one) => asked.includes(one));
      if (chosen.length !== asked.length) throw new InvalidText(`must be ${form}.`);
      return chosen;
    },
  };
}

export const emails: Kind<string[]> = {
  form: 'email addresses, separated by commas',
  parse: (value) => {
    const parts = partsOf(value);
    if (parts.every((part) => /^[^\s@]+@[^\s@]+$/.test(part))) return parts;
    throw new InvalidText('has a text that is not an email address. Separate addresses by commas.');
  },
};

/** A program that serves some networks, with its API key and its callback secret. */
export interface NetworkProgram {
  networks: string[];
  baseUrl: string;
  apiKey: string;
  callbackSecret: string;
}

export const networkPrograms: Kind<NetworkProgram[]> = {
  form: 'networks=URL pairs, separated by spaces, such as tron=https://API_KEY:CALLBACK_SECRET@tron.example.com',
  parse: (value) => {
    const programs = value.split(/\s+/).map(readProgram);
    const networks = programs.flatMap((program) => program?.networks ?? []);
    const isWhole = programs.every((program) => program !== null);
    if (isWhole && new Set(networks).size === networks.length) return programs;
    throw new InvalidText(
      'must be networks=URL pairs with different networks, separated by spaces, such as tron,bitcoin=https://API_KEY:CALLBACK_SECRET@provider.example.com. Write other characters than letters, digits, - and _ of a key as in a URL, such as %2F.',
    );
  },
};

function readProgram(text: string): NetworkProgram | null {
  const [, names = '', address = ''] = /^([a-z0-9_,-]+)=(https?:\/\/.+)$/.exec(text) ?? [];
  const url = URL.parse(address);
  const networks = names.split(',');
  if (url === null || url.username === '' || url.password === '' || networks.includes(''))
    return null;
  try {
    const [apiKey, callbackSecret] = [url.username, url.password].map(decodeURIComponent);
    const path = url.pathname.replace(/\/+$/, '');
    if (apiKey === undefined || callbackSecret === undefined) return null;
    return { networks, baseUrl: `${url.origin}${path}`, apiKey, callbackSecret };
  } catch {
    // A percent sign that begins no character.
    return null;
  }
}

const CURRENCY = new RegExp(CURRENCY_PATTERN);

export const currencyAmounts: Kind<ReadonlyMap<string, Amount>> = {
  form: 'currency=amount pairs, separated by commas, such as USDT=10000,BTC=0.5',
  parse: (value) => {
    const parts = partsOf(value);
    const amounts = new Map<string, Amount>();
    for (const part of parts) {
      const [currency = '', text = '', ...more] = part.split('=');
      const amount = parseRequestAmount(text);
      if (CURRENCY.test(currency) && amount !== null && more.length === 0)
        amounts.set(currency, amount);
    }
    if (amounts.size > 0 && amounts.size === parts.length) return amounts;
    throw new InvalidText(
      'must be currency=amount pairs with different currencies, such as USDT=10000,BTC=0.5.',
    );
  },
};

/** The role of each group. A group may be a distinguished name, with commas and equals signs of its own. */
export const roleGroups: Kind<ReadonlyMap<string, OperatorRole>> = {
  form: `group=role pairs, separated by commas; the role is one of: ${OPERATOR_ROLES.join(', ')}`,
  parse: (value) => {
    const pair = new RegExp(`\\s*(.+?)=(${OPERATOR_ROLES.join('|')})\\s*(?:,|$)`, 'gy');
    const pairs = [...value.matchAll(pair)];
    const roles = new Map(pairs.map(([, group = '', role]) => [group, role as OperatorRole]));
    const isWhole = pairs.map(([text]) => text).join('') === value;
    if (isWhole && pairs.length > 0 && roles.size === pairs.length) return roles;
    throw new InvalidText(
      `must be group=role pairs with different groups, such as payments-admins=admin,payments-reviewers=reviewer. A role is one of: ${OPERATOR_ROLES.join(', ')}.`,
    );
  },
};

function url(protocols: readonly string[], tidy: (value: string) => string): Kind<string> {
  const form = `a URL starting with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`;
  return {
    form,
    parse: (value) => {
      if (protocols.some((protocol) => URL.parse(value)?.protocol === `${protocol}:`)) {
        return tidy(value);
      }
      throw new InvalidText(`must be ${form}.`);
    },
  };
}

function partsOf(list: string): string[] {
  return list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
