/** The form of what `npm run openapi` writes to generated.ts. */

export interface JsonSchema {
  type?: unknown;
  $ref?: string;
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  [keyword: string]: unknown;
}

/** An operation of the API as a tool. Its name and schemas are those of openapi.json. */
export interface OperationTool {
  name: string;
  title: string;
  description: string;
  method: 'GET' | 'POST';
  /** With `{id}` for a parameter. */
  path: string;
  /** Only `reads` is for live keys as well. */
  kind: 'reads' | 'adds' | 'ends';
  hasIdempotencyKey: boolean;
  /** The arguments that are parameters of the query; others are in the path or the body. */
  query: readonly string[];
  input: JsonSchema;
  output: JsonSchema;
}

/** What an error code means and what to do. */
export interface ErrorMeaning {
  status: number;
  message: string;
  /** The schema of the member `details`; null: the error has none. */
  details: JsonSchema | null;
}
