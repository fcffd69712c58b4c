/**
 * Starts a workflow for each open sweep. Repeated, so that nothing is lost while Temporal is unreachable, and a
 * terminated workflow is started again.
 */
import type { Client } from '@temporalio/client';
import type { SweepInput } from '../../../../workflows/wallet/messages';
import { SWEEP_WORKFLOW, sweepWorkflowId, walletQueue } from '../../../../workflows/wallet/names';
import { wallClockMs } from '../../../platform/lib/wall-clock';
import type { Log } from '../config';
import type { Database } from '../db/database';
import { type Loop, startLoop } from '../loop';
import type { Network } from '../networks';
import { findSweep, listOpenSweeps } from '../sweep/store';
import { amountOf, NATIVE_DECIMALS } from '../units';

export interface KeeperParts {
  client: Client;
  db: Database;
  networks: readonly Network[];
  log: Log;
}

const KEEP_EVERY_MS = 1_000;
/** How soon a terminated workflow is started again. */
const SURE_MS = 10_000;
const DEADLINE_MS = 5_000;

export function startKeeper(parts: KeeperParts): Loop {
  /** Sweep → when its workflow certainly was there. */
  const sure = new Map<string, number>();
  return startLoop('starting workflows', parts.log, KEEP_EVERY_MS, async () => {
    for (const [id, at] of sure) if (performance.now() - at >= SURE_MS) sure.delete(id);
    for (const network of parts.networks) {
      for (const sweepId of await listOpenSweeps(parts.db, network.chainId)) {
        if (sure.has(sweepId)) continue;
        await startSweep(parts, network, sweepId);
        sure.set(sweepId, performance.now());
      }
    }
    return undefined;
  });
}

async function startSweep(
  { client, db }: KeeperParts,
  { chainId, name, mode, native }: Network,
  sweepId: string,
): Promise<void> {
  const sweep = await findSweep(db, sweepId);
  if (sweep === null) return;
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
  await client.withDeadline(wallClockMs() + DEADLINE_MS, () =>
    client.workflow.start(SWEEP_WORKFLOW, {
      args: [input],
      staticSummary: `Sweep of ${asset} from ${transactions.length} addresses on ${name}, ${mode} mode`,
      workflowId: sweepWorkflowId(sweepId),
      taskQueue: walletQueue(chainId),
      workflowIdConflictPolicy: 'USE_EXISTING',
    }),
  );
}
