/** `admin audit`. */
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { UsageError } from '../../../platform/lib/command-line';
import { publicKeys } from '../../../platform/settings/setting-kinds';
import { SetupError } from '../../../platform/lib/setup-error';
import { presentAuditEntry } from '../../../kit/service/admin';
import {
  type AuditHead,
  type AuditVerification,
  eraseEntry,
  listAudit,
  listHeads,
  verifyAuditChain,
} from '../../../kit/service/audit';
import type { Context, Run } from '../../../kit/admin/context';
import {
  addNoun,
  isoTime,
  LIMIT_OPTION,
  readVerb,
  reasonedVerb,
  runList,
  runOn,
  text,
} from '../../../kit/admin/options';
import { showObject } from '../../../kit/admin/output';

export function addAudit(admin: Command, run: Run): void {
  const audit = addNoun(
    admin,
    'audit',
    'The audit log: who changed what, when and why. It is append-only, and a chain of hashes.',
  );
  addChain(audit, run);
  runList(
    run,
    readVerb(audit, 'list', {
      summary: 'List the changes, newest first',
      notes: '--json includes the states before and after.',
      examples: [
        'audit list',
        'audit list --object key_… --json',
        'audit list --actor alice --since 2027-01-01 --action limits.set',
      ],
    })
      .option('--object <ID>', 'only of the object with this id', text)
      .option('--account <ACC_ID>', 'only of this account and its objects', text)
      .option('--action <NAME>', 'only this action, such as api_key.rotate', text)
      .option('--actor <NAME>', 'only by this person', text)
      .option('--since <TIME>', 'only from this time on', isoTime)
      .option('--before <ID>', 'only older than this entry, for the next page', entryId)
      .addOption(LIMIT_OPTION),
    async ({ db }, { before, object, account, action, actor, since, limit }) => {
      const entries = await listAudit(db, {
        beforeId: before,
        objectId: object,
        accountId: account,
        action,
        actor,
        since,
        limit: limit + 1,
      });
      return entries.map(presentAuditEntry);
    },
    ['id', 'at', 'by', 'action', 'object_id', 'reason'],
    'No changes found.',
  );
}

function addChain(audit: Command, run: Run): void {
  readVerb(audit, 'head', {
    summary: 'Show the newest signed head of the chain',
    notes:
      'Keep a copy of it outside of the database, such as in a mailbox that its owner cannot change.',
    examples: ['audit head', 'audit head --json'],
  }).action((options) =>
    run(options, async ({ db }) => {
      const [head] = await listHeads(db, 1);
      if (head !== undefined) return head;
      throw new SetupError(
        'There is no head yet. The worker makes one each hour, the first within a minute of the first entry.',
      );
    }),
  );

  readVerb(audit, 'verify', {
    summary: 'Check the chain, and name each entry that was changed, removed or inserted',
    notes:
      'It reads the whole log while the gateway runs. Only a head that was kept outside of the database shows\n' +
      'that the end of the chain was cut off, or that all of it was written anew. Exit code 1: it found a problem.',
    examples: ['audit verify', 'audit verify --head head.json'],
  })
    .option('--head <FILE>', 'a head that you kept, as `audit head --json` printed it', text)
    .option(
      '--public-key <KEYS>',
      'public keys of the heads in base64, separated by commas (default: those of the settings)',
      keysOf,
    )
    .action(async (options) => {
      let result: AuditVerification | undefined;
      await run(
        options,
        async (context) => (result = await verify(context, options)),
        showVerification,
      );
      if (result?.ok === false)
        throw new SetupError('The audit log does not hold. See “Evidence” in docs/operations.md.');
    });

  runOn(
    run,
    reasonedVerb(audit, 'erase', {
      summary: 'Erase the personal part of an entry',
      notes:
        'Who made the change, from where, the states before and after, and the reason are gone for ever. The chain\n' +
        'proves the rest, and the erasure is an entry of its own.',
      examples: ['audit erase 4711 --reason "request of the person, ticket 12"'],
    }),
    { name: 'entry', value: 'ID', where: '`audit list` shows the ids.' },
    ({ db, by }, id) => eraseEntry(db, by, entryId(id)),
    ({ id }) => `The personal part of entry ${id} was erased.\n`,
  );
}

type Proven = Pick<AuditVerification, 'proven_from' | 'proven_until' | 'not_proven'>;

const PROGRESS_MS = 2_000;

interface VerifyChoice {
  head?: string | undefined;
  publicKey?: string[] | undefined;
}

function verify(
  { db, note, evidenceKeys }: Context,
  { head, publicKey }: VerifyChoice,
): Promise<AuditVerification> {
  const keptHeads = head === undefined ? [] : [readHead(head)];
  let notedMs = performance.now();
  return verifyAuditChain(db, {
    keptHeads,
    publicKeys: publicKey ?? evidenceKeys(),
    onProgress: (checked, total) => {
      if (performance.now() - notedMs < PROGRESS_MS) return;
      notedMs = performance.now();
      note(`checked ${checked} of ${total} entries`);
    },
  });
}

/** @throws UsageError for a file that is no head */
function readHead(path: string): AuditHead {
  let head: unknown;
  try {
    head = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`--head: ${path} cannot be read: ${(error as Error).message}.`);
  }
  if (isHead(head)) return head;
  throw new UsageError(`--head: ${path} is not a head, as \`audit head --json\` prints it.`);
}

function isHead(value: unknown): value is AuditHead {
  if (typeof value !== 'object' || value === null) return false;
  const { object, sequence, hash, signed_at, key_id, signature } = value as Partial<AuditHead>;
  const isText = (one: unknown) => one === null || typeof one === 'string';
  return (
    object === 'audit_head' &&
    Number.isSafeInteger(sequence) &&
    typeof hash === 'string' &&
    typeof signed_at === 'string' &&
    isText(key_id) &&
    isText(signature)
  );
}

function keysOf(value: string): string[] {
  try {
    return publicKeys.parse(value);
  } catch (error) {
    throw new InvalidArgumentError(`It ${(error as Error).message}`);
  }
}

function showVerification({ head, problems, problem_count, ...counts }: AuditVerification): string {
  const rest = problem_count - problems.length;
  return [
    showObject({ ...counts, sequence: head.sequence, hash: head.hash }).trimEnd(),
    ...problems.map(({ message }) => message),
    ...(rest > 0 ? [`and ${rest} more`] : []),
    ...(problem_count === 0
      ? [
          'The chain holds: each entry is what was sealed, and none is outside of the chain.',
          provenPeriod(counts),
        ]
      : [`Problems: ${problem_count}`]),
    '',
  ].join('\n');
}

function provenPeriod({ proven_from: from, proven_until: until, not_proven }: Proven): string {
  const rest = 'whoever owns the database could have removed entries from its end';
  if (from === null) return 'There are no entries yet.';
  if (until === null) return `No head proves where the chain ends: ${rest}. Use --head.`;
  return `No entry is missing from ${from} until ${until}, the time of the newest head. After it there are ${not_proven} entries, and ${rest}.`;
}

function entryId(value: string): string {
  if (/^[0-9]{1,18}$/.test(value)) return value;
  throw new InvalidArgumentError('It must be the id of an entry, a whole number.');
}
