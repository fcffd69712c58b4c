/**
 * Starts a workflow for what the database has: each chain, each open sweep, each alarm that a person
 * ends; and tells alarms' workflows of their end. Repeated, so that nothing is lost while Temporal is
 * unreachable, and a terminated workflow is started again. Takes over from processes that died.
 */
import { type Client, WorkflowNotFoundError, type WorkflowStartOptions } from '@temporalio/client';
import type { AlarmInput, ChainInput, SweepInput } from '../../../../workflows/wallet/messages';
import {
  alarmWorkflowId,
  chainWorkflowId,
  sweepWorkflowId,
  WALLET_WORKFLOWS,
  walletQueue,
} from '../../../../workflows/wallet/names';
import { wallClockMs } from '../../../platform/lib/wall-clock';
import { REMEDIES } from '../alarm-decisions';
import type { Log } from '../config';
import type { Database } from '../db/database';
import { type Loop, startLoop } from '../loop';
import type { Network } from '../networks';
import { findSweep, listOpenSweeps } from '../sweep/store';
import { amountOf, NATIVE_DECIMALS } from '../units';
import type { ChainRun } from './chain-run';
import { releaseDeadProcess } from './takeover';

export interface KeeperParts {
  client: Client;
  db: Database;
  runs: readonly ChainRun[];
  turnsMax: number | undefined;
  log: Log;
}

const KEEP_EVERY_MS = 1_000;
/** How soon a terminated workflow is started again. */
const SURE_MS = 10_000;
const DEADLINE_MS = 5_000;

export function startKeeper(parts: KeeperParts): Loop {
  const keeper = new Keeper(parts);
  return startLoop('starting workflows', parts.log, KEEP_EVERY_MS, () => keeper.step());
}

class Keeper {
  /** Workflow id → when it certainly was there. */
  readonly #sure = new Map<string, number>();

  constructor(private readonly parts: KeeperParts) {}

  async step(): Promise<undefined> {
    for (const [id, at] of this.#sure) if (performance.now() - at >= SURE_MS) this.#sure.delete(id);
    for (const run of this.parts.runs) {
      const { network } = run;
      await this.#keepChain(network);
      await releaseDeadProcess(this.parts, run);
      await this.#keepSweeps(network);
      await this.#openAlarms(network);
      await this.#closeAlarms(network);
    }
    return undefined;
  }

  async #keepChain({ chainId, name, mode }: Network): Promise<void> {
    const { turnsMax } = this.parts;
    const input: ChainInput = {
      chainId,
      network: name,
      mode,
      ...(turnsMax === undefined ? {} : { turnsMax }),
    };
    await this.#ensure(chainId, chainWorkflowId(chainId), WALLET_WORKFLOWS.chain, {
      args: [input],
      staticSummary: `Chain ${name}, ${mode} mode`,
    });
  }

  async #keepSweeps({ chainId, name, mode, native }: Network): Promise<void> {
    for (const sweepId of await listOpenSweeps(this.parts.db, chainId)) {
      const sweep = await findSweep(this.parts.db, sweepId);
      if (sweep === null) continue;
      const { asset, destination, costWei, transactions } = sweep;
      const input: SweepInput = {
        chainId,
        sweepId,
        network: name,
        mode,
        asset,
        destination,
        addresses: transactions.length,
        costMax: `${amountOf(costWei, NATIVE_DECIMALS)} ${native.asset}`,
      };
      await this.#ensure(chainId, sweepWorkflowId(sweepId), WALLET_WORKFLOWS.sweep, {
        args: [input],
        staticSummary: `Sweep of ${asset} from ${transactions.length} addresses on ${name}, ${mode} mode`,
      });
    }
  }

  async #openAlarms({ chainId, name, mode }: Network): Promise<void> {
    const rows = await this.parts.db.query<
      Record<'id' | 'subject' | 'detail', string> & { kind: keyof typeof REMEDIES; raised: Date }
    >(
      `SELECT id, kind, subject, detail, raised_at AS raised FROM wallet.alarm
       WHERE chain_id = $1 AND workflow = 'none' AND cleared_at IS NULL
         AND kind = ANY($2::text[]) ORDER BY id`,
      [chainId, Object.keys(REMEDIES)],
    );
    for (const { id, kind, subject, detail, raised } of rows) {
      const input: AlarmInput = {
        chainId,
        network: name,
        mode,
        alarmId: id,
        kind,
        subject,
        detail,
        raisedAt: raised.toISOString(),
        remedy: REMEDIES[kind] ?? '',
      };
      await this.#ensure(chainId, alarmWorkflowId(chainId, id), WALLET_WORKFLOWS.alarm, {
        args: [input],
        staticSummary: `Alarm ${kind} on ${name}, ${mode} mode`,
      });
      await this.#setAlarm(id, 'open');
    }
  }

  async #closeAlarms({ chainId }: Network): Promise<void> {
    const rows = await this.parts.db.query<{ id: string }>(
      `SELECT id FROM wallet.alarm
       WHERE chain_id = $1 AND workflow = 'open' AND cleared_at IS NOT NULL ORDER BY id`,
      [chainId],
    );
    const { client } = this.parts;
    for (const { id } of rows) {
      const handle = client.workflow.getHandle(alarmWorkflowId(chainId, id));
      try {
        await client.withDeadline(wallClockMs() + DEADLINE_MS, () => handle.signal('cleared'));
      } catch (error) {
        // The workflow has ended with the decision that it received itself.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
      await this.#setAlarm(id, 'closed');
    }
  }

  async #setAlarm(id: string, workflow: 'open' | 'closed'): Promise<void> {
    await this.parts.db.query('UPDATE wallet.alarm SET workflow = $2 WHERE id = $1', [
      id,
      workflow,
    ]);
  }

  async #ensure(
    chainId: number,
    workflowId: string,
    type: string,
    start: Pick<WorkflowStartOptions, 'args' | 'staticSummary'>,
  ): Promise<void> {
    if (this.#sure.has(workflowId)) return;
    const { client } = this.parts;
    await client.withDeadline(wallClockMs() + DEADLINE_MS, () =>
      client.workflow.start(type, {
        ...start,
        workflowId,
        taskQueue: walletQueue(chainId),
        workflowIdConflictPolicy: 'USE_EXISTING',
      }),
    );
    this.#sure.set(workflowId, performance.now());
  }
}
