/**
 * Tells the gateway of each change of a checkout, as its scenario says: once, twice, followed by
 * the state before, or not at all.
 */
import type { Book } from '../book';
import type { CallbackDelivery, CallbackRequest } from '../callback-delivery';
import type { ProviderName, SandboxSettings } from '../config';
import { buildExchangePayOrderCallback } from '../exchange-pay/callbacks';
import { buildOnchainCheckoutCallback } from '../onchain/callbacks';
import { checkoutUrl, type Checkout } from './checkout';
import { CHECKOUT_SCENARIOS } from './scenarios';

type CheckoutCallbackBuilder = (checkout: Checkout, url: string, secret: string) => CallbackRequest;

const BUILDERS: Record<ProviderName, CheckoutCallbackBuilder> = {
  onchain_provider: buildOnchainCheckoutCallback,
  exchange_pay: buildExchangePayOrderCallback,
};

export class CheckoutCallbacks {
  constructor(
    private readonly book: Book,
    private readonly delivery: CallbackDelivery,
    private readonly settings: SandboxSettings,
  ) {}

  /** After a restart, a state whose callback was not acknowledged is sent again. */
  resume(checkout: Checkout): void {
    if (checkout.acknowledgedVersion < checkout.version) this.announce(checkout, checkout);
  }

  announce(checkout: Checkout, before: Checkout): void {
    switch (checkout.scenario === null ? 'once' : CHECKOUT_SCENARIOS[checkout.scenario].callbacks) {
      case 'none':
        return;
      case 'once':
        void this.deliver(checkout);
        return;
      case 'twice':
        void Promise.all([this.deliver(checkout), this.deliver(checkout)]).then(() =>
          this.deliver(checkout),
        );
        return;
      case 'out_of_order':
        void this.deliver(checkout).then(() => this.deliver(before));
    }
  }

  /** One callback of the checkout as it is now, whatever its scenario says. */
  async resend(checkout: Checkout): Promise<void> {
    await this.deliver(checkout);
  }

  private async deliver(checkout: Checkout): Promise<void> {
    const build = BUILDERS[checkout.provider];
    const url = checkoutUrl(this.settings, checkout);
    const isHeard = await this.delivery.deliver(checkout, (secret) => build(checkout, url, secret));
    if (isHeard) this.book.checkouts.recordAcknowledgement(checkout, checkout.version);
  }
}
