/**
 * The admin command: `admin <noun> <verb> [options]`. Each noun is a file of a feature (`admin/`) or beside this one, which
 * reads the options, calls src/features and prints the result.
 */
import { userInfo } from 'node:os';
import type { Command } from '@commander-js/extra-typings';
import {
  createCommand,
  runCommand,
  UsageError,
  type Program,
  type Terminal,
} from '../../platform/lib/command-line';
import type { ScreeningService } from '../../adapters/screening/service';
import type { ChangedBy } from '../../kit/service/audit';
import { checkText } from '../../kit/service/checks';
import { printableJson } from '../../platform/lib/printable-json';
import { InvalidInput } from '../../kit/service/refusal';
import type { TemporalClient } from '../../temporal/client';
import { addAccounts } from '../../features/accounts/admin/accounts';
import { addAdjustments } from '../../features/books/admin/adjustments';
import { addAudit } from '../../features/audit/admin/audit';
import { addBatches } from '../../features/payout-batches/admin/batches';
import { addSchedules } from '../../features/payout-schedules/admin/schedules';
import { addCases } from '../../features/cases/admin/cases';
import { addFees } from '../../features/accounts/admin/fees';
import type { CommonOptions, Context, Run } from '../../kit/admin/context';
import {
  connectTemporal,
  findAccountId,
  openDatabase,
  openScreening,
  openWebhookTools,
  type OpenedWebhookTools,
  readEvidenceKeys,
  readPepper,
} from './installation';
import { addFourEyes } from '../../features/accounts/admin/four-eyes';
import { addKeys } from '../../features/api-keys/admin/keys';
import { addLimits } from '../../features/accounts/admin/limits';
import { addBeneficiaries } from '../../features/payouts/admin/beneficiaries';
import { COMMAND } from '../../kit/admin/options';
import { showObject } from '../../kit/admin/output';
import { addPayments } from '../../features/payments/admin/payments';
import { addPayouts } from '../../features/payouts/admin/payouts';
import { addRecipients } from '../../features/recipients/admin/recipients';
import { addReview } from '../../features/accounts/admin/review';
import { addRoutes } from '../../features/accounts/admin/routes';
import { addScreening } from '../../features/screening/admin/screening';
import { addSecrets } from './secrets';
import { errorSentence } from '../../kit/admin/errors';
import { addUsers } from '../../features/people/admin/users';
import { addWebhooks } from '../../features/webhooks/admin/webhooks';

const ACTOR_LENGTH_MAX = 100;
const REASON_LENGTH_MAX = 500;

/** The nouns in the order of the help. */
const NOUNS = [
  addAccounts,
  addKeys,
  addFees,
  addLimits,
  addRoutes,
  addReview,
  addFourEyes,
  addPayments,
  addPayouts,
  addRecipients,
  addBatches,
  addSchedules,
  addScreening,
  addBeneficiaries,
  addAdjustments,
  addCases,
  addWebhooks,
  addSecrets,
  addUsers,
  addAudit,
];

const HELP = `
Examples:
  ${COMMAND} accounts list
  ${COMMAND} keys create --mode test --scopes all --json
  ${COMMAND} payouts pause --reason "provider maintenance until 14:00"

Environment:
  DATABASE_OWNER_URL  the database, as the role that owns the schema
  KEY_PEPPER          the gateway's own, for keys create and keys rotate
  WEBHOOK_SECRET_KEY  the gateway's own, and its other WEBHOOK_ variables, for webhooks
  TEMPORAL_ADDRESS    the gateway's own, and TEMPORAL_NAMESPACE, for payments, payouts and webhooks
  SCREENING_URL       the gateway's own, and SCREENING_API_KEY, for screening ask
  EVIDENCE_PUBLIC_KEYS_EARLIER  public keys of evidence, and EVIDENCE_SIGNING_KEY, for audit verify
  GATEWAY_DATA_DIR    without these: the data folder of \`npm start\` (.gateway)

Exit codes: 0 done, 1 refused or not possible, 2 a wrong argument
`;

export const runAdmin: Program = (args, terminal) => {
  const run: Run = async (options, work, show = showObject) => {
    const document = await perform(terminal, options, work);
    const json = options.json === true;
    terminal.out(json ? `${printableJson(document, 2)}\n` : show(document));
  };
  return runCommand(createAdmin(terminal, run), args, terminal, errorSentence);
};

export function createAdmin(terminal: Terminal, run: Run): Command {
  const admin = createCommand(COMMAND, terminal)
    .usage('<noun> <verb> [options]')
    .description(
      'Operates the gateway: accounts, keys, fees, limits and other decisions of an operator. ' +
        'Every change is written to the audit log: who, what, before, after and why.',
    )
    .addHelpText('after', HELP);
  for (const addNoun of NOUNS) addNoun(admin, run);
  return admin;
}

async function perform<Document>(
  { env, err }: Terminal,
  options: CommonOptions,
  work: (context: Context) => Promise<Document>,
): Promise<Document> {
  const db = await openDatabase(env);
  const opened: {
    temporal?: TemporalClient;
    webhooks?: OpenedWebhookTools;
    screening?: ScreeningService | null;
  } = {};
  const accountId = (asked: string | undefined) => findAccountId(db, env, asked);
  try {
    return await work({
      db,
      get by() {
        return readChangedBy(options);
      },
      accountId,
      accountOrDefault: async (scope) => (scope.default === true ? null : accountId(scope.account)),
      pepper: () => readPepper(env),
      note: (line) => err(`${line}\n`),
      temporal: () => (opened.temporal ??= connectTemporal(env)),
      screening: () => (opened.screening ??= openScreening(env)),
      evidenceKeys: () => readEvidenceKeys(env),
      webhooks: () => (opened.webhooks ??= openWebhookTools(env)),
    });
  } catch (error) {
    // A value that a service refused is a wrong argument of this command.
    if (!(error instanceof InvalidInput)) throw error;
    throw new UsageError(errorSentence(error), { cause: error });
  } finally {
    await opened.webhooks?.close();
    await opened.screening?.close();
    await Promise.all([db.destroy(), opened.temporal?.close()]);
  }
}

function readChangedBy({ by, reason }: CommonOptions): ChangedBy {
  return {
    actor: checkText('by', by ?? osUserName(), ACTOR_LENGTH_MAX),
    via: 'admin',
    reason: reason === undefined ? null : checkText('reason', reason, REASON_LENGTH_MAX),
  };
}

function osUserName(): string {
  try {
    return userInfo().username;
  } catch {
    // The user of a container may have a number and no name.
    throw new UsageError(
      '--by is missing, and the operating system has no name for this user. Add --by.',
    );
  }
}
