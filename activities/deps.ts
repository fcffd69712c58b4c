/** The dependencies of the payout and payment activities; src/shell/deps.ts builds them once. */
import { type EventTx, transactionOfEvents } from '../src/db/webhooks/events';
import type { Db } from '../src/db/transaction';
import type { Amount } from '../src/domain/money';
import type { Payment } from '../src/domain/payment';
import type { Payout } from '../src/domain/payout';
import { PROVIDER_CODES } from '../src/domain/provider-codes';
import type { Provider } from '../src/adapters/providers/port';
import type { SecretBox } from '../src/platform/lib/secret-box';
import type { ProviderRegistry } from '../src/adapters/providers/registry';
import type { ScreeningService } from '../src/adapters/screening/service';
import type { PaymentWorkflows } from '../src/temporal/payment-workflows';
import type { PayoutWorkflows } from '../src/temporal/payout-workflows';
import type { LocalCalls } from './local-calls';
import type { WebhookDeliveryStarter } from './webhook-delivery/starter';

export interface Deps {
  db: Db;
  providers: ProviderRegistry;
  localCalls: LocalCalls;
  /** Null if this process has no screening service. */
  screeningService: Pick<ScreeningService, 'ask'> | null;
  /** How many decimals an amount can have where the payment was made; null if the provider has not said so. */
  decimalsOf(
    payment: Pick<Payment, 'mode' | 'provider' | 'network' | 'currency'>,
  ): Promise<number | null>;
  /** Base URL of the console for links in workflows, such as https://ops.example.com/console. */
  consoleUrl: string | null;
  /** Base URL of the dashboard's site, where logos are served, such as https://pay.example.com. */
  dashboardUrl: string;
  /** The amount of each currency above which a signal approves nothing; absent means any amount. */
  signalApprovalMax?: ReadonlyMap<string, Amount> | undefined;
  /** Decrypts beneficiaries, and encrypts those of batches for their payouts. */
  secretBox: SecretBox;
  webhookDeliveryStarter: Pick<WebhookDeliveryStarter, 'start' | 'lookFor'>;
  payoutWorkflows: Pick<PayoutWorkflows, 'wake'>;
  paymentWorkflows: Pick<PaymentWorkflows, 'sendProviderUpdate'>;
}

/** @param object a payout or a payment */
export function providerOf(
  { providers }: Pick<Deps, 'providers'>,
  object: Pick<Payout, 'id' | 'provider' | 'mode'>,
): Provider {
  const code = PROVIDER_CODES.find((one) => one === object.provider);
  if (code === undefined)
    throw new Error(`${object.id} has an unknown provider: ${object.provider}`);
  return providers.get(code, object.mode);
}

/**
 * A transaction that can append events of the object. After its commit the deliveries are started.
 */
export async function inEventTransaction<T>(
  { db, webhookDeliveryStarter }: Pick<Deps, 'db' | 'webhookDeliveryStarter'>,
  objectId: string,
  work: (tx: EventTx) => Promise<T>,
): Promise<T> {
  try {
    const { result, deliveries } = await transactionOfEvents(db, work);
    webhookDeliveryStarter.start(deliveries);
    return result;
  } catch (error) {
    // The error may have occurred after the commit.
    webhookDeliveryStarter.lookFor(objectId);
    throw error;
  }
}
