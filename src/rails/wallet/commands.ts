/** `npm run wallet`: an operator's commands of the wallet, from the terminal. */
import { join } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import {
  createCommand,
  errorText,
  type Program,
  runCommand,
  wholeNumber,
} from '../../platform/lib/command-line';
import { dataLayout, developmentDatabaseUrl } from '../../platform/lib/data-folder';
import { findSetting } from '../../platform/settings/read-settings';
import { addAlarmCommands } from './alarm-commands';
import { addChainCommands } from './chain-commands';
import { pause, pauseSigner, resume, resumePausedSigner } from './chain/pause';
import { ChainUnavailable } from './chain/rpc';
import { addRefundCommands } from './checkouts/commands';
import {
  BY,
  CHAIN,
  type CommandParts,
  findByChainId,
  findNetwork,
  JSON_OUTPUT,
  networkCommand,
  print,
  readAddress,
  REASON,
  SIGNER,
} from './command-options';
import { Database } from './db/database';
import { migrateWallet } from './db/migrate';
import { type Decision, describeDecision, listDecisions, listDenials } from './decisions';
import { addRescanCommand } from './follower/commands';
import { type Network, readNetworksFile } from './networks';
import { chooseSigner } from './sender/choose-signer';
import { addTransferCommands } from './sender/commands';
import { allowAddress, denyAddress } from './sender/denylist';
import { freeNonce } from './sender/free-nonce';
import { addRestoreCommand } from './sender/restore-command';
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

export const runWalletCommand: Program = (args, terminal) => {
  const { env, out } = terminal;
  const command = createCommand(COMMAND, terminal)
    .description('Shows and operates the wallet: chains, alarms, keys, sweeps, denied addresses.')
    .addHelpText('after', HELP);
  const parts: CommandParts = {
    ...{ env, out, networks: () => networksOf(env) },
    withDatabase: async (work) => {
      const db = new Database(databaseUrlOf(env, 'WALLET_DATABASE_URL'), { size: 4 });
      try {
        return await work(db);
      } finally {
        await db.destroy();
      }
    },
  };
  for (const add of COMMANDS) add(command, parts);
  return runCommand(command, args, terminal, errorSentence);
};

/** A node that is silent for a moment is no error of the installation. */
function errorSentence(error: unknown): string {
  if (!(error instanceof ChainUnavailable)) return errorText(error);
  return `No node of the network answered (${error.message}). Run the command again. If the error persists, check rpc_urls in WALLET_NETWORKS_FILE.`;
}

function databaseUrlOf(
  env: NodeJS.ProcessEnv,
  name: 'WALLET_DATABASE_URL' | 'WALLET_DATABASE_OWNER_URL',
) {
  return findSetting(name, env) ?? developmentDatabaseUrl(env, 'set WALLET_DATABASE_URL');
}

function networksOf(env: NodeJS.ProcessEnv): Network[] {
  const given = findSetting('WALLET_NETWORKS_FILE', env);
  const isDevelopment = given === null || findSetting('GATEWAY_ENV', env) === 'development';
  const path = given ?? join(dataLayout(env).chain, 'networks.json');
  return readNetworksFile(path, { isDevelopment });
}

/** `status` and `migrate`. */
function addStatus(command: Command, parts: CommandParts): void {
  const { env, out, networks, withDatabase } = parts;
  command
    .command('status')
    .description('Shows chains, who works on them, heads, floats, what is in flight, and alarms.')
    .option(...JSON_OUTPUT)
    .action(async ({ json }) => {
      const all = networks();
      const status = await withDatabase((db) => readStatus(db, all, { sums: true }));
      print(parts, json, status, describeStatus(status));
    });
  command
    .command('migrate')
    .description('Brings the schema of the wallet to its newest form.')
    .action(async () => {
      const applied = await migrateWallet(databaseUrlOf(env, 'WALLET_DATABASE_OWNER_URL'));
      out(applied.length === 0 ? 'Nothing to do.\n' : `Applied ${applied.join(', ')}.\n`);
    });
}

const NOT_NAMED = [...BY, 'not named'] as const;
const ONE_SIGNER = ['--signer <ADDRESS>', 'only this hot wallet'] as const;

