/**
 * `npm run ledger:verify`: says whether the ledger's invariants hold, and which rows break them.
 * For a person, a schedule, or the end of a load test.
 */
import { connect } from '../db/connect';
import { type InvariantResult, verifyLedger } from '../db/ledger-verify';
import { withClient } from '../db/provision';
import { developmentDatabaseUrl } from '../dev/database-address';
import { errorText, parseOptions } from '../lib/command-line';

const HELP = `Usage: npm run ledger:verify [-- --json]

Checks the ledger against its invariants, on one snapshot of the database; the gateway may go on
working. Prints a line for each invariant, and up to 20 of the rows that break it.

  --json               print one JSON object instead: {ok, invariants: [...]}

Environment:
  DATABASE_URL         the database; the application's own login is enough
  GATEWAY_DATA_DIR     without DATABASE_URL: the data folder (.gateway), whose dev.json names the
                       development database

Exit codes: 0 every invariant holds, 1 one is broken, 2 it could not be checked
`;

const CLEAN = 0;
const BROKEN = 1;
const NOT_CHECKED = 2;

async function main(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const options = parseOptions(args, { json: { type: 'boolean' }, help: { type: 'boolean' } });
  if (options.help === true) {
    process.stdout.write(HELP);
    return CLEAN;
  }
  const given = env['DATABASE_URL'] ?? '';
  const url = given === '' ? developmentDatabaseUrl(env, 'set DATABASE_URL') : given;
  // Asked first by a plain client: knex would print a failed connection to stdout.
  await withClient(url, (client) => client.query('SELECT 1'));
  const db = connect({ url, size: 1, applicationName: 'gateway-ledger-verify' });
  try {
    const results = await verifyLedger(db);
    const ok = results.every((result) => result.broken === 0);
    const report = options.json === true ? asJson(ok, results) : asText(results);
    process.stdout.write(report);
    return ok ? CLEAN : BROKEN;
  } finally {
    await db.destroy();
  }
}

function asJson(ok: boolean, results: InvariantResult[]): string {
  return `${JSON.stringify({ ok, invariants: results }, null, 2)}\n`;
}

function asText(results: InvariantResult[]): string {
  const broken = results.filter((result) => result.broken > 0);
  const last =
    broken.length === 0
      ? `ledger verified: all ${results.length} invariants hold`
      : `ledger BROKEN: ${broken.length} of ${results.length} invariants do not hold`;
  return [...results.flatMap(linesOf), last, ''].join('\n');
}

function linesOf(result: InvariantResult): string[] {
  const { number, name, sentence, checked, noun, broken, rows } = result;
  const verdict = broken === 0 ? 'ok    ' : 'BROKEN';
  const head = `${verdict} ${number.toString().padStart(2)}  ${name}: ${checked} ${noun} checked`;
  if (broken === 0) return [head];
  const rest = broken - rows.length;
  return [
    `${head}, ${broken} break it`,
    `           ${sentence}`,
    ...rows.map((row) => `           ${JSON.stringify(row)}`),
    ...(rest > 0 ? [`           and ${rest} more`] : []),
  ];
}

main(process.argv.slice(2), process.env).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    process.stderr.write(`The ledger was not checked: ${errorText(error)}\n`);
    process.exitCode = NOT_CHECKED;
  },
);
