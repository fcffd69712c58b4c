/**
 * One sweep: coins for network fees to the deposit addresses, final; then the transactions that move
 * the deposits, final. They were signed and stored when the operator ordered the sweep, so whatever is
 * killed between the steps, the same bytes are broadcast again.
 */
import { CancellationScope, setCurrentDetails } from '@temporalio/workflow';
import { LONG, SHORT, walletActivities } from './activities';
import type { SweepInput, SweepResult } from './messages';

const { fundSweep } = walletActivities<'fundSweep'>({ ...SHORT, summary: 'Order the funding' });
const { awaitFunding } = walletActivities<'awaitFunding'>({ ...LONG, summary: 'Funding is final' });
const { sendSweep } = walletActivities<'sendSweep'>({ ...LONG, summary: 'Broadcast' });
const { awaitSweep } = walletActivities<'awaitSweep'>({ ...LONG, summary: 'Sweep is final' });
const { endSweep } = walletActivities<'endSweep'>({ ...SHORT, summary: 'Store the end' });

export async function walletSweepWorkflow(input: SweepInput): Promise<SweepResult> {
  // Half of a sweep is no end, so "Request cancellation" has no effect. Pausing the chain stops it.
  return CancellationScope.nonCancellable(async () => {
    const { sweepId } = input;
    show(input, 'The hot wallet sends coins for network fees to the addresses that lack them.');
    const funded = await fundSweep(sweepId);
    if (funded > 0)
      show(input, `Waiting until ${funded} addresses have their coins, in final blocks.`);
    const failure = await awaitFunding(sweepId);
    if (failure !== null) return finish(input, { moved: 0, failure });
    show(input, 'Broadcasting the transactions. While the chain is paused, this waits.');
    await sendSweep(sweepId);
    show(input, 'Waiting until the transactions are in final blocks.');
    return finish(input, { moved: await awaitSweep(sweepId), failure: null });
  });
}

async function finish(input: SweepInput, result: SweepResult): Promise<SweepResult> {
  await endSweep(input.sweepId, result.failure);
  const { moved, failure } = result;
  show(input, failure ?? `${moved} of ${input.addresses} addresses are swept, in final blocks.`);
  return result;
}

function show(input: SweepInput, step: string): void {
  const { sweepId, asset, destination, network, mode, addresses, costMax } = input;
  setCurrentDetails(
    [
      `**${sweepId}** · ${asset} of ${addresses} addresses on ${network}, ${mode} mode, to \`${destination}\``,
      step,
      `Network fees: at most ${costMax}. To stop it before the broadcast, pause the chain.`,
    ].join('\n\n'),
  );
}