/** `pause` and `resume` of payouts. */
function addPauses(command: Command, parts: CommandParts): void {
  const { out, withDatabase } = parts;
  const findSigner = async (db: Database, network: Network, named: string) => {
    const address = await chooseSigner(db, network, readAddress(named));
    return { address, key: { chainId: network.chainId, signer: address.toLowerCase() } };
  };
  command
    .command('pause')
    .description(
      'Stops the payouts of a chain, or of one hot wallet, until `resume`. Deposits are still read.',
    )
    .requiredOption(...CHAIN)
    .requiredOption(...REASON)
    .option(...ONE_SIGNER)
    .option(...NOT_NAMED)
    .action(async ({ chainId, signer, ...decision }) => {
      const network = findByChainId(parts, chainId);
      const which = await withDatabase(async (db) => {
        if (signer === undefined) {
          await pause(db, network.chainId, 'payouts', decision);
          return 'Payouts are';
        }
        const { address, key } = await findSigner(db, network, signer);
        await pauseSigner(db, key, decision);
        return `The hot wallet ${address} is`;
      });
      out(`${which} paused on the chain ${network.chainId}.\n`);
    });
  command
    .command('resume')
    .description('Ends `pause`.')
    .requiredOption(...CHAIN)
    .option(...ONE_SIGNER)
    .option(...NOT_NAMED)
    .action(async ({ chainId, signer, by }) => {
      const network = findByChainId(parts, chainId);
      const text = await withDatabase(async (db) => {
        if (signer === undefined) {
          await resume(db, network.chainId, 'payouts', by);
          return `Payouts on the chain ${network.chainId} are on`;
        }
        const { address, key } = await findSigner(db, network, signer);
        const wasPaused = await resumePausedSigner(db, key, by);
        return `The hot wallet ${address} ${wasPaused ? 'sends again' : 'was not paused'}`;
      });
      out(`${text}.\n`);
    });
}

function addFreeNonce(command: Command, parts: CommandParts): void {
  networkCommand(
    command,
    'free-nonce',
    'Replaces a stuck transaction by an empty one; its payout then gets another nonce.',
  )
    .argument('<NONCE>', 'of a transaction in flight', wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .requiredOption(...BY)
    .requiredOption(...REASON)
    .option(...SIGNER)
    .action(async (name, nonce, { by, reason, signer, mode }) => {
      const { chainId } = findNetwork(parts, name, mode);
      const address = signer === undefined ? null : readAddress(signer);
      const isNew = await parts.withDatabase((db) =>
        freeNonce(db, { chainId, nonce: BigInt(nonce), address, by, reason }),
      );
      parts.out(
        `The nonce ${nonce} ${isNew ? 'is' : 'was already'} to be freed. See \`status\`.\n`,
      );
    });
}

const ADDRESS = ['--address <ADDRESS>', 'an address of an EVM chain'] as const;

/** The denylist, and what was decided. */
function addDecisions(command: Command, parts: CommandParts): void {
  const { out, withDatabase } = parts;
  const list = (decisions: Decision[], json: true | undefined, none: string): void => {
    const text = decisions.length === 0 ? `${none}\n` : decisions.map(describeDecision).join('');
    print(parts, json, decisions, text);
  };
  command
    .command('deny')
    .description('Refuses payouts to an address and holds deposits from it.')
    .requiredOption(...ADDRESS)
    .requiredOption(...REASON)
    .option(...NOT_NAMED)
    .action(async ({ address, ...decision }) => {
      const denied = readAddress(address);
      await withDatabase((db) => denyAddress(db, denied, decision));
      out(`${denied} is denied.\n`);
    });
  command
    .command('allow')
    .description('Ends `deny`.')
    .requiredOption(...ADDRESS)
    .option(...NOT_NAMED)
    .action(async ({ address, by }) => {
      const allowed = readAddress(address);
      const wasDenied = await withDatabase((db) => allowAddress(db, allowed, by));
      out(`${allowed} ${wasDenied ? 'is not denied any more' : 'was not denied'}.\n`);
    });
  command
    .command('denied')
    .description('Lists the denied addresses: since when, by whom and why.')
    .option(...JSON_OUTPUT)
    .action(async ({ json }) => {
      list(await withDatabase(listDenials), json, 'No address is denied.');
    });
  command
    .command('decisions')
    .description('Lists what operators paused, resumed, denied and allowed, the newest first.')
    .option('--limit <N>', 'how many', wholeNumber(1, DECISIONS_MAX), 100)
    .option(...JSON_OUTPUT)
    .action(async ({ limit, json }) => {
      const decisions = await withDatabase((db) => listDecisions(db, limit));
      list(decisions, json, 'Nothing was decided yet.');
    });
}

const COMMANDS = [
  ...[addStatus, addPauses, addFreeNonce, addDecisions, addKeyCommands, addSweepCommands],
  ...[addChainCommands, addAlarmCommands, addTransferCommands, addRefundCommands],
  ...[addRescanCommand, addRestoreCommand],
] as const;
