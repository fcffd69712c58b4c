/** `npm run wallet`: an operator's commands of the wallet, from the terminal. */
import { join } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import type { Address } from 'viem';
import {
  createCommand,
  type Program,
  runCommand,
  type Terminal,
  UsageError,
  wholeNumber,
} from '../../platform/lib/command-line';
import { dataLayout, developmentDatabaseUrl } from '../../platform/lib/data-folder';
import { printableJson } from '../../platform/lib/printable-json';
import { findSetting } from '../../platform/settings/read-settings';
import { addRefundCommands } from './checkouts/commands';
import { CHAIN, findByChainId, readAddress, REASON } from './command-options';
import { pausePayouts, pauseSigner, resumePausedSigner, resumePayouts } from './chain/pause';
import { Database } from './db/database';
import { migrateWallet } from './db/migrate';
import { type Decision, describeDecision, listDecisions, listDenials } from './decisions';
import { addAlarmCommands, addChainCommands } from './durable/commands';
import { addRescanCommand } from './follower/commands';
import { type Network, readNetworksFile } from './networks';
import { allowAddress, denyAddress } from './sender/denylist';
import { addTransferCommands } from './sender/commands';
import { chooseSigner } from './sender/choose-signer';
import { freeNonce } from './sender/free-nonce';
import { addRestoreCommand } from './sender/restore-command';
import type { SignerKey } from './sender/slots';
import { addKeyCommands } from './signer/commands';
import { describeStatus, readStatus } from './status';
import { addSweepCommands } from './sweep/commands';

const COMMAND = 'npm run wallet --';

const DECISIONS_MAX = 10_000;

const HELP = `
Examples:
  ${COMMAND} status
  ${COMMAND} pause --chain-id 1 --by alice --reason "node maintenance until 14:00"
  ${COMMAND} chain pause ethereum --by alice --reason "both nodes are upgraded"
  ${COMMAND} alarms list
  ${COMMAND} rescan ethereum --transaction 0x5c50… --by alice --reason "a customer asks"
  ${COMMAND} sweep --chain-id 1 --asset USDT --to 0x5290… --plan
  ${COMMAND} key create --keystore hot.json --password-file hot.password
  ${COMMAND} key import --keystore hot.json --password-file hot.password < key.hex

Environment:
  WALLET_DATABASE_URL        the wallet's own
  WALLET_DATABASE_OWNER_URL  the login that owns the schema, for migrate
  WALLET_NETWORKS_FILE       the wallet's own
  GATEWAY_DATA_DIR           without these: the data folder of \`npm start -- --chain\` (.gateway)

Exit codes: 0 done, 1 refused or not possible, 2 a wrong argument
`;

