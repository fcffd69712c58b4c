/** The payment as it is answered (decision P2). */
import { Type } from 'typebox';
import { PAYMENT_EXCEPTIONS, PAYMENT_STATUSES } from '../domain/payment';
import {
  AmountText,
  CurrencyCode,
  Id,
  ModeName,
  OneOf,
  OrNull,
  ProviderName,
  Shape,
  Timestamp,
} from './common';

export const PaymentObject = Shape(
  {
    id: Id('payment'),
    object: Type.Literal('payment'),
    mode: ModeName,
    status: OneOf(PAYMENT_STATUSES, 'Where it stands'),
    provider: ProviderName,
    network: OrNull(Type.String(), 'Null for a transfer inside the provider'),
    reference: Type.String({ description: 'Your unique id' }),
    amount: AmountText('What was asked for'),
    currency: CurrencyCode,
    received_amount: AmountText('What the provider has seen so far'),
    amount_due: AmountText('What is still missing'),
    overpaid_amount: AmountText('What came beyond the amount'),
    refunded_amount: AmountText('What went back to the customer'),
    service_fee: AmountText('Our fee on what was received and not refunded'),
    net_amount: OrNull(AmountText('Credited to your balance'), 'Null until it was credited'),
    exceptions: Type.Array(OneOf(PAYMENT_EXCEPTIONS, 'What was out of the ordinary')),
    tx_hash: OrNull(Type.String(), 'Of the last transfer, where the provider gives one'),
    checkout_url: Type.String({ format: 'uri', description: 'Send your customer here' }),
    success_url: OrNull(Type.String(), 'Where the customer returns; no proof of payment'),
    cancel_url: OrNull(Type.String(), 'Where the customer returns after a cancel'),
    description: OrNull(Type.String({ maxLength: 255 })),
    customer_email: OrNull(Type.String({ maxLength: 254 })),
    failure_reason: OrNull(
      Type.String(),
      'Set when status is failed, or an operator rejected the payment',
    ),
    metadata: Type.Record(Type.String(), Type.String(), { description: 'As you sent it' }),
    created_at: Timestamp('When it was created'),
    expires_at: Timestamp('When the window closes'),
    completed_at: OrNull(Timestamp('When it was completed')),
  },
  'A payment',
);
