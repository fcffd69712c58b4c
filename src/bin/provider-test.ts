/** `npm run provider:test`: asks a program whether it keeps the promises of docs/onchain-provider.md. */
import {
  createCommand,
  type Program,
  runAsMain,
  runCommand,
  wholeNumber,
} from '../platform/lib/command-line';
import { checkProvider } from '../rails/onchain-api/conformance';

const HELP = `
It orders a transfer and a checkout, so use the key of test mode.

Example:
  ONCHAIN_TEST_API_KEY=… npm run provider:test -- --url http://localhost:3002 --asset USDC --network ethereum \\
    --amount 5 --address 0x52908400098527886E0F7030069857D2E4169EE7
`;

const providerTest: Program = async (args, terminal) => {
  let failed = 0;
  const command = createCommand('npm run provider:test --', terminal)
    .description('Tests an on-chain provider against docs/onchain-provider.md.')
    .requiredOption('--url <URL>', 'its base URL, without /v1')
    .requiredOption('--asset <ASSET>', 'what it sends, such as USDC')
    .requiredOption('--network <NETWORK>', 'on which network')
    .requiredOption('--amount <NUMBER>', 'a whole amount for each order', wholeNumber(1, 900_000))
    .requiredOption('--address <ADDRESS>', 'who receives the transfer')
    .option('--wait <SECONDS>', 'for the transfer to be final', wholeNumber(1, 86_400), 1_200)
    .addHelpText('after', HELP)
    .action(async ({ url, amount, wait, ...order }) => {
      const apiKey = terminal.env['ONCHAIN_TEST_API_KEY'] ?? '';
      const results = await checkProvider({
        ...{ ...order, url: url.replace(/\/$/, ''), apiKey, waitMs: wait * 1_000 },
        amount: `${String(amount)}.00000000`,
      });
      for (const { promise, failure } of results) {
        terminal.out(
          failure === null ? `ok      ${promise}\n` : `FAILED  ${promise}: ${failure}\n`,
        );
      }
      failed = results.filter(({ failure }) => failure !== null).length;
    });
  const code = await runCommand(command, args, terminal);
  return code === 0 && failed > 0 ? 1 : code;
};

runAsMain(module, providerTest);
