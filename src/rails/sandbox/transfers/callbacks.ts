/**
 * Tells the gateway the outcome of a transfer, as its scenario says: once, twice, out of order,
 * forged or not at all. Each provider has its own format and signature (onchain/callbacks.ts,
 * exchange-pay/callbacks.ts).
 */
import { randomBytes } from 'node:crypto';
import type { Book } from '../book';
import type { CallbackDelivery, CallbackRequest } from '../callback-delivery';
import type { ProviderName } from '../config';
import { buildExchangePayTransferCallback } from '../exchange-pay/callbacks';
import { buildOnchainTransferCallback } from '../onchain/callbacks';
import type { Transfer } from './book';
import { SCENARIOS } from './scenarios';

/** Builds the callback that shows the transfer as given, signed now with the secret. */
type CallbackBuilder = (transfer: Transfer, secret: string) => CallbackRequest;

const BUILDERS: Record<ProviderName, CallbackBuilder> = {
  onchain_provider: buildOnchainTransferCallback,
  exchange_pay: buildExchangePayTransferCallback,
};

export class TransferCallbacks {
  constructor(
    private readonly book: Book,
    private readonly delivery: CallbackDelivery,
  ) {}

  /** After a restart, an outcome whose callback was not acknowledged is sent again. */
  resume(transfer: Transfer): void {
    const isFinal = transfer.status === 'sent' || transfer.status === 'failed';
    if (isFinal && transfer.acknowledgedStatus !== transfer.status) this.announce(transfer);
  }

  /** Only forged callbacks precede the outcome. */
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

  /** Only outcomes are sent again after a restart, so only outcomes are recorded. */
  private acknowledge(transfer: Transfer): void {
    if (transfer.status === 'pending') return;
    this.book.transfers.recordAcknowledgement(transfer, transfer.status);
  }

  /** Two false claims of success, which every receiver must reject; each is posted once. */
  private async forge(transfer: Transfer): Promise<void> {
    const secret = this.delivery.secretOf(transfer);
    if (secret === undefined) return;
    const build = BUILDERS[transfer.provider];
    const claim: Transfer = { ...transfer, status: 'sent' };
    // The first has a valid signature of another body; the second is signed with another secret.
    const changedBody = { ...build(transfer, secret), body: build(claim, secret).body };
    const otherSecret = build(claim, randomBytes(32).toString('base64'));
    await this.delivery.attempt(transfer, changedBody);
    await this.delivery.attempt(transfer, otherSecret);
  }
}

const BEFORE_OUTCOME = { status: 'pending', txHash: null, failureCode: null } as const;
