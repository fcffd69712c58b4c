/** `admin keys`. */
import { type Command, Option } from '@commander-js/extra-typings';
import { MODES } from '../domain/mode';
import { SCOPES } from '../domain/scopes';
import { wholeNumber } from '../lib/command-line';
import { presentApiKey } from '../presenters/admin';
import {
  createKey,
  listKeys,
  REQUESTS_PER_MINUTE_MAX,
  revokeKey,
  rotateKey,
  type KeyWithSecret,
} from '../services/admin/keys';
import type { Run } from './admin';
import { addNoun, ACCOUNT, changeVerb, list, readVerb, requireId, text, time } from './options';
import { listOf, showList, showWithSecret } from './output';

const WHERE = '`keys list` lists the ids (key_…).';
const THE_KEY = new Option('--id <KEY_ID>', 'the key').argParser(text);

export function addKeys(admin: Command, run: Run): void {
  const keys = addNoun(admin, 'keys', 'API keys.');
  changeVerb(keys, 'create', {
    summary: 'Create a key and show its secret once',
    notes: "A live key needs a verified account. KEY_PEPPER must be the gateway's own.",
    examples: [
      'keys create --mode test --scopes all --json',
      'keys create --account acc_… --mode live --scopes payouts:write,payouts:read \\\n' +
        '    --allow 203.0.113.0/24,2001:db8::/32 --rate 600 --expires 2027-01-01 --name "Shop backend"',
    ],
  })
    .addOption(ACCOUNT)
    .addOption(
      new Option('--mode <MODE>', 'the mode; it cannot be changed')
        .choices(MODES)
        .makeOptionMandatory(),
    )
    .requiredOption('--scopes <A,B>', `all, or some of ${SCOPES.join(', ')}`, list)
    .option('--allow <NET,NET>', 'allowed IPv4, IPv6 or CIDR addresses (default: any)', list)
    .option(
      '--rate <N>',
      `requests a minute, 1 to ${REQUESTS_PER_MINUTE_MAX} (default: 120)`,
      wholeNumber(1, REQUESTS_PER_MINUTE_MAX),
    )
    .option('--expires <TIME>', 'when it expires, such as 2027-01-01 (default: never)', time)
    .option('--name <TEXT>', 'a name, to tell keys apart', text, 'API key')
    .action((options) =>
      run(
        options,
        async ({ db, by, accountId, pepper }) => {
          const { mode, name, scopes, allow, rate, expires } = options;
          const key = await createKey(db, by, pepper(), {
            accountId: await accountId(options.account),
            mode,
            name,
            scopes,
            allow: allow ?? [],
            rate,
            expiresAt: expires ?? null,
          });
          return presentWithSecret(key);
        },
        showWithSecret,
      ),
    );
  readVerb(keys, 'list', {
    summary: 'List the keys of an account, newest first',
    examples: ['keys list', 'keys list --account acc_… --json'],
  })
    .addOption(ACCOUNT)
    .action((options) =>
      run(
        options,
        async ({ db, accountId }) =>
          listOf((await listKeys(db, await accountId(options.account))).map(presentApiKey)),
        (list) =>
          showList(
            list,
            ['id', 'mode', 'status', 'name', 'display', 'scopes', 'allow', 'rate', 'last_used_at'],
            'No keys. `keys create` creates one.',
          ),
      ),
    );
  changeVerb(keys, 'rotate', {
    summary: 'Give a key a new secret and show it once',
    notes: 'The settings stay the same, and the old secret stops working at once.',
    examples: ['keys rotate key_… --reason "left in a log" --json'],
  })
    .argument('[id]', 'the key', text)
    .addOption(THE_KEY)
    .action((argument, options) => {
      const id = requireId(argument, { id: options.id }, WHERE);
      return run(
        options,
        async ({ db, by, pepper }) => presentWithSecret(await rotateKey(db, by, pepper(), id)),
        showWithSecret,
      );
    });
  changeVerb(keys, 'revoke', {
    summary: 'Revoke a key permanently, from the next request on',
    examples: ['keys revoke key_… --reason "the shop has moved"'],
  })
    .argument('[id]', 'the key', text)
    .addOption(THE_KEY)
    .action((argument, options) => {
      const id = requireId(argument, { id: options.id }, WHERE);
      return run(options, async ({ db, by }) => presentApiKey(await revokeKey(db, by, id)));
    });
}

function presentWithSecret({ secret, ...key }: KeyWithSecret) {
  return { ...presentApiKey(key), secret };
}
