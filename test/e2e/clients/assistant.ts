/** The MCP server, started by the SDK's own client as an assistant starts it, against a gateway that its tests share. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { OPERATION_TOOLS } from '../../../clients/mcp/src/generated';
import { createProject, installMcp } from '../../support/merchant/installed-package';
import type { MerchantClient } from '../../support/merchant/merchant-client';
import { useSharedGateway } from '../../support/servers/gateway';
import { started } from '../../support/started';

/** Called once by a file: both run while its tests do, and with them every assistant that was started. */
export function useAssistants() {
  const connected: Client[] = [];
  afterAll(() => Promise.all(connected.map((client) => client.close())));
  const gateway = started(useSharedGateway);
  const project = started(async () => {
    const created = await createProject();
    return { ...created, program: installMcp(created) };
  });

  /** Starts the server with the key of this client, and connects to it. */
  async function startAssistant({ apiKey, baseUrl }: Pick<MerchantClient, 'apiKey' | 'baseUrl'>) {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [project.program],
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

  return { gateway, project, startAssistant };
}

export const READS = OPERATION_TOOLS.filter(({ kind }) => kind === 'reads').map(({ name }) => name);
export const ACTIONS = [
  ...OPERATION_TOOLS.filter(({ kind }) => kind !== 'reads').map(({ name }) => name),
  'trigger_event',
];
export const PAYMENT = { amount: '25', currency: 'USDT' };
