/** The tools of the verbs of the admin command, and how a verb is run. */
import type { Client } from '@temporalio/client';
import type { Db } from '../../db/transaction';
import type { ChangedBy } from '../service/audit';
import type { ScreeningService } from '../../adapters/screening/service';
import type { WebhookTools } from '../../features/webhooks/webhook-endpoints';

/** The tools that the verbs use. */
export interface Context {
  db: Db;
  /** The operator and the reason of a change. */
  readonly by: ChangedBy;
  /** The requested account, otherwise the demo merchant in development. */
  accountId: (asked: string | undefined) => Promise<string>;
  /** The requested account, or null for the default of every account. */
  accountOrDefault: (options: ScopeOptions) => Promise<string | null>;
  /** The pepper of the gateway that uses this database. */
  pepper: () => string;
  /** The Temporal namespace of that gateway; connects on first use. */
  temporal: () => Client;
  /** Prints a line about the progress, for people. */
  note: (line: string) => void;
  /** The screening service of that gateway; null if it has none. */
  screening: () => ScreeningService | null;
  /** The public keys of the gateway’s evidence that its settings have. */
  evidenceKeys: () => string[];
  /** The tools to test endpoints and to wake deliveries. */
  webhooks: () => WebhookTools;
}

export interface ScopeOptions {
  account?: string | undefined;
  default?: true | undefined;
}

export interface CommonOptions {
  json?: true | undefined;
  by?: string | undefined;
  reason?: string | undefined;
}

/** Runs a verb and prints its document; `show` formats it for people. */
export type Run = <Document extends object>(
  options: CommonOptions,
  work: (context: Context) => Promise<Document>,
  show?: (document: Document) => string,
) => Promise<void>;
