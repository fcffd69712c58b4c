/** Writes the event of a payment's status change. */
import { appendEvent } from '../../src/db/repositories/events';
import type { Tx } from '../../src/db/transaction';
import { paymentEvent } from '../../src/domain/events';
import type { Payment } from '../../src/domain/payment';
import { presentPayment } from '../../src/presenters/payment';
import { newEvent } from '../new-event';

export async function emitPayment(tx: Tx, payment: Payment): Promise<void> {
  await appendEvent(tx, newEvent(paymentEvent(payment.status), payment, presentPayment(payment)));
}
