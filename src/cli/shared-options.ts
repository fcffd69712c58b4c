/** Options that several verbs have, so that they are called and read the same everywhere. */
import { UsageError } from '../lib/command-line';
import type { Context, OptionSpec } from './command';
import type { Options } from './options';

const LIMIT = 100;
const LIMIT_MAX = 10_000;

export const ACCOUNT: Record<string, OptionSpec> = {
  account: {
    value: 'ACC_ID',
    help: 'whose; in development the demo merchant when left out',
  },
};

export const ACCOUNT_OR_DEFAULT: Record<string, OptionSpec> = {
  ...ACCOUNT,
  default: { help: 'the default for every account, instead of one account' },
};

export const CURRENCY: Record<string, OptionSpec> = {
  currency: { value: 'CODE', help: 'a currency that the gateway moves, such as USDT' },
};

export const LIMITED: Record<string, OptionSpec> = {
  limit: { value: 'N', help: `how many at most (${LIMIT})` },
};

/** An account, undefined for the demo merchant, or null for the default. */
export type AccountOrDefault = string | undefined | null;

export function readAccountOrDefault(options: Options): AccountOrDefault {
  const account = options.text('account');
  if (!options.flag('default')) return account;
  if (account === undefined) return null;
  throw new UsageError('--account and --default exclude each other: leave one of them out.');
}

export async function resolveAccount(
  context: Context,
  account: AccountOrDefault,
): Promise<string | null> {
  return account === null ? null : context.accountId(account);
}

export function readCurrency(options: Options): string {
  return options.required('currency', 'a currency that the gateway moves, such as USDT');
}

export function readLimit(options: Options): number {
  return options.whole('limit', 1, LIMIT_MAX) ?? LIMIT;
}
