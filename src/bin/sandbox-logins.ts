/**
 * The job "sandbox-logins" of docker-compose.yml, in the profile "sandbox": creates a merchant with funds
 * and an operator, and prints their logins. Later starts print the same ones.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { keepDemoEndpoint, keepUsers, seedDevelopment } from '../dev/prepare-database';
import { readCredentials, type SeededCredentials } from '../dev/settings-file';
import { connect } from '../db/connect';
import { findDemoMerchant } from '../db/accounts/accounts';
import { MODES } from '../domain/mode';
import { createCommand, runAsMain, runCommand, type Program } from '../platform/lib/command-line';
import { writePrivateJson } from '../platform/lib/data-folder';
import { newId } from '../platform/lib/new-id';
import { SetupError } from '../platform/lib/setup-error';
import { createAdjustment } from '../features/books/adjustments';

/** The name that the sandbox has in the network of docker-compose.yml. */
const INBOX_URL = 'http://inbox.example:3001/inbox';
const FUNDS = { currency: 'USDT', amount: '1000', direction: 'in' } as const;

export const runSandboxLogins: Program = (args, terminal) => {
  const command = createCommand('sandbox-logins', terminal)
    .description('Creates and prints the logins of the profile "sandbox" of docker-compose.yml.')
    .action(async () => {
      terminal.out(describe(await keepLogins(terminal.env), terminal.env));
    });
  return runCommand(command, args, terminal);
};

async function keepLogins(env: NodeJS.ProcessEnv): Promise<SeededCredentials> {
  if (env['GATEWAY_ENV'] === 'production') {
    throw new SetupError('sandbox-logins creates money, so it refuses to run in production.');
  }
  const need = (name: string): string => {
    const value = env[name] ?? '';
    if (value === '') throw new SetupError(`${name} is not set. docker-compose.yml sets it.`);
    return value;
  };
  const ownerUrl = need('DATABASE_OWNER_URL');
  const file = join(need('SANDBOX_DATA_DIR'), 'logins.json');
  const secret = need('SANDBOX_WEBHOOK_SECRET');
  const kept = existsSync(file) ? readCredentials(file) : null;
  const credentials = kept ?? {
    ...(await seedDevelopment({ ownerUrl, pepper: need('KEY_PEPPER') })),
    test_webhook_secret: secret,
  };
  await keepUsers(ownerUrl, credentials);
  await keepDemoEndpoint(ownerUrl, {
    url: INBOX_URL,
    secret,
    secretKey: need('WEBHOOK_SECRET_KEY'),
  });
  if (kept === null) {
    await addFunds(ownerUrl);
    writePrivateJson(file, credentials);
  }
  return credentials;
}

async function addFunds(ownerUrl: string): Promise<void> {
  const db = connect({ url: ownerUrl, size: 1, applicationName: 'gateway-seed' });
  try {
    const accountId = await findDemoMerchant(db);
    if (accountId === null) throw new SetupError('The database has no demo merchant.');
    const by = { actor: 'sandbox-logins', reason: 'Funds to try payouts' };
    for (const mode of MODES) {
      await createAdjustment(db, by, { ...FUNDS, id: newId('adjustment'), accountId, mode });
    }
  } finally {
    await db.destroy();
  }
}

function describe(credentials: SeededCredentials, env: NodeJS.ProcessEnv): string {
  const url = env['PUBLIC_URL'] ?? '';
  const { merchant, operator } = credentials;
  const rows = [
    ['Dashboard', `${url}/dashboard`],
    ['  Sign in', `${merchant.email}  ${merchant.password}`],
    ['Console', `${url}/console`],
    ['  Sign in', `${operator.email}  ${operator.password}`],
    ['API', `${url}/api/v1`],
    ['  Test key', credentials.test_key],
    ['  Live key', credentials.live_key],
    ['Guides', `${url}/docs`],
    ['Webhooks', `${env['SANDBOX_PUBLIC_URL'] ?? ''}/inbox`],
    ['Temporal', env['TEMPORAL_UI_URL'] ?? ''],
  ];
  const lines = rows.map(([name = '', value = '']) => `  ${name.padEnd(10)} ${value}`);
  return `\n${lines.join('\n')}\n\n  The providers are simulated: no real money is involved.\n\n`;
}

runAsMain(module, runSandboxLogins);
