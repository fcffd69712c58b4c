/** An option that is given twice is refused, by the command of the API and by the programs of the operator. */
import { type Command, readArguments } from '../../../clients/typescript/src/cli/command';
import { createCommand, runCommand } from '../../../src/platform/lib/command-line';

const COMMAND: Command = {
  name: 'payouts create',
  summary: 'Creates a payout',
  options: {
    amount: { value: '<amount>', help: 'the amount' },
    'public-key': { value: '<key>', help: 'a key', many: true },
    wait: { help: 'waits' },
  },
  examples: [],
  run: () => undefined,
};

test.each([
  [['--amount', '2.50', '--amount', '250'], '--amount'],
  [['--amount=2.50', '--amount=2.50'], '--amount'],
  [['--wait', '--wait'], '--wait'],
])('the command of the API refuses %j', (args, name) => {
  expect(() => readArguments(COMMAND, args)).toThrow(`The option ${name} is given more than once.`);
});

test('the command of the API takes each value of an option that can be repeated', () => {
  const { values } = readArguments(COMMAND, ['--public-key', 'a', '--public-key', 'b']);
  expect(values.texts('public-key')).toEqual(['a', 'b']);
});

async function run(...args: string[]) {
  const said: string[] = [];
  const terminal = { env: {}, out: () => undefined, err: (text: string) => said.push(text) };
  const program = createCommand('admin', terminal);
  let taken: object = {};
  program
    .command('set')
    .option('--amount <AMOUNT>', 'the amount')
    .option('--ip <IP...>', 'addresses')
    .action((options) => {
      taken = options;
    });
  const code = await runCommand(program, args, terminal);
  return { code, taken, said: said.join('') };
}

test('a program of the operator refuses an option that is given twice', async () => {
  const refused = await run('set', '--amount', '2.50', '--amount', '250');
  expect(refused).toMatchObject({ code: 2, taken: {} });
  expect(refused.said).toContain("'--amount' is given more than once. Give it once.");
  const ip = ['10.0.0.1', '10.0.0.2'];
  expect(await run('set', '--ip', ip[0]!, '--ip', ip[1]!, '--amount', '1')).toMatchObject({
    code: 0,
    taken: { ip, amount: '1' },
  });
});
