/** `payments-gateway login` and `logout`. */
import type { Command, Run } from './command';
import { createClient, DEFAULT_BASE_URL, modeOf, trimmed } from './connection';
import { UsageError } from './failure';
import { note, print, printableJson } from './output';
import {
  checkProfileName,
  DEFAULT_PROFILE,
  profilesFile,
  readProfiles,
  writeProfiles,
} from './profiles';
import { openTerminal } from './terminal';

const PROFILE = {
  profile: { value: '<name>', help: `the profile's name (default: ${DEFAULT_PROFILE})` },
} as const;

export const LOGIN: Command = {
  name: 'login',
  summary: 'Stores an API key for the next commands',
  options: {
    ...PROFILE,
    'base-url': { value: '<url>', help: 'the API; asked for if it is missing' },
    key: {
      value: '<key>',
      help: 'the API key; asked for if it is missing, and hidden while you type',
    },
  },
  more: `The key is verified with a request. It is stored with the base URL in a file that only you can read,
and is only sent to this base URL. Answers can also come from standard input, one for each line.`,
  examples: ['login', 'login --profile live --base-url https://pay.example.com/api/v1'],
  run: login,
};

export const LOGOUT: Command = {
  name: 'logout',
  summary: 'Deletes a stored API key',
  options: PROFILE,
  more: 'The key stays valid. Revoke it on the dashboard if somebody else may have it.',
  examples: ['logout', 'logout --profile live'],
  run: logout,
};

async function login({ values, signal, asJson }: Run): Promise<void> {
  const name = checkProfileName(values.text('profile') ?? DEFAULT_PROFILE);
  const profiles = readProfiles();
  const known = profiles.get(name)?.baseUrl ?? process.env['GATEWAY_BASE_URL'] ?? DEFAULT_BASE_URL;
  const terminal = openTerminal(signal);
  let baseUrl = values.text('base-url');
  let key = values.text('key');
  try {
    baseUrl ??= (await terminal.ask(`Base URL of the API [${known}]: `)) || known;
    key ??= await terminal.askHidden('API key (it is not shown): ');
  } finally {
    terminal.close();
  }
  const client = createClient({ baseUrl, key, maxRetries: 2 });
  warnOfPlainText(baseUrl);
  await client.currencies.list({ signal });
  const profile = { baseUrl: trimmed(baseUrl), key };
  writeProfiles(profiles.set(name, profile));
  const mode = modeOf(key);
  const done = { profile: name, base_url: profile.baseUrl, mode, file: profilesFile() };
  print(
    asJson
      ? printableJson(done, 2)
      : `Logged in to ${done.base_url} in ${mode} mode. The key is stored as the profile "${name}" in ${done.file}.`,
  );
}

function warnOfPlainText(baseUrl: string): void {
  const { protocol, hostname } = new URL(baseUrl);
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if (protocol === 'http:' && !isLocal) {
    note('Warning: without https://, others on the network can read the key.');
  }
}

function logout({ values, asJson }: Run): void {
  const name = checkProfileName(values.text('profile') ?? DEFAULT_PROFILE);
  const profiles = readProfiles();
  if (!profiles.delete(name)) {
    throw new UsageError(`There is no profile "${name}".`, 'Nothing was deleted.');
  }
  writeProfiles(profiles);
  print(asJson ? printableJson({ profile: name }) : `The key of the profile "${name}" is deleted.`);
}
