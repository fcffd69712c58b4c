/** Which gateway the command calls and with which key: options, then the environment, then a profile. */
import { type ClientOptions, GatewayClient } from '../index';
import type { Values } from './command';
import { UsageError } from './failure';
import { checkProfileName, DEFAULT_PROFILE, type Profile, readProfiles } from './profiles';

export const DEFAULT_BASE_URL = 'http://localhost:3000/api/v1';

export interface Connection {
  client: GatewayClient;
  mode: 'test' | 'live';
}

export function connect(values: Values): Connection {
  const options = findConnection(values, process.env);
  return { client: createClient(options), mode: modeOf(options.key) };
}

export function modeOf(key: string): Connection['mode'] {
  return key.startsWith('sk_live_') ? 'live' : 'test';
}

/** A stored key is only sent to the base URL that is stored with it. */
export function findConnection(values: Values, env: NodeJS.ProcessEnv): Profile {
  const named = values.text('profile');
  // A profile that an option names comes before the environment.
  const { GATEWAY_API_KEY, GATEWAY_BASE_URL } = named === undefined ? env : {};
  const key = values.text('key') ?? notEmpty(GATEWAY_API_KEY);
  const baseUrl = values.text('base-url') ?? notEmpty(GATEWAY_BASE_URL);
  if (key !== undefined && baseUrl !== undefined) return { key, baseUrl };
  const profile = findProfile(named);
  if (key !== undefined) return { key, baseUrl: profile?.baseUrl ?? DEFAULT_BASE_URL };
  if (profile === null) {
    throw new UsageError('Run payments-gateway login, or set the variable GATEWAY_API_KEY.');
  }
  if (baseUrl !== undefined && trimmed(baseUrl) !== profile.baseUrl) {
    throw new UsageError(
      `The key of the profile "${named ?? DEFAULT_PROFILE}" is only sent to ${profile.baseUrl}.`,
      `For ${baseUrl}, set --key or GATEWAY_API_KEY, or run payments-gateway login --profile with another name.`,
    );
  }
  return profile;
}

/** @returns null if there is none and none was named */
function findProfile(named: string | undefined): Profile | null {
  const profiles = readProfiles();
  const profile = profiles.get(checkProfileName(named ?? DEFAULT_PROFILE)) ?? null;
  if (profile !== null || named === undefined) return profile;
  const names = profiles.size === 0 ? 'none' : [...profiles.keys()].join(', ');
  throw new UsageError(
    `There is no profile "${named}". Stored: ${names}.`,
    `Run payments-gateway login --profile ${named} to add it.`,
  );
}

/** @throws UsageError */
export function createClient(options: ClientOptions): GatewayClient {
  try {
    return new GatewayClient(options);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(
      error.message.replace(/^key/, 'The API key').replace(/^baseUrl/, 'The base URL'),
    );
  }
}

export function trimmed(baseUrl: string): string {
  return baseUrl.replace(/\/$/, '');
}

function notEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
