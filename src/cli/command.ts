/**
 * What a command is: a noun with verbs, each a table entry that says what it takes, what it does
 * and how its answer looks. run-command.ts runs them, help.ts explains them.
 */
import type { Client } from '@temporalio/client';
import type { Db } from '../db/transaction';
import type { ChangedBy } from '../services/admin/change';
import type { WebhookTools } from '../services/admin/webhooks';
import type { Options } from './options';

export interface OptionSpec {
  /** What stands for the value in the help, such as `CODE`; a flag has none. */
  value?: string;
  help: string;
}

export interface Context {
  db: Db;
  /** Who makes the change; an empty name for a verb that changes nothing. */
  by: ChangedBy;
  /** The account that was asked for, else the demo merchant in development. */
  accountId: (asked: string | undefined) => Promise<string>;
  /** The pepper of the gateway that uses this database. */
  pepper: () => string;
  /** The Temporal namespace of that gateway; connects when it is first used. */
  temporal: () => Client;
  /** What tries endpoints and wakes deliveries. */
  webhooks: () => WebhookTools;
}

export interface Verb<Input, Document extends object> {
  summary: string;
  /** Further sentences for the help, each a line. */
  notes?: readonly string[];
  /** The option whose value may also follow the verb without its name: `keys revoke key_…`. */
  subject?: string;
  options: Readonly<Record<string, OptionSpec>>;
  /** What follows `npm run -s admin -- `. */
  examples: readonly string[];
  /** A verb that changes something takes --by and --reason, and writes an audit row. */
  changes?: 'reason optional' | 'reason required';
  /** Before the database is asked. @throws UsageError */
  read(options: Options): Input;
  run(context: Context, input: Input): Promise<Document>;
  /** For a person; --json prints the document itself. */
  show(document: Document): string;
}

export type AnyVerb = Verb<unknown, object>;

export interface Noun {
  summary: string;
  verbs: Readonly<Record<string, AnyVerb>>;
}

/** Checks that reading, running and showing fit together, then forgets how. */
export function verb<Input, Document extends object>(entry: Verb<Input, Document>): AnyVerb {
  return entry;
}

/** A list as a document. */
export interface List<T> {
  object: 'list';
  data: T[];
  has_more: boolean;
}

export function listOf<T>(data: T[], limit = Infinity): List<T> {
  return { object: 'list', data: data.slice(0, limit), has_more: data.length > limit };
}
