/** Senders and requests for the tests of the webhook sender. */
import {
  type AttemptResult,
  createWebhookSender,
  type SenderSettings,
  type WebhookSender,
} from '../../../src/adapters/webhooks/sender';
import type { WebhookRequest } from '../../../src/adapters/webhooks/attempt';
import { type Behaviour, RECEIVER_ADDRESS, type RawReceiver, startReceiver } from './raw-receiver';

export const EVENT: Omit<WebhookRequest, 'url'> = {
  mode: 'test',
  eventType: 'payout.completed',
  eventId: 'evt_00000000000000000000000001',
  secret: 'whsec_EXAMPLE-ONLY',
  signature: 'gateway',
  body: Buffer.from('{"id":"evt_00000000000000000000000001","type":"payout.completed"}'),
};

/** The rules of most tests: one address of this machine counts as public. */
export const RECEIVER_ALLOWED: SenderSettings = {
  allowCidrs: [`${RECEIVER_ADDRESS}/32`],
  denyCidrs: [],
  ownHosts: [],
  // A slow machine must not make a deadline of what is none.
  limits: { deadlineMs: 60_000, dnsMs: 30_000, bodyMs: 30_000 },
};

/** With a sender of these settings on top of the usual ones, which is closed in any case. */
export async function withSender<T>(
  settings: Partial<SenderSettings>,
  use: (sender: WebhookSender) => Promise<T>,
): Promise<T> {
  const sender = createWebhookSender({ ...RECEIVER_ALLOWED, ...settings });
  try {
    return await use(sender);
  } finally {
    await sender.close();
  }
}

/** One attempt at this URL by a sender of its own. */
export function attempt(
  url: string,
  settings: Partial<SenderSettings> = {},
  request: Partial<WebhookRequest> = {},
): Promise<AttemptResult> {
  return withSender(settings, (sender) => sender.send({ ...EVENT, ...request, url }));
}

/** One attempt at a receiver that behaves like this once it has the request. */
export async function attemptAt(
  behave: Behaviour,
  settings: Partial<SenderSettings> = {},
  request: Partial<typeof EVENT> = {},
): Promise<{ result: AttemptResult; receiver: RawReceiver }> {
  const receiver = await startReceiver(behave);
  try {
    const url = `http://${RECEIVER_ADDRESS}:${receiver.port}/hook?a=1`;
    return { result: await attempt(url, settings, request), receiver };
  } finally {
    await receiver.close();
  }
}

/** The part of a result that says how it went. */
export function outcomeOf({ outcome, status, errorCode }: AttemptResult): {
  outcome: string;
  status: number | null;
  errorCode: string | null;
} {
  return { outcome, status, errorCode };
}

export function failed(errorCode: string, status: number | null = null): object {
  return { outcome: 'failed', status, errorCode };
}

export function succeeded(status = 200): object {
  return { outcome: 'succeeded', status, errorCode: null };
}
