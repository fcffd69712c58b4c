/** `npm run ledger:verify`: checks the ledger's invariants and lists the rows that break them. */
import { connect } from '../db/connect';
import { type InvariantResult, verifyStatements, verifyLedger } from '../db/ledger/ledger-verify';
import { withClient } from '../db/provision';
import type { Db } from '../db/transaction';
import {
  createCommand,
  errorText,
  runAsMain,
  runCommand,
  type Program,
} from '../platform/lib/command-line';
import { dataLayout, developmentDatabaseUrl, readPrivateJson } from '../platform/lib/data-folder';
import { printableJson } from '../platform/lib/printable-json';
import { findSetting } from '../platform/settings/read-settings';
import { wallClockMs } from '../platform/lib/wall-clock';
import { verifyWorkflows, WORKFLOWS_INVARIANT } from '../kit/service/workflow-check';
import { createTemporalClient } from '../temporal/client';
import { readTemporal, type TemporalOptions } from '../temporal/connection';
import { createLiveWorkflows } from '../temporal/visibility';

const HELP = `
The providers' statements (8) are compared as they were last read, which the schedule
"reconciliation" does every hour; \`temporal schedule trigger -s reconciliation\` reads them now.
The workflows (12) are looked up in Temporal. What cannot be checked is listed as not checked.

Environment:
  DATABASE_URL         the database, or a read-only standby, with the login of the worker or one
                       in gateway_admin
  TEMPORAL_ADDRESS     Temporal's frontend; without it invariant 12 is not checked
  TEMPORAL_NAMESPACE   the gateway's namespace there (default)
  GATEWAY_DATA_DIR     without DATABASE_URL: the data folder (.gateway); its dev.json names the
                       development database and its Temporal

Exit codes: 0 every checked invariant holds, 1 an invariant is broken, 2 the check failed
`;

const CLEAN = 0;
const BROKEN = 1;
const NOT_CHECKED = 2;

/** The limit for all requests together; listing a hundred thousand workflows takes less. */
const TEMPORAL_DEADLINE_MS = 60_000;

/** The result of an invariant, or the reason why it was not checked. */
type Outcome =
  | (InvariantResult & { read_at?: string })
  | (Pick<InvariantResult, 'number' | 'name' | 'sentence'> & { not_checked: string });

export const runLedgerVerify: Program = async (args, terminal) => {
  let exitCode: number = CLEAN;
  const command = createCommand('npm run ledger:verify --', terminal)
    .description(
      'Checks the ledger against its invariants, on one snapshot of the database, while the ' +
        'gateway runs. Prints a line for each invariant and up to 20 of the rows that break it.',
    )
    .option('--json', 'print one JSON object instead: {ok, invariants: [...]}')
    .addHelpText('after', HELP)
    .action(async ({ json }) => {
      const outcomes = await verify(terminal.env);
      const ok = !outcomes.some(isBroken);
      exitCode = ok ? CLEAN : BROKEN;
      terminal.out(json === true ? asJson(ok, outcomes) : asText(outcomes));
    });
  const failed = await runCommand(
    command,
    args,
    terminal,
    (error) => `The ledger was not checked: ${errorText(error)}`,
  );
  return failed === CLEAN ? exitCode : NOT_CHECKED;
};

async function verify(env: NodeJS.ProcessEnv): Promise<Outcome[]> {
  const { url, temporal } = findServers(env);
  // A plain client connects first: knex would print a failed connection to stdout.
  await withClient(url, (client) => client.query('SELECT 1'));
  const db = connect({ url, size: 2, applicationName: 'gateway-ledger-verify' });
  try {
    const outcomes = [
      ...(await verifyLedger(db, 2)),
      await checkStatements(db),
      await checkWorkflows(db, temporal),
    ];
    return outcomes.sort((a, b) => a.number - b.number);
  } finally {
    await db.destroy();
  }
}

/** Each of these variables may name the address of Temporal. */
const TEMPORAL_VARIABLES = ['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'];

/**
 * Finds PostgreSQL and Temporal: both from the environment, or both from the development installation.
 */
function findServers(env: NodeJS.ProcessEnv): { url: string; temporal: TemporalOptions | null } {
  const given = findSetting('DATABASE_URL', env);
  const url = given ?? developmentDatabaseUrl(env, 'set DATABASE_URL');
  const own = given === null ? readPrivateJson(dataLayout(env).settings)['temporal_address'] : null;
  const otherwise = typeof own === 'string' ? own : undefined;
  const isKnown = TEMPORAL_VARIABLES.some((name) => (env[name] ?? '') !== '');
  return {
    url,
    temporal: isKnown || otherwise !== undefined ? readTemporal(env, otherwise) : null,
  };
}

async function checkStatements(db: Db): Promise<Outcome> {
  const { readAt, ...result } = await verifyStatements(db);
  if (readAt !== null) return { ...result, read_at: readAt.toISOString() };
  const { number, name, sentence } = result;
  const reason =
    'some statements have not been read yet; `temporal schedule trigger -s reconciliation` reads them';
  return { number, name, sentence, not_checked: reason };
}

async function checkWorkflows(db: Db, temporal: TemporalOptions | null): Promise<Outcome> {
  if (temporal === null) {
    return { ...WORKFLOWS_INVARIANT, not_checked: 'TEMPORAL_ADDRESS is not set' };
  }
  const client = createTemporalClient(temporal);
  try {
    const deadline = wallClockMs() + TEMPORAL_DEADLINE_MS;
    return await client.withDeadline(deadline, () =>
      verifyWorkflows(db, createLiveWorkflows(client)),
    );
  } catch (error) {
    return { ...WORKFLOWS_INVARIANT, not_checked: `Temporal: ${errorText(error)}` };
  } finally {
    await client.close();
  }
}

function isBroken(one: Outcome): boolean {
  return !('not_checked' in one) && one.broken > 0;
}

function asJson(ok: boolean, outcomes: Outcome[]): string {
  return `${printableJson({ ok, invariants: outcomes }, 2)}\n`;
}

function asText(outcomes: Outcome[]): string {
  const checked = outcomes.filter((one) => !('not_checked' in one));
  const broken = checked.filter(isBroken);
  const last =
    broken.length === 0
      ? `ledger verified: all ${checked.length} invariants hold`
      : `ledger BROKEN: ${broken.length} of ${checked.length} invariants do not hold`;
  return [...outcomes.flatMap(linesOf), last, ''].join('\n');
}

function linesOf(one: Outcome): string[] {
  const label = `${one.number.toString().padStart(2)}  ${one.name}:`;
  if ('not_checked' in one) return [`-      ${label} not checked, ${one.not_checked}`];
  const { sentence, checked, noun, broken, rows } = one;
  const age = one.read_at === undefined ? '' : `, read since ${one.read_at}`;
  const head = `${broken === 0 ? 'ok    ' : 'BROKEN'} ${label} ${checked} ${noun} checked${age}`;
  if (broken === 0) return [head];
  const rest = broken - rows.length;
  return [
    `${head}, violations: ${broken}`,
    `           ${sentence}`,
    ...rows.map((row) => `           ${printableJson(row)}`),
    ...(rest > 0 ? [`           and ${rest} more`] : []),
  ];
}

runAsMain(module, runLedgerVerify);
