/** `admin batches`. */
import type { Command } from '@commander-js/extra-typings';
import { wholeNumber } from '../../../platform/lib/command-line';
import { BATCH_ROWS_MAX } from '../../../domain/payout-batch';
import { presentBatchProof, presentPayoutBatch } from '../payout-batches-contract';
import {
  type BatchOrder,
  decideAboutBatch,
  listBatches,
  readProof,
  requireBatch,
} from '../batch-changes';
import { COMMAND as PATIENCE } from '../../../temporal/client';
import { createPayoutBatchWorkflows } from '../../../temporal/payout-batch-workflows';
import type { Context, Run } from '../../../kit/admin/context';
import {
  addNoun,
  changeVerb,
  LIMIT_OPTION,
  list,
  readVerb,
  reasonedVerb,
  runList,
  runOn,
  text,
} from '../../../kit/admin/options';

const BATCH = { name: 'batch', value: 'PB_ID', where: '`batches list` lists the ids (pb_…).' };

export function addBatches(admin: Command, run: Run): void {
  const batches = addNoun(
    admin,
    'batches',
    'Batches of payouts: their decisions and their proofs.',
  );
  runList(
    run,
    readVerb(batches, 'list', {
      summary: 'List the open batches, oldest first',
      examples: ['batches list', 'batches list --all --json'],
    })
      .option('--all', 'include the closed batches, newest first')
      .addOption(LIMIT_OPTION),
    async ({ db }, { all, limit }) =>
      (await listBatches(db, all !== true, limit + 1)).map(presentLine),
    ['id', 'status', 'mode', 'account_id', 'reference', 'rows', 'created_at'],
    'No open batches.',
  );
  const show = readVerb(batches, 'show', {
    summary: 'Show a batch with its totals, its manifest and the number of rows in each state',
    examples: ['batches show pb_…'],
  });
  runOn(run, show, BATCH, async ({ db }, id) => present(await requireBatch(db, id)));
  const proof = readVerb(batches, 'proof', {
    summary: 'Show what became of the money of each row',
    notes: 'With --json, the document that the merchant gets.',
    examples: ['batches proof pb_… --json'],
  });
  runOn(run, proof, BATCH, async ({ db }, id) => presentBatchProof(await readProof(db, id)));
  addDecisions(batches, run);
}

function addDecisions(batches: Command, run: Run): void {
  const approve = changeVerb(batches, 'approve', {
    summary: 'Approve the rows of a manifest; they are sent one after the other',
    notes:
      '--manifest is the SHA-256 that `batches show` showed. A batch that two operators must approve is ' +
      'approved in the console.',
    examples: ['batches approve pb_… --manifest 4f8b42c2… --by alice'],
  }).requiredOption('--manifest <SHA256>', 'the manifest that you have seen', text);
  runOn(run, approve, BATCH, (context, id, { manifest }) =>
    decide(context, id, { kind: 'approve', manifest }),
  );
  const reject = reasonedVerb(batches, 'reject', {
    summary:
      'Reject a batch; the funds of all rows are returned, and the merchant reads the reason',
    examples: ['batches reject pb_… --reason "wrong list"'],
  });
  runOn(run, reject, BATCH, (context, id) => decide(context, id, { kind: 'reject' }));
  const stop = reasonedVerb(batches, 'stop', {
    summary: 'Stop a batch; the funds of the rows that were not released are returned',
    examples: ['batches stop pb_… --reason "the merchant called"'],
  });
  runOn(run, stop, BATCH, (context, id) => decide(context, id, { kind: 'stop' }));
  const leaveOut = reasonedVerb(batches, 'leave-out', {
    summary: 'Leave rows out before the approval; their funds are returned',
    notes: 'The manifest of the other rows has another SHA-256, which an approval names.',
    examples: ['batches leave-out pb_… --rows 3,17 --reason "unknown recipients"'],
  }).requiredOption('--rows <A,B>', 'the numbers of the rows, counted from 1', readRows);
  runOn(run, leaveOut, BATCH, (context, id, { rows }) =>
    decide(context, id, { kind: 'leave_out', rows }),
  );
}

const readRow = wholeNumber(1, BATCH_ROWS_MAX);

function readRows(value: string): number[] {
  return list(value).map((row) => readRow(row));
}

async function decide({ db, by, temporal }: Context, id: string, order: BatchOrder) {
  const payoutBatchWorkflows = createPayoutBatchWorkflows(temporal(), { patience: PATIENCE });
  return present(await decideAboutBatch({ db, payoutBatchWorkflows }, by, id, order));
}

function present({ batch, progress }: Awaited<ReturnType<typeof requireBatch>>) {
  return {
    ...presentPayoutBatch(batch, progress),
    account_id: batch.accountId,
    review_reasons: batch.reviewReasons,
    approved_by: batch.approvedBy,
    ended_by: batch.endedBy,
  };
}

function presentLine(batch: Awaited<ReturnType<typeof listBatches>>[number]) {
  const { id, status, mode, accountId, reference, rowCount, createdAt } = batch;
  return {
    id,
    object: 'payout_batch',
    status,
    mode,
    account_id: accountId,
    reference,
    rows: rowCount,
    created_at: createdAt.toISOString(),
  };
}
