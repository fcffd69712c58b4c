/** `admin keys`. */
import { MODES, type Mode } from '../domain/mode';
import { SCOPES } from '../domain/scopes';
import {
  createKey,
  listKeys,
  REQUESTS_PER_MINUTE_MAX,
  revokeKey,
  rotateKey,
  type KeyWithSecret,
} from '../services/admin/keys';
import { listOf, verb, type Noun } from './command';
import type { Options } from './options';
import { showList, showObject } from './output';
import { ACCOUNT } from './shared-options';

const THE_KEY = { id: { value: 'KEY_ID', help: 'the key' } };

const readId = (options: Options): string =>
  options.required('id', '`keys list` shows the ids, key_…');

/** The secret last, where a person looks for it. */
function showWithSecret({ secret, ...key }: KeyWithSecret): string {
  return `${showObject(key)}\n${secret}\nThis is the only time that the secret is shown.\n`;
}

export const KEYS: Noun = {
  summary: 'API keys.',
  verbs: {
    create: verb({
      summary: 'Makes a key and shows its secret, this once',
      notes: ['A live key needs a verified account. KEY_PEPPER has to be the gateway’s own.'],
      options: {
        ...ACCOUNT,
        mode: { value: 'test|live', help: 'the mode, for good' },
        scopes: { value: 'A,B', help: `all, or some of ${SCOPES.join(', ')}` },
        allow: { value: 'NET,NET', help: 'addresses it may be used from, IPv4, IPv6, CIDR (any)' },
        rate: { value: 'N', help: `requests a minute, 1 to ${REQUESTS_PER_MINUTE_MAX} (120)` },
        expires: { value: 'TIME', help: 'when it ends, such as 2027-01-01 (never)' },
        name: { value: 'TEXT', help: 'to tell keys apart (API key)' },
      },
      examples: [
        'keys create --mode test --scopes all --json',
        'keys create --account acc_… --mode live --scopes payouts:write,payouts:read \\\n' +
          '    --allow 203.0.113.0/24,2001:db8::/32 --rate 600 --expires 2027-01-01 --name "Shop backend"',
      ],
      changes: 'reason optional',
      read: (options) => ({
        account: options.text('account'),
        mode: options.requiredOneOf<Mode>('mode', MODES),
        scopes: readScopes(options),
        allow: options.list('allow') ?? [],
        rate: options.whole('rate', 1, REQUESTS_PER_MINUTE_MAX),
        expiresAt: options.date('expires') ?? null,
        name: options.text('name') ?? 'API key',
      }),
      run: async ({ db, by, accountId, pepper }, { account, ...settings }) =>
        createKey(db, by, pepper(), { ...settings, accountId: await accountId(account) }),
      show: showWithSecret,
    }),
    list: verb({
      summary: 'Lists the keys of an account, dead ones too',
      options: ACCOUNT,
      examples: ['keys list', 'keys list --account acc_… --json'],
      read: (options) => options.text('account'),
      run: async ({ db, accountId }, asked) => listOf(await listKeys(db, await accountId(asked))),
      show: (list) =>
        showList(
          list,
          ['id', 'mode', 'status', 'name', 'display', 'scopes', 'allow', 'rate', 'last_used_at'],
          'No key yet: `keys create` makes one.',
        ),
    }),
    rotate: verb({
      summary: 'Gives a key a new secret with the same settings, and shows it, this once',
      notes: ['The old secret is dead at once.'],
      subject: 'id',
      options: THE_KEY,
      examples: ['keys rotate key_… --reason "left in a log" --json'],
      changes: 'reason optional',
      read: readId,
      run: ({ db, by, pepper }, id) => rotateKey(db, by, pepper(), id),
      show: showWithSecret,
    }),
    revoke: verb({
      summary: 'Ends a key for good, from the next request on',
      subject: 'id',
      options: THE_KEY,
      examples: ['keys revoke key_… --reason "the shop has moved"'],
      changes: 'reason optional',
      read: readId,
      run: ({ db, by }, id) => revokeKey(db, by, id),
      show: showObject,
    }),
  },
};

function readScopes(options: Options): string[] {
  options.required('scopes', `all, or some of ${SCOPES.join(', ')}`);
  return options.list('scopes') ?? [];
}
