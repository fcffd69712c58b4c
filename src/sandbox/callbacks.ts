/**
 * Tells the gateway what became of a transfer, as the transfer's scenario has it: once, twice,
 * late, forged or not at all. How a callback looks and is signed is each provider's own
 * (onchain/callback.ts, exchange-pay/callback.ts).
 */
import { randomBytes } from 'node:crypto';
import type { Book, Transfer } from './book';
import type { CallbackDelivery, CallbackRequest } from './callback-delivery';
import type { ProviderName } from './config';
import { buildExchangePayCallback } from './exchange-pay/callback';
import { buildOnchainCallback } from './onchain/callback';
import { SCENARIOS } from './scenarios';

/** Builds the callback that states the transfer as given, signed now with the secret. */
export type CallbackBuilder = (transfer: Transfer, secret: string) => CallbackRequest;

const BUILDERS: Record<ProviderName, CallbackBuilder> = {
  onchain_provider: buildOnchainCallback,
  exchange_pay: buildExchangePayCallback,
};

export class Callbacks {
  constructor(
    private readonly book: Book,
    private readonly delivery: CallbackDelivery,
  ) {}

  /** A start after a crash: whatever was said and not acknowledged is said again. */
  resume(transfer: Transfer): void {
    const isFinal = transfer.status === 'sent' || transfer.status === 'failed';
    if (isFinal && transfer.acknowledgedStatus !== transfer.status) this.announce(transfer);
  }

  /** Only forgers speak before the outcome. */
  announceAcceptance(transfer: Transfer): void {
    if (SCENARIOS[transfer.scenario].callbacks === 'forged_first') void this.forge(transfer);
  }

  announce(transfer: Transfer): void {
    switch (SCENARIOS[transfer.scenario].callbacks) {
      case 'none':
        return;
      case 'once':
      case 'forged_first':
        void this.deliver(transfer);
        return;
      case 'twice':
        void Promise.all([this.deliver(transfer), this.deliver(transfer)]).then(() =>
          this.deliver(transfer),
        );
        return;
      case 'out_of_order':
        void this.deliver(transfer).then(() => this.deliver({ ...transfer, ...BEFORE_OUTCOME }));
    }
  }

  /** One callback of the transfer as it is now, whatever its scenario says. */
  async resend(transfer: Transfer): Promise<void> {
    await this.deliver(transfer);
  }

  private async deliver(transfer: Transfer): Promise<void> {
    const build = BUILDERS[transfer.provider];
    const isHeard = await this.delivery.deliver(transfer, (secret) => build(transfer, secret));
    if (isHeard) this.acknowledge(transfer);
  }

  /** Only an outcome can be owed after a restart, so only an outcome is noted as told. */
  private acknowledge(transfer: Transfer): void {
    if (transfer.status === 'pending') return;
    this.book.recordAcknowledgement(transfer, transfer.status);
  }

  /** Two claims of success that no receiver may believe; each is posted once. */
  private async forge(transfer: Transfer): Promise<void> {
    const secret = this.delivery.secretOf(transfer);
    if (secret === undefined) return;
    const build = BUILDERS[transfer.provider];
    const claim: Transfer = { ...transfer, status: 'sent' };
    // The first keeps a true signature of another body; the second is right but for its secret.
    const changedBody = { ...build(transfer, secret), body: build(claim, secret).body };
    const otherSecret = build(claim, randomBytes(32).toString('base64'));
    await this.delivery.attempt(transfer, changedBody);
    await this.delivery.attempt(transfer, otherSecret);
  }
}

const BEFORE_OUTCOME = { status: 'pending', txHash: null, failureCode: null } as const;
