/** `admin keys`. */
import { type Command, Option } from '@commander-js/extra-typings';
import { MODES } from '../../../domain/mode';
import {
  createKey,
  limitKey,
  listKeys,
  presentKeyForOperator,
  revokeKey,
  rotateKey,
  setLiveKeysByApi,
} from '../api-keys';
import type { Run } from '../../../kit/admin/context';
import { addFields, inputOf } from '../../../kit/admin/change-options';
import { ACCOUNT, addNoun, changeVerb, readVerb, runList, runOn } from '../../../kit/admin/options';
import { showWithSecret } from '../../../kit/admin/output';

const KEY = { name: 'key', value: 'KEY_ID', where: '`keys list` lists the ids (key_…).' };

export function addKeys(admin: Command, run: Run): void {
  const keys = addNoun(admin, 'keys', 'API keys.');
  const create = changeVerb(keys, 'create', {
    summary: 'Create a key and show its secret once',
    notes: "A live key needs a verified account. KEY_PEPPER must be the gateway's own.",
    examples: [
      'keys create --mode test --scopes all --json',
      'keys create --account acc_… --mode live --scopes payouts:write,payouts:read \\\n' +
        '    --allow 203.0.113.0/24,2001:db8::/32 --rate 600 --expires 2027-01-01 --name "Shop backend"',
      'keys create --mode live --scopes payouts:write --pay-to recipients --daily-max USDT=5000',
    ],
  })
    .addOption(ACCOUNT)
    .addOption(
      new Option('--mode <MODE>', 'the mode; it cannot be changed')
        .choices(MODES)
        .makeOptionMandatory(),
    );
  addFields(create, createKey, { name: 'API key' });
  create.action((options) =>
    run(
      options,
      async ({ db, by, accountId, pepper }) => {
        const subject = {
          pepper: pepper(),
          accountId: await accountId(options.account),
          mode: options.mode,
        };
        return withSecret(await createKey.make(db, by, subject, inputOf(createKey, options)));
      },
      showWithSecret,
    ),
  );
  const live = changeVerb(keys, 'live', {
    summary: 'Set whether live keys may be created and rolled by API',
    notes: 'It is off for a new account.',
    examples: ['keys live --account acc_… --by-api no --reason "keys may have leaked"'],
  }).addOption(ACCOUNT);
  addFields(live, setLiveKeysByApi);
  live.action((options) =>
    run(options, async ({ db, by, accountId }) => {
      const subject = { accountId: await accountId(options.account) };
      return setLiveKeysByApi.make(db, by, subject, inputOf(setLiveKeysByApi, options));
    }),
  );
  runList(
    run,
    readVerb(keys, 'list', {
      summary: 'List the keys of an account, newest first',
      examples: ['keys list', 'keys list --account acc_… --json'],
    }).addOption(ACCOUNT),
    async ({ db, accountId }, { account }) =>
      (await listKeys(db, await accountId(account))).map(presentKeyForOperator),
    [
      'id',
      'mode',
      'status',
      'name',
      'display',
      'scopes',
      'allowed_addresses',
      'requests_per_minute',
      'last_used_at',
    ],
    'No keys. `keys create` creates one.',
  );
  addKeyChanges(keys, run);
}

function addKeyChanges(keys: Command, run: Run): void {
  const limit = changeVerb(keys, 'limit', {
    summary: 'Replace the rules for the payouts of a key',
    notes: 'What is left out is not limited.',
    examples: [
      'keys limit key_… --pay-to recipients --payout-max USDT=500 --daily-max USDT=5000,BTC=0.1',
      'keys limit key_… --reason "the shop pays refunds only" --json',
    ],
  });
  addFields(limit, limitKey);
  runOn(run, limit, KEY, async ({ db, by }, id, options) =>
    presentKeyForOperator(await limitKey.make(db, by, { id }, inputOf(limitKey, options))),
  );
  runOn(
    run,
    changeVerb(keys, 'rotate', {
      summary: 'Give a key a new secret and show it once',
      notes: 'The settings stay the same, and the old secret stops working at once.',
      examples: ['keys rotate key_… --reason "left in a log" --json'],
    }),
    KEY,
    async ({ db, by, pepper }, id) =>
      withSecret(await rotateKey.make(db, by, { id, pepper: pepper() }, {})),
    showWithSecret,
  );
  runOn(
    run,
    changeVerb(keys, 'revoke', {
      summary: 'Revoke a key permanently, from the next request on',
      examples: ['keys revoke key_… --reason "the shop has moved"'],
    }),
    KEY,
    async ({ db, by }, id) => presentKeyForOperator(await revokeKey.make(db, by, { id }, {})),
  );
}

function withSecret({ secret, ...key }: Awaited<ReturnType<typeof rotateKey.make>>) {
  return { ...presentKeyForOperator(key), secret };
}
