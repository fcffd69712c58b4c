/** Webhooks as a receiver gets them, with the verdict that its check must reach. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface WebhookVector {
  name: string;
  secrets: string[];
  /** The receiver's clock, in Unix seconds. */
  now: number;
  headers: Record<string, string>;
  body: string;
  /** `ok`, or the code of the refusal. */
  expect: string;
}

export const VECTORS_FILE = join(__dirname, '../../fixtures/webhook-signatures.json');

export const VECTORS = (
  JSON.parse(readFileSync(VECTORS_FILE, 'utf8')) as { vectors: WebhookVector[] }
).vectors;
