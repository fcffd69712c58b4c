/** `npm run layout`: the layout of the chaos run without load and faults, until Ctrl-C. */
import { once } from 'node:events';
import { Command } from '@commander-js/extra-typings';
import { startTestServices, stopTestServices } from '../support/servers/start-services';
import { missingParts, startLayout } from './layout';
import { runMain } from '../support/run-main';

const program = new Command('npm run layout --')
  .description('Starts the gateway as several machines would run it, until Ctrl-C.')
  .option('--chain', 'with the wallet, on a chain, in place of the simulated provider', false)
  .parse();

async function main(): Promise<void> {
  const log = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  log('starting PostgreSQL, Temporal, the providers and the programs');
  await startTestServices(['postgres', 'temporal']);
  const layout = await startLayout(program.opts().chain);
  try {
    missingParts(layout).forEach(log);
    layout.baseUrls.forEach((url) => {
      log(`API       ${url}`);
    });
    layout.merchants.forEach(({ mode, key }, n) => {
      log(`${mode} key  ${key}${n === 1 ? ', whose payouts wait for an operator' : ''}`);
    });
    log(
      `Temporal  ${layout.gateway.env['TEMPORAL_ADDRESS'] ?? ''}, namespace ${layout.gateway.env['TEMPORAL_NAMESPACE'] ?? ''}`,
    );
    log('Ctrl-C ends it.');
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  } finally {
    await layout.stop();
    await stopTestServices();
  }
}

runMain(main);
