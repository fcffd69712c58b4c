/** The MCP server with a key of live mode, which moves nothing. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { OPERATION_TOOLS } from '../../../clients/mcp/src/generated';
import { createProject, installMcp, type Project } from '../../support/merchant/installed-package';
import { buildPayout, type MerchantClient } from '../../support/merchant/merchant-client';
import { openMerchant } from '../../support/payout/payout-steps';
import { type TestGateway, useSharedGateway } from '../../support/servers/gateway';

let gateway: TestGateway;
let project: Project;
let program: string;

beforeAll(async () => {
  gateway = await useSharedGateway();
  project = createProject();
  program = installMcp(project);
});

const connected: Client[] = [];

afterAll(async () => {
  await Promise.all(connected.map((client) => client.close()));
  project.remove();
  await gateway.stop();
});

/** Starts the server with the key of this client, and connects to it. */
async function startAssistant({ apiKey, baseUrl }: Pick<MerchantClient, 'apiKey' | 'baseUrl'>) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program],
    env: { GATEWAY_API_KEY: apiKey, GATEWAY_BASE_URL: baseUrl, XDG_CONFIG_HOME: project.folder },
    stderr: 'pipe',
  });
  /** All that the server has written. */
  const written: string[] = [];
  transport.stderr?.on('data', (chunk: Buffer) => written.push(chunk.toString()));
  const client = new Client({ name: 'assistant', version: '1.0.0' });
  connected.push(client);
  await client.connect(transport);
  const take = transport.onmessage;
  transport.onmessage = (message) => {
    written.push(JSON.stringify(message));
    take?.(message);
  };
  // The client compares what a tool returns with the schema that was listed.
  const { tools } = await client.listTools();
  async function call(name: string, args: Record<string, unknown> = {}) {
    const result = await client.callTool({ name, arguments: args });
    const [block] = result.content as { type: string; text: string }[];
    const isError = result.isError === true;

    const structured = JSON.parse(block!.text);
    expect(result.structuredContent).toEqual(isError ? undefined : structured);
    return { structured, text: block!.text, isError };
  }
  /** The result of a call that succeeds. */
  async function done(name: string, args: Record<string, unknown> = {}) {
    const { structured, isError } = await call(name, args);
    expect([name, isError ? structured : null]).toEqual([name, null]);
    return structured;
  }
  async function refused(name: string, args: Record<string, unknown> = {}) {
    const { structured, isError } = await call(name, args);
    expect([name, isError]).toEqual([name, true]);
    return structured.error;
  }
  async function end() {
    await client.close();
    // Whatever was asked, the key was never written.
    expect(written.join('\n')).not.toContain(apiKey);
    expect(written.join('\n')).not.toContain(apiKey.slice('sk_test_'.length));
  }
  return { client, tools, call, done, refused, end };
}

const READS = OPERATION_TOOLS.filter(({ kind }) => kind === 'reads').map(({ name }) => name);
const ACTIONS = [
  ...OPERATION_TOOLS.filter(({ kind }) => kind !== 'reads').map(({ name }) => name),
  'trigger_event',
];
const PAYMENT = { amount: '25', currency: 'USDT' };

test.concurrent('with a live key, no action is listed, and each is refused', async () => {
  const { client } = await openMerchant(gateway, { mode: 'live', funds: { USDT: '100' } });
  const made = await client.createPayout(buildPayout());
  const assistant = await startAssistant(client);
  const { tools, done, refused } = assistant;
  expect(tools.map(({ name }) => name).sort()).toEqual([...READS, 'explain_error'].sort());
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
  const payment = { ...PAYMENT, reference: 'live-order' };
  const arguments_: Record<string, object> = {
    create_payment: payment,
    create_payout: buildPayout({ reference: 'live-payout' }),
    cancel_payout: { id: made.json.data.id },
    trigger_event: { type: 'payout.completed' },
  };
  for (const name of ACTIONS) {
    expect(await refused(name, { ...arguments_[name] })).toEqual({
      code: 'wrong_usage',
      message: `${name} needs a test key, and this server has a live key.`,
      remedy: 'Start the server with a key that begins with sk_test_.',
    });
  }
  // A tool that reads sends nothing but GET, whatever its ID is.
  for (const id of [`${made.json.data.id}/cancel`, '../payouts', '..', '']) {
    expect(await refused('get_payout', { id })).toMatchObject({ code: 'wrong_usage' });
  }
  expect(OPERATION_TOOLS.every(({ kind, method }) => kind !== 'reads' || method === 'GET')).toBe(
    true,
  );
  expect((await done('list_payouts')).data).toMatchObject([
    { id: made.json.data.id, mode: 'live', status: 'under_review' },
  ]);
  expect((await done('list_payments')).data).toEqual([]);
  await assistant.end();
});
