/**
 * `wallet chain` and `wallet alarms`: who pauses a chain or ends an alarm, and why. They change rows,
 * which the wallet obeys at once.
 */
import type { Command } from '@commander-js/extra-typings';
import { type Terminal, UsageError } from '../../../platform/lib/command-line';
import { acknowledgeAlarm, findAlarm, listAlarms, resolveAlarm } from '../alarm-decisions';
import { findPause, type Pause, pauseWholeChain, resumeWholeChain } from '../chain/pause';
import { createChain } from '../chain/chain';
import { type Database, findLockHolder } from '../db/database';
import { type AcceptedChain, acceptChain } from '../follower/accept-chain';
import type { Network } from '../networks';
import { chainLock } from '../driver';

export interface CommandParts {
  networks: () => Network[];
  withDatabase: <T>(work: (db: Database) => Promise<T>) => Promise<T>;
}

const BY = ['--by <NAME>', 'who decides this'] as const;
const MODE = ['--mode <MODE>', 'test or live, where both have a network of this name'] as const;

export function addChainCommands(command: Command, { out }: Terminal, parts: CommandParts): void {
  const { withDatabase } = parts;
  const chain = command.command('chain').description('stops a whole chain, and shows its state');
  chain
    .command('pause')
    .description('Stops reading blocks, signing and broadcasting, until `chain resume`.')
    .argument('<NETWORK>', 'its name in WALLET_NETWORKS_FILE')
    .requiredOption(...BY)
    .requiredOption('--reason <TEXT>', 'why, for the other operators')
    .option(...MODE)
    .action(async (name, { by, reason, mode }) => {
      const network = findNetwork(parts, name, mode);
      await withDatabase(async (db) => {
        await pauseWholeChain(db, network.chainId, { by, reason });
        await waitUntilIdle(db, network.chainId);
      });
      out(`${nameOf(network)} is paused. Nothing is read, signed or broadcast.\n`);
    });
  chain
    .command('resume')
    .description('Ends `chain pause`, and the pause after a reorganization below final.')
    .argument('<NETWORK>', 'its name in WALLET_NETWORKS_FILE')
    .requiredOption(...BY)
    .option(...MODE)
    .action(async (name, { by, mode }) => {
      const network = findNetwork(parts, name, mode);
      const wasPaused = await withDatabase((db) => resumeWholeChain(db, network.chainId, by));
      out(`${nameOf(network)} ${wasPaused ? 'goes on' : 'was not paused'}.\n`);
    });
  chain
    .command('accept')
    .description('Accepts the chain of the nodes after a reorganization below final, and goes on.')
    .argument('<NETWORK>', 'its name in WALLET_NETWORKS_FILE')
    .requiredOption(...BY)
    .requiredOption('--reason <TEXT>', 'why this chain is the right one')
    .option('--resend', 'broadcast again the final payouts that the chain does not have')
    .option(...MODE)
    .action(async (name, { by, reason, resend = false, mode }) => {
      const network = findNetwork(parts, name, mode);
      const accepted = await withDatabase(async (db) => {
        if ((await findPause(db, network.chainId)) !== null)
          await waitUntilIdle(db, network.chainId);
        return acceptChain(db, createChain(network), { by, reason, resend });
      });
      out(`${nameOf(network)} goes on. ${describeAccepted(accepted)}`);
    });
  chain
    .command('status')
    .description('Shows which process works on a chain, or why none does.')
    .argument('<NETWORK>', 'its name in WALLET_NETWORKS_FILE')
    .option(...MODE)
    .option('--json', 'as JSON')
    .action(async (name, { mode, json }) => {
      const network = findNetwork(parts, name, mode);
      const state = await withDatabase((db) => readState(db, network));
      out(json === true ? `${JSON.stringify(state)}\n` : describeState(network, state));
    });
}

