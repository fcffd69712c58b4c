/**
 * Posts callbacks to the gateway and retries until they are acknowledged, for transfers
 * (transfers/callbacks.ts) and checkouts (checkouts/callbacks.ts).
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { CredentialsTable, Log, SandboxSettings } from './config';
import type { ReferenceKey } from './records';

export interface CallbackRequest {
  headers: Record<string, string>;
  body: string;
}

const ATTEMPT_TIMEOUT_MS = 5_000;

export class CallbackDelivery {
  private readonly stopping = new AbortController();

  constructor(
    private readonly credentials: CredentialsTable,
    private readonly settings: SandboxSettings,
    private readonly log: Log,
  ) {
    // Every callback that waits for its next attempt is a listener; many of them are not a leak.
    setMaxListeners(0, this.stopping.signal);
  }

  stop(): void {
    this.stopping.abort();
  }

  /** Undefined where the provider is closed in the mode. */
  secretOf({ provider, mode }: ReferenceKey): string | undefined {
    return this.credentials[provider][mode]?.callbackSecret;
  }

  /**
   * Tries until a 2xx answer or until no attempts are left. `build` runs for each attempt, because
   * the signature contains the time.
   * @returns whether it was acknowledged; false also when the sandbox stops meanwhile
   */
  async deliver(
    subject: ReferenceKey,
    build: (secret: string) => CallbackRequest,
  ): Promise<boolean> {
    const secret = this.secretOf(subject);
    if (secret === undefined) return false;
    for (const pauseMs of [...this.settings.callbackRetryMs, null]) {
      if (await this.attempt(subject, build(secret))) return !this.stopping.signal.aborted;
      if (pauseMs === null || this.stopping.signal.aborted) return false;
      await wait(pauseMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
    return false;
  }

  async attempt(subject: ReferenceKey, request: CallbackRequest): Promise<boolean> {
    const base = this.settings.callbackBaseUrl;
    if (base === null || this.stopping.signal.aborted) return false;
    const url = `${base}/provider-callbacks/${subject.provider}/${subject.mode}`;
    const result = await this.post(url, request);
    this.log('callback', { url, reference: subject.reference, result });
    return typeof result === 'number' && result >= 200 && result < 300;
  }

  /** The status of the answer, or the name of the error. */
  private async post(url: string, request: CallbackRequest): Promise<number | string> {
    const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)]);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...request.headers },
        body: request.body,
        redirect: 'manual',
        signal,
      });
      await response.arrayBuffer();
      return response.status;
    } catch (error) {
      return error instanceof Error ? error.name : 'failed';
    }
  }
}
