/** The event of a payment's status change, with the bytes that will be sent (decision H1). */
import { appendEvent } from '../../src/db/repositories/events';
import type { Tx } from '../../src/db/transaction';
import { paymentEvent } from '../../src/domain/events';
import type { Payment } from '../../src/domain/payment';
import { newId } from '../../src/lib/new-id';
import { presentEvent } from '../../src/presenters/event';
import { presentPayment } from '../../src/presenters/payment';

export async function emitPayment(tx: Tx, payment: Payment): Promise<void> {
  const event = {
    id: newId('event'),
    type: paymentEvent(payment.status),
    mode: payment.mode,
    sequence: payment.sequence,
    createdAt: payment.updatedAt,
  };
  const body = presentEvent(event, presentPayment(payment));
  await appendEvent(tx, { ...event, accountId: payment.accountId, objectId: payment.id, body });
}
