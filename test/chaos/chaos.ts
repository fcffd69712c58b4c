/**
 * `npm run chaos -- --seconds 1200 --seed 7`: the gateway in the layout of production under a mixed
 * load while its processes, servers and networks fail. docs/reliability.md explains what is judged.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { findAnvil } from '../../src/dev/chain/anvil';
import { wholeNumber } from '../../src/platform/lib/command-line';
import { chooseSeed } from '../support/seeded-random';
import { startTestServices, stopTestServices } from '../support/servers/start-services';
import { describeFault, makePlan } from './plan';
import { runChaos } from './run';
import { runMain } from '../support/run-main';

const DAY_S = 86_400;
const SEED_MAX = 2 ** 31;

/** By Ctrl-C. What was started is ended then as well. */
const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(() => {
  throw new Error('The run was interrupted.');
});
interrupted.catch(() => undefined);

const program = new Command('npm run chaos --')
  .description('Lets parts of the gateway fail under load, and judges every answer and every cent.')
  .option('--seconds <n>', 'length of the load', wholeNumber(1, DAY_S), 1_200)
  .option('--seed <n>', 'repeats a plan', wholeNumber(1, SEED_MAX), chooseSeed() + 1)
  .option('--chain', 'with the wallet, on a chain, in place of the simulated provider', false)
  .option('--plan', 'print the plan and end', false)
  .parse();

async function main(): Promise<void> {
  const { seconds, seed, chain: onChain, plan: isPlanOnly } = program.opts();
  if (onChain && findAnvil() === null) {
    program.error('--chain needs anvil, and @foundry-rs/anvil has no program for this system.');
  }
  const plan = makePlan(seed, seconds, onChain);
  const log = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  log(`seed ${seed}, ${seconds} s, ${plan.length} faults`);
  if (isPlanOnly) {
    plan.forEach((fault) => {
      log(describeFault(fault));
    });
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'payments-gateway-chaos-'));
  process.env['TEST_PROGRAM_OUTPUT'] = folder;
  await startTestServices(['postgres', 'temporal']);
  try {
    const report = await runChaos({ seed, seconds, plan, onChain, interrupted }, log);
    report.lines.forEach(log);
    const wrong =
      report.violations.length + report.lostAcknowledgements.length + report.doubleSends.length;
    if (wrong > 0) process.exitCode = 1;
    log(wrong > 0 ? `the programs' logs are in ${folder}` : 'nothing is lost');
    if (wrong === 0) rmSync(folder, { recursive: true, force: true });
  } finally {
    await stopTestServices();
  }
}

runMain(main);
