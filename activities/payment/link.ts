/** A payment link is paid once, by whichever of its payments has money (decisions/payments#payment-links). */
import { listNeedless } from '../../src/db/payments/payment-links';
import type { Payment } from '../../src/domain/payment';
import { paymentStart } from '../../src/temporal/payment-workflows';
import type { Deps } from '../deps';
import { decidePayment } from './decide';

/**
 * Cancels the checkouts of the payment's link that are open although another one was paid. Each cancellation is one
 * decision, which the workflow of its payment carries out, so that this may run at each look at the provider.
 */
export async function closeNeedless(deps: Deps, { id, metadata }: Payment): Promise<void> {
  const linkId = metadata['payment_link'];
  if (linkId === undefined) return;
  for (const needless of await listNeedless(deps.db, linkId)) {
    const what = { kind: 'cancel', id: linkId, amount: null, by: null, reason: null } as const;
    await decidePayment(deps, needless.id, { ...what, isMerchants: true });
    if (needless.id !== id) await deps.paymentWorkflows.sendProviderUpdate(paymentStart(needless));
  }
}
