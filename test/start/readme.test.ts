/** The README's transcript, run as it stands against a real `npm start`. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describeWithChain } from '../support/wallet/chain';
import { findFreePort } from '../../src/dev/ports';

const ROOT = resolve(__dirname, '../..');
const START_TIMEOUT_MS = 240_000;
const STOP_TIMEOUT_MS = 30_000;
const TRANSCRIPT_TIMEOUT_MS = 180_000;
const PORTS = [
  ...['PORT', 'SANDBOX_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'POSTGRES_PORT'],
  ...['CHAIN_PORT', 'WALLET_PORT'],
];

let folder: string;
let env: NodeJS.ProcessEnv;
let gateway: ChildProcess;

async function start(...args: string[]): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'readme-'));
  chmodSync(folder, 0o711);
  const { TEST_POSTGRES_URL, TEST_TEMPORAL_ADDRESS, ...inherited } = process.env;
  env = { ...inherited, GATEWAY_DATA_DIR: join(folder, 'data') };
  for (const name of PORTS) env[name] = String(await findFreePort());
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  gateway = spawn('npm', ['start', '--', ...args], { cwd: ROOT, env, stdio: [...stdio] });
  await untilReady(gateway);
}

afterEach(async () => {
  if (gateway.exitCode === null) {
    gateway.kill('SIGTERM');
    await once(gateway, 'exit', { signal: AbortSignal.timeout(STOP_TIMEOUT_MS) });
  }
  rmSync(folder, { recursive: true, maxRetries: 10, retryDelay: 200 });
}, STOP_TIMEOUT_MS + 5_000);

test(
  'the README leads from a key to a completed payout, through reject and cancel, to a payment',
  async () => {
    await start();
    const [first = '', second = '', third = '', fourth = ''] = await runInOneShell(
      readShellBlocks().slice(0, 4),
    );

    const firstLines = first.trim().split('\n');
    expect(firstLines[0]).toBe(
      'Demo merchant, live mode: 1000.00000000 USDT available, 0.00000000 reserved',
    );
    const answers = firstLines.filter(isJson).map(parse);
    expect(answers).toMatchObject([
      { data: { status: 'under_review', total_debit: '102.00000000', tx_hash: null } },
      { data: { status: 'completed', tx_hash: expect.stringMatching(/^[0-9a-f]{64}$/) } },
      { balances: [{ currency: 'USDT', available: '898.00000000', reserved: '0.00000000' }] },
    ]);

    expect(second.trim().split('\n').filter(isJson).map(parse)).toMatchObject([
      { data: { status: 'rejected', rejection_reason: 'unknown recipient' } },
      { data: { status: 'cancelled' } },
      { balances: [{ currency: 'USDT', available: '898.00000000', reserved: '0.00000000' }] },
    ]);

    expect(third).toContain('payoutWorkflow');
    expect(third.trim().split('\n').at(-1)).toMatch(/^ledger verified: all \d+ invariants hold$/);

    expect(fourth.trim().split('\n').filter(isJson).map(parse)).toMatchObject([
      { data: { status: 'created', amount_due: '25.00000000' } },
      { data: { status: 'completed', received_amount: '25.00000000', net_amount: '24.75000000' } },
      { balances: [{ currency: 'USDT', available: '24.75000000', pending: '0.00000000' }] },
    ]);
  },
  START_TIMEOUT_MS + TRANSCRIPT_TIMEOUT_MS,
);

describeWithChain('with the local chain', () => {
  test(
    'the README leads to a payment and a payout, both read back from the chain',
    async () => {
      await start('--chain');
      const blocks = readShellBlocks();
      const shortcuts = blocks.flatMap((block) =>
        block.split('\n').filter((line) => /^(dev|shop)\(\) |^API=/.test(line)),
      );
      const [, printed = ''] = await runInOneShell([shortcuts.join('\n'), blocks[4] ?? '']);
      const lines = printed.trim().split('\n');
      expect(lines).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^Paid 25\.0+ USDT to 0x\w{40} in 0x[0-9a-f]{64}$/),
          expect.stringMatching(/^0x\w{40} has 25 USDT$/),
        ]),
      );
      expect(lines.filter(isJson).map(parse)).toMatchObject([
        { data: { status: 'created', network: 'ethereum' } },
        { data: { status: 'completed', received_amount: '25.00000000' } },
        { data: { amount: '10.00000000' } },
        { data: { status: 'completed', tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) } },
      ]);
      expect(lines.at(-1)).toBe('0x8ba1f109551bD432803012645Ac136ddd64DBA72 has 10 USDT');
    },
    START_TIMEOUT_MS + TRANSCRIPT_TIMEOUT_MS,
  );
});

/** The lines that a reader types, block by block. */
function readShellBlocks(): string[] {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, lines = '']) => lines);
  expect(blocks).toHaveLength(5);
  return blocks;
}

/** One shell for all blocks, as at a terminal; it stops at the first line that fails. */
async function runInOneShell(blocks: string[]): Promise<string[]> {
  const separator = '--- next block ---';
  const script = blocks.join(`\necho '${separator}'\n`);
  const run = promisify(execFile);
  const { stdout } = await run('bash', ['-e', '-c', script], {
    cwd: ROOT,
    env,
    timeout: TRANSCRIPT_TIMEOUT_MS - 5_000,
  });
  return stdout.split(separator);
}

function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (what: string) => () => reject(new Error(`npm start ${what}:\n${output}`));
    child.once('exit', fail('ended'));
    AbortSignal.timeout(START_TIMEOUT_MS).addEventListener('abort', fail('is not ready'));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('gateway ready')) resolve();
    });
  });
}

function isJson(line: string): boolean {
  return line.startsWith('{');
}

function parse(line: string): unknown {
  return JSON.parse(line);
}
