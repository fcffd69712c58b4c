/** Every client against one hostile server: what becomes of each kind of answer, as a table. */
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createCallTool } from '../../../clients/mcp/src/call';
import {
  ConnectionError,
  GatewayClient,
  UnexpectedResponseError,
} from '../../../clients/typescript/src/index';
import { type Fault, FAULTS, OUTCOMES, startHostileServer } from './hostile-server';
import { describeWithProgram, pythonWith } from '../../support/optional-program';
import { compileProject } from '../../../src/dev/compile';

const ROOT = resolve(__dirname, '../../..');
const KEY = 'sk_test_of_no_use';
const IDEMPOTENCY_KEY = 'key-of-the-call';
const REQUEST = { amount: '1', currency: 'USDT', reference: 'r1' } as const;
const NAMES = Object.keys(FAULTS) as Fault[];
/** Each call of the command and of the Python client is a process: a busy machine answers a few in time, and not twenty. */
const PROCESSES_AT_ONCE = 4;
const execute = promisify(execFile);

/** @param call resolves to null when the payment is created, else to the words of the error */
async function outcome(
  fault: Fault,
  call: (baseUrl: string) => Promise<string | null>,
): Promise<string> {
  const server = await startHostileServer(fault);
  try {
    const error = await call(server.baseUrl);
    // However often it is sent, the call has one key.
    expect(new Set(server.keys)).toEqual(new Set([IDEMPOTENCY_KEY]));
    return error ?? `created at ${server.keys.length}`;
  } finally {
    server.stop();
  }
}

/** @param atOnce the number of calls at the same time */
async function table(
  call: (baseUrl: string) => Promise<string | null>,
  atOnce: number = NAMES.length,
) {
  const found: Record<string, string> = {};
  for (let from = 0; from < NAMES.length; from += atOnce) {
    const faults = NAMES.slice(from, from + atOnce);
    const outcomes = await Promise.all(faults.map((fault) => outcome(fault, call)));
    for (const [index, fault] of faults.entries()) found[fault] = outcomes[index]!;
  }
  return found;
}

function show(client: string, found: object): void {
  const lines = Object.entries(found).map(([fault, what]) => `  ${fault.padEnd(34)} ${what}`);
  process.stderr.write(`${client}\n${lines.join('\n')}\n`);
}

async function callTypeScript(baseUrl: string): Promise<string | null> {
  const client = new GatewayClient({ baseUrl, key: KEY, maxRetries: 1 });
  try {
    const payment = await client.payments.create(REQUEST, { idempotencyKey: IDEMPOTENCY_KEY });
    return payment.id === 'pay_1' ? null : `created ${JSON.stringify(payment)}`;
  } catch (error) {
    if (error instanceof ConnectionError) return `connection ${error.idempotencyKey}`;
    if (!(error instanceof UnexpectedResponseError)) return `foreign ${String(error)}`;
    expect(error.idempotencyKey).toBe(IDEMPOTENCY_KEY);
    expect(error.message).toContain(error.body === '' ? 'it is empty' : error.body.slice(0, 20));
    return `unexpected ${error.status} ${error.contentType} ${error.requestId}`;
  }
}

const PYTHON = `
import sys
from payments_gateway import ConnectionError, GatewayClient, UnexpectedResponseError
client = GatewayClient(base_url=sys.argv[1], key="${KEY}", max_retries=1)
request = {"amount": "1", "currency": "USDT", "reference": "r1"}
try:
    payment = client.payments.create(request, idempotency_key="${IDEMPOTENCY_KEY}")
    print("" if payment["id"] == "pay_1" else payment)
except UnexpectedResponseError as error:
    assert error.idempotency_key == "${IDEMPOTENCY_KEY}"
    assert (error.body[:20] or "it is empty") in str(error)
    print("unexpected", error.status, error.content_type or "null", error.request_id)
except ConnectionError as error:
    print("connection", error.idempotency_key)
except Exception as error:
    print("foreign", repr(error))
`;

async function callMcp(baseUrl: string): Promise<string | null> {
  const call = createCallTool({ baseUrl, key: KEY, maxRetries: 1 }, 'test');
  const args = { ...REQUEST, idempotency_key: IDEMPOTENCY_KEY };
  const { isError, content } = await call('create_payment', args, new AbortController().signal);
  if (isError !== true) return null;
  const [shown] = content as { text: string }[];
  return shownError(shown!.text);
}

/** The command and the tools show an error as the same JSON. */
function shownError(json: string): string {
  const { error } = JSON.parse(json) as { error: Record<string, string | number | null> };
  const { code, status, content_type: type = null, request_id: requestId = null } = error;
  expect(code).toBe('no_answer');
  expect(json).toContain(IDEMPOTENCY_KEY);
  return status === undefined ? 'connection' : `unexpected ${status} ${type} ${requestId}`;
}

test('the TypeScript client: each becomes the payment or an error of its own', async () => {
  const found = await table(callTypeScript);
  show('TypeScript', found);
  expect(found).toEqual(OUTCOMES);
}, 60_000);

test('the tools for assistants: each becomes the payment or an error with what the answer was', async () => {
  const found = await table(callMcp);
  show('MCP', found);
  expect(found).toEqual(OUTCOMES);
}, 60_000);

test('the command: each becomes the payment or an error with what the answer was', async () => {
  const compiled = await compileProject();
  const main = join(compiled, 'clients/typescript/src/cli/main.js');
  const found = await table(async (baseUrl) => {
    const options = Object.entries({ ...REQUEST, 'base-url': baseUrl, key: KEY });
    const args = options.flatMap(([name, value]) => [`--${name}`, value]);
    const command = [main, 'payments', 'create', ...args, '--json'];
    const run = execute(process.execPath, [...command, '--idempotency-key', IDEMPOTENCY_KEY], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'] },
    });
    return run.then(
      () => null,
      (error: unknown) => shownError((error as { stderr: string }).stderr),
    );
  }, PROCESSES_AT_ONCE);
  show('command', found);
  expect(found).toEqual(OUTCOMES);
}, 240_000);

describeWithProgram(
  pythonWith('gzip'),
  'Install Python 3.11 or newer.',
  'the Python client',
  () => {
    test('each becomes the payment or an error of its own', async () => {
      const found = await table(async (baseUrl) => {
        const { stdout } = await execute(pythonWith('gzip')!, ['-c', PYTHON, baseUrl], {
          cwd: join(ROOT, 'clients/python'),
          env: { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1' },
        });
        return stdout.trim() === '' ? null : stdout.trim();
      }, PROCESSES_AT_ONCE);
      show('Python', found);
      expect(found).toEqual(OUTCOMES);
    }, 120_000);
  },
);
