/** What a tool is, and the list of tools that a key may use. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { TRIGGERS } from '../../typescript/src/cli/triggers';
import { DEFINITIONS, ERRORS, EVENT, OPERATION_TOOLS } from './generated';
import type { JsonSchema, OperationTool } from './operation-tool';

export type Mode = 'test' | 'live';

export const EXPLAIN_ERROR = 'explain_error';
export const TRIGGER_EVENT = 'trigger_event';
/** Shorter than the time for which clients usually wait for an answer. */
export const TRIGGER_SECONDS = 50;

const IDEMPOTENCY_KEY: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 191,
  pattern: '^[\\x20-\\x7e]+$',
  description:
    'Repeats an earlier call with the same arguments without creating a second object. Without it, a new one is made. The result has the one that was sent',
};

/** The names of the tools that need a test key. */
export const TEST_ONLY: ReadonlySet<string> = new Set([
  ...OPERATION_TOOLS.filter(({ kind }) => kind !== 'reads').map(({ name }) => name),
  TRIGGER_EVENT,
]);

/** A live key gets the tools that read, so that no tool moves live money. */
export function toolsOf(mode: Mode): Tool[] {
  const all = [...OPERATION_TOOLS.map(operationTool), explainErrorTool(), triggerEventTool()];
  return all.filter(({ name }) => mode === 'test' || !TEST_ONLY.has(name));
}

function operationTool(tool: OperationTool): Tool {
  const { name, title, description, kind } = tool;
  const input = tool.hasIdempotencyKey ? withKey(tool.input, false) : tool.input;
  const output = tool.hasIdempotencyKey ? withKey(tool.output, true) : tool.output;
  return {
    name,
    title,
    description,
    inputSchema: asObject(input),
    outputSchema: asObject(withDefinitions(output)),
    annotations: {
      title,
      readOnlyHint: kind === 'reads',
      destructiveHint: kind === 'ends',
      idempotentHint: kind !== 'adds',
      // Answers have texts of customers and merchants.
      openWorldHint: true,
    },
  };
}

function withKey(schema: JsonSchema, isRequired: boolean): JsonSchema {
  return {
    ...schema,
    properties: { ...schema.properties, idempotency_key: IDEMPOTENCY_KEY },
    required: [...(schema.required ?? []), ...(isRequired ? ['idempotency_key'] : [])],
  };
}

function explainErrorTool(): Tool {
  return {
    name: EXPLAIN_ERROR,
    title: 'Explain an error code',
    description: 'What an error code of the API means, what to do, and the page about it.',
    inputSchema: {
      type: 'object',
      properties: {
        code: { type: 'string', enum: Object.keys(ERRORS), description: 'error.code of an answer' },
      },
      required: ['code'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        code: { type: 'string' },
        status: { type: 'integer', description: 'The HTTP status' },
        message: { type: 'string', description: 'What is wrong and what to do' },
        details: { type: ['object', 'null'], description: 'The JSON Schema of details' },
        doc_url: { type: 'string', description: 'The page about the error code' },
      },
      required: ['code', 'status', 'message', 'details', 'doc_url'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

function triggerEventTool(): Tool {
  return {
    name: TRIGGER_EVENT,
    title: 'Make an event happen',
    description:
      'Creates a real object in test mode that gets the event, waits for the event and returns it. Webhook endpoints receive it as well.',
    inputSchema: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: Object.keys(TRIGGERS), description: 'The type of event' },
        timeout_seconds: {
          type: 'integer',
          minimum: 1,
          maximum: 600,
          default: TRIGGER_SECONDS,
          description: 'How long to wait for it. payout_schedule.ended takes more than a minute',
        },
      },
      required: ['type'],
      additionalProperties: false,
    },
    outputSchema: asObject(withDefinitions(EVENT)),
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: true,
    },
  };
}

/** The schema with those that it refers to, also by way of another one. */
function withDefinitions(schema: JsonSchema): JsonSchema {
  const found: Record<string, JsonSchema> = {};
  const visit = (one: JsonSchema): void => {
    for (const [, name = ''] of JSON.stringify(one).matchAll(/"#\/\$defs\/(\w+)"/g)) {
      const named = DEFINITIONS[name];
      if (named === undefined || Object.hasOwn(found, name)) continue;
      found[name] = named;
      visit(named);
    }
  };
  visit(schema);
  return Object.keys(found).length === 0 ? schema : { ...schema, $defs: found };
}

/** The protocol asks for objects, which the generator makes of every tool. */
function asObject(schema: JsonSchema): Tool['inputSchema'] {
  return schema as Tool['inputSchema'];
}