/** What every command of an operator works on. */
async function withDatabase<T>(env: NodeJS.ProcessEnv, work: (db: Database) => Promise<T>) {
  const db = new Database(databaseUrlOf(env), { size: 4 });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

function databaseUrlOf(env: NodeJS.ProcessEnv): string {
  return (
    findSetting('WALLET_DATABASE_URL', env) ??
    developmentDatabaseUrl(env, 'set WALLET_DATABASE_URL')
  );
}

function networksOf(env: NodeJS.ProcessEnv): Network[] {
  const given = findSetting('WALLET_NETWORKS_FILE', env);
  const isDevelopment = given === null || findSetting('GATEWAY_ENV', env) === 'development';
  const path = given ?? join(dataLayout(env).chain, 'networks.json');
  return readNetworksFile(path, { isDevelopment });
}

const BY = ['--by <NAME>', 'who decides this', 'not named'] as const;
const ONE_SIGNER = ['--signer <ADDRESS>', 'only this hot wallet'] as const;
const SIGNER = ['--signer <ADDRESS>', 'the hot wallet, where the network has several'] as const;
const ADDRESS = ['--address <ADDRESS>', 'an address of an EVM chain'] as const;

function addOperation(command: Command, { env, out }: Terminal): void {
  command
    .command('status')
    .description('Shows chains, heads, lag, floats, what is in flight, and alarms.')
    .option('--json', 'as JSON')
    .action(async ({ json }) => {
      const networks = networksOf(env);
      const status = await withDatabase(env, (db) => readStatus(db, networks, { sums: true }));
      out(json === true ? `${printableJson(status)}\n` : describeStatus(status));
    });
  command
    .command('migrate')
    .description('Brings the schema of the wallet to its newest form.')
    .action(async () => {
      const url =
        findSetting('WALLET_DATABASE_OWNER_URL', env) ??
        developmentDatabaseUrl(env, 'set WALLET_DATABASE_OWNER_URL');
      const applied = await migrateWallet(url);
      out(applied.length === 0 ? 'Nothing to do.\n' : `Applied ${applied.join(', ')}.\n`);
    });
  addPauses(command, { env, out });
  command
    .command('free-nonce')
    .description(
      'Replaces a stuck transaction by an empty one; its payout then gets another nonce.',
    )
    .argument('<NETWORK>', 'its name in WALLET_NETWORKS_FILE')
    .argument('<NONCE>', 'of a transaction in flight', wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .requiredOption('--by <NAME>', 'who decides this')
    .requiredOption('--reason <TEXT>', 'for the other operators')
    .option(...SIGNER)
    .action(async (name, nonce, { by, reason, signer }) => {
      const found = networksOf(env).filter((network) => network.name === name);
      const [network] = found;
      if (network === undefined || found.length > 1) {
        throw new UsageError(`WALLET_NETWORKS_FILE must have one network ${name}.`);
      }
      const isNew = await withDatabase(env, (db) =>
        freeNonce(db, {
          chainId: network.chainId,
          nonce: BigInt(nonce),
          by,
          reason,
          address: signer === undefined ? null : readAddress(signer),
        }),
      );
      out(`The nonce ${nonce} ${isNew ? 'is' : 'was already'} to be freed. See \`status\`.\n`);
    });
  command
    .command('deny')
    .description('Refuses payouts to an address and holds deposits from it.')
    .requiredOption(...ADDRESS)
    .requiredOption(...REASON)
    .option(...BY)
    .action(async ({ address, reason, by }) => {
      const denied = readAddress(address);
      await withDatabase(env, (db) => denyAddress(db, denied, { by, reason }));
      out(`${denied} is denied.\n`);
    });
  command
    .command('allow')
    .description('Ends `deny`.')
    .requiredOption(...ADDRESS)
    .option(...BY)
    .action(async ({ address, by }) => {
      const allowed = readAddress(address);
      const wasDenied = await withDatabase(env, (db) => allowAddress(db, allowed, by));
      out(`${allowed} ${wasDenied ? 'is not denied any more' : 'was not denied'}.\n`);
    });
  addLists(command, { env, out });
}

function addPauses(command: Command, { env, out }: Pick<Terminal, 'env' | 'out'>): void {
  command
    .command('pause')
    .description(
      'Stops the payouts of a chain, or of one hot wallet, until `resume`. Deposits are still read.',
    )
    .requiredOption(...CHAIN)
    .requiredOption(...REASON)
    .option(...ONE_SIGNER)
    .option(...BY)
    .action(async ({ chainId, reason, signer, by }) => {
      const network = findByChainId(networksOf(env), chainId);
      if (signer === undefined) {
        await withDatabase(env, (db) => pausePayouts(db, network.chainId, { by, reason }));
        out(`Payouts on the chain ${network.chainId} are paused.\n`);
        return;
      }
      const account = await withDatabase(env, async (db) => {
        const chosen = await chooseSigner(db, network, readSigner(signer));
        await pauseSigner(db, keyOf(network, chosen), { by, reason });
        return chosen;
      });
      out(`The hot wallet ${account} is paused on the chain ${network.chainId}.\n`);
    });
  command
    .command('resume')
    .description('Ends `pause`.')
    .requiredOption(...CHAIN)
    .option(...ONE_SIGNER)
    .option(...BY)
    .action(async ({ chainId, signer, by }) => {
      const network = findByChainId(networksOf(env), chainId);
      if (signer === undefined) {
        await withDatabase(env, (db) => resumePayouts(db, network.chainId, by));
        out(`Payouts on the chain ${network.chainId} are on.\n`);
        return;
      }
      const { account, wasPaused } = await withDatabase(env, async (db) => {
        const chosen = await chooseSigner(db, network, readSigner(signer));
        const key = keyOf(network, chosen);
        return { account: chosen, wasPaused: await resumePausedSigner(db, key, by) };
      });
      out(`The hot wallet ${account} ${wasPaused ? 'sends again' : 'was not paused'}.\n`);
    });
}

function keyOf({ chainId }: Network, signer: Address): SignerKey {
  return { chainId, signer: signer.toLowerCase() };
}

function readSigner(text: string | undefined): Address | undefined {
  return text === undefined ? undefined : readAddress(text);
}

function addLists(command: Command, { env, out }: Pick<Terminal, 'env' | 'out'>): void {
  const print = (decisions: Decision[], json: true | undefined, none: string): void => {
    if (json === true) out(`${printableJson(decisions)}\n`);
    else out(decisions.length === 0 ? `${none}\n` : decisions.map(describeDecision).join(''));
  };
  command
    .command('denied')
    .description('Lists the denied addresses: since when, by whom and why.')
    .option('--json', 'as JSON')
    .action(async ({ json }) => {
      print(await withDatabase(env, listDenials), json, 'No address is denied.');
    });
  command
    .command('decisions')
    .description('Lists what operators paused, resumed, denied and allowed, the newest first.')
    .option('--limit <N>', 'how many', wholeNumber(1, DECISIONS_MAX), 100)
    .option('--json', 'as JSON')
    .action(async ({ limit, json }) => {
      const decisions = await withDatabase(env, (db) => listDecisions(db, limit));
      print(decisions, json, 'Nothing was decided yet.');
    });
}

export const runWalletCommand: Program = (args, terminal) => {
  const command = createCommand(COMMAND, terminal)
    .description('Shows and operates the wallet: chains, alarms, keys, sweeps, denied addresses.')
    .addHelpText('after', HELP);
  addOperation(command, terminal);
  addKeyCommands(command, terminal);
  const { env } = terminal;
  const parts = {
    networks: () => networksOf(env),
    withDatabase: <T>(work: (db: Database) => Promise<T>) => withDatabase(env, work),
  };
  addSweepCommands(command, terminal, parts);
  addChainCommands(command, terminal, parts);
  addAlarmCommands(command, terminal, parts);
  addTransferCommands(command, terminal, parts);
  addRefundCommands(command, terminal, parts);
  addRescanCommand(command, terminal, parts);
  addRestoreCommand(command, terminal, parts);
  return runCommand(command, args, terminal);
};