function describeAccepted({ fork, reopened, missing, gaps }: AcceptedChain): string {
  const lines = [
    `The chain is read again from block ${fork + 1}.`,
    `Payouts that are followed again and broadcast where they are missing: ${reopened}.`,
    `Credited deposits of replaced blocks: ${missing}. An alarm names each that is not on this chain.`,
    ...gaps.map(
      ({ signer, nonce }) =>
        `Nonce ${nonce.toString()} of ${signer} is not used on this chain, and the wallet has no transaction for it. Later payouts wait until you send any transaction with it.`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

export function addAlarmCommands(
  command: Command,
  { out }: Terminal,
  { withDatabase }: CommandParts,
): void {
  const alarms = command.command('alarms').description('lists open alarms, and ends them');
  alarms
    .command('list')
    .description('Lists the open alarms of all chains, the urgent ones first.')
    .option('--json', 'as JSON')
    .action(async ({ json }) => {
      const open = await withDatabase(listAlarms);
      const lines = open.map(({ id, kind, subject, chain_id: chainId, ...alarm }) => {
        const { needs_person: needsPerson, acknowledged_by: by } = alarm;
        const end = needsPerson ? 'until it is resolved' : 'ends by itself';
        const taken = by === null ? '' : `, acknowledged by ${by}`;
        const remedy = alarm.remedy === null ? '' : `    ${alarm.remedy}\n`;
        return `${id}  ${kind} (${subject}) on chain ${chainId} since ${alarm.raised_at}, ${end}${taken}\n    ${alarm.detail}\n${remedy}`;
      });
      const text = lines.length === 0 ? 'No alarm is open.\n' : lines.join('');
      out(json === true ? `${JSON.stringify(open)}\n` : text);
    });
  alarms
    .command('acknowledge')
    .description('Says that somebody looks after an alarm.')
    .argument('<ID>', 'of `alarms list`')
    .requiredOption(...BY)
    .action(async (id, { by }) => {
      await withDatabase(async (db) => {
        await requireAlarm(db, id);
        await acknowledgeAlarm(db, id, by);
      });
      out(`The alarm ${id} is acknowledged by ${by}.\n`);
    });
  alarms
    .command('resolve')
    .description('Ends an alarm after its cause is gone.')
    .argument('<ID>', 'of `alarms list`')
    .requiredOption(...BY)
    .requiredOption('--reason <TEXT>', 'the cause and what was done')
    .action(async (id, { by, reason }) => {
      await withDatabase(async (db) => {
        await requireAlarm(db, id);
        await resolveAlarm(db, id, { by, reason });
      });
      out(`The alarm ${id} is resolved.\n`);
    });
}

async function requireAlarm(db: Database, id: string): Promise<void> {
  if (/^[0-9]{1,18}$/.test(id) && (await findAlarm(db, id)) !== null) return;
  throw new UsageError(`There is no alarm ${id}. See \`alarms list\`.`);
}

export function findNetwork({ networks }: CommandParts, name: string, mode?: string): Network {
  const found = networks().filter(
    (network) => network.name === name && (mode === undefined || network.mode === mode),
  );
  const [network] = found;
  if (network === undefined) {
    throw new UsageError(`WALLET_NETWORKS_FILE has no network ${name}.`);
  }
  if (found.length > 1) throw new UsageError(`${name} is in both modes: add --mode.`);
  return network;
}

function nameOf({ name, mode, chainId }: Network): string {
  return `${name} (${mode} mode, chain ${chainId})`;
}

const IDLE_WITHIN_MS = 60_000;
const LOOK_MS = 200;

/** Waits until the step that was under way has ended. */
async function waitUntilIdle(db: Database, chainId: number): Promise<void> {
  const giveUpAt = performance.now() + IDLE_WITHIN_MS;
  while (performance.now() < giveUpAt) {
    if ((await findLockHolder(db, chainLock(chainId))) === null) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new UsageError(
    'The chain is paused, but a step is still under way. Look at it with `chain status`.',
  );
}

interface ChainStateOfOperator {
  network: string;
  mode: string;
  chain_id: number;
  state: 'working' | 'paused' | 'waiting';
  /** Host and process that work on it. */
  worker: string | null;
  working_since: string | null;
  pause: Pause | null;
}

async function readState(
  db: Database,
  { name, mode, chainId }: Network,
): Promise<ChainStateOfOperator> {
  const pause = await findPause(db, chainId);
  const holder = await findLockHolder(db, chainLock(chainId));
  return {
    network: name,
    mode,
    chain_id: chainId,
    state: pause !== null ? 'paused' : holder !== null ? 'working' : 'waiting',
    worker: holder?.name ?? null,
    working_since: holder?.since.toISOString() ?? null,
    pause,
  };
}

function describeState(network: Network, state: ChainStateOfOperator): string {
  const { pause, worker, working_since: since } = state;
  const sentence =
    pause !== null
      ? `paused by ${pause.by} since ${pause.at}: ${pause.reason}`
      : worker !== null
        ? `working since ${since ?? ''}, in ${worker} (host, process)`
        : 'WAITING: no wallet process works on it. Is a wallet running?';
  return `${nameOf(network)}\n  ${sentence}\n`;
}
