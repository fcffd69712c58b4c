/**
 * Says why a webhook does not verify, with the code that merchants run. Nothing of it is stored or
 * logged.
 */
import type { Owner } from '../../domain/mode';
import { asAccount } from '../../db/as-account';
import { findEventBody } from '../../db/webhooks/events';
import type { Db } from '../../db/transaction';
import { verifyWebhook, WebhookVerificationError } from '../../../clients/typescript/src/webhooks';

export interface ReceivedWebhook {
  /** The value of X-Gateway-Signature. */
  signature: string;
  /** The value of X-Gateway-Event-Id; empty means that of the body. */
  eventId: string;
  body: string;
  secret: string;
}

export type SignatureFinding =
  | { kind: 'valid' }
  | { kind: 'format' | 'timestamp' | 'event_id' | 'body_not_an_event'; message: string }
  | { kind: 'wrong_secret' | 'secret_has_spaces' | 'secret_without_prefix' }
  /** The stored event matches the signature; the first byte that differs, counted from 0. */
  | { kind: 'body_changed'; at: number; isSameJson: boolean }
  | { kind: 'line_break_added' }
  /** The event is not one of this account and mode, or its body is no longer kept. */
  | { kind: 'secret_or_body' };

export type ExplainSignature = (
  owner: Owner,
  received: ReceivedWebhook,
) => Promise<SignatureFinding>;

export function createExplainSignature(db: Db): ExplainSignature {
  return async (owner, received) => {
    const eventId = received.eventId || idIn(received.body);
    const error = verify({ ...received, eventId });
    if (error === null) return { kind: 'valid' };
    const { code, message } = error;
    switch (code) {
      case 'missing_header':
      case 'malformed_signature':
        return { kind: 'format', message };
      case 'timestamp_too_old':
      case 'timestamp_too_new':
        return { kind: 'timestamp', message };
      case 'event_id_mismatch':
        return { kind: 'event_id', message };
      case 'malformed_body':
        return { kind: 'body_not_an_event', message };
      case 'no_matching_signature':
        return explainMismatch(
          { ...received, eventId },
          await findEventBody(asAccount(db, owner.accountId), owner, eventId),
        );
    }
  };
}

/** @param sent what the gateway sent; null if that is not known */
function explainMismatch(received: ReceivedWebhook, sent: Buffer | null): SignatureFinding {
  const { body, secret } = received;
  const matches = (change: Partial<ReceivedWebhook>) => isSigned({ ...received, ...change });
  if (secret !== secret.trim() && matches({ secret: secret.trim() })) {
    return { kind: 'secret_has_spaces' };
  }
  if (matches({ secret: `whsec_${secret}` })) return { kind: 'secret_without_prefix' };
  if (matches({ body: body.trim() })) return { kind: 'line_break_added' };
  if (sent === null) return { kind: 'secret_or_body' };
  const original = sent.toString('utf8');
  if (original === body || !matches({ body: original })) return { kind: 'wrong_secret' };
  return {
    kind: 'body_changed',
    at: firstDifference(original, body),
    isSameJson: canonical(original) === canonical(body),
  };
}

/** The time does not matter here. */
function isSigned(received: ReceivedWebhook): boolean {
  const error = verify(received);
  return error === null || error.code !== 'no_matching_signature';
}

function verify({
  signature,
  eventId,
  body,
  secret,
}: ReceivedWebhook): WebhookVerificationError | null {
  const headers = { 'X-Gateway-Signature': signature, 'X-Gateway-Event-Id': eventId };
  try {
    verifyWebhook(body, headers, secret);
    return null;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error;
    throw error;
  }
}

function idIn(body: string): string {
  return /"id"\s*:\s*"(evt_\w{26})"/.exec(body)?.[1] ?? 'none';
}

function firstDifference(a: string, b: string): number {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  const at = left.findIndex((byte, index) => byte !== right[index]);
  return at === -1 ? left.length : at;
}

function canonical(json: string): string | null {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return null;
  }
}
