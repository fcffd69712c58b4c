/** The payout as it is answered (the specification, "Payout object"; decision O1). */
import { Type } from 'typebox';
import { DESTINATION_TYPES } from '../domain/destination';
import { PAYOUT_STATUSES } from '../domain/payout';
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

const Destination = Shape(
  {
    type: OneOf(DESTINATION_TYPES, 'What value is'),
    value: Type.String({ description: 'Wallet address, exchange account id or e-mail address' }),
    memo: OrNull(Type.String({ maxLength: 64 }), 'Memo or destination tag'),
  },
  'Where the funds go',
);

export const PayoutObject = Shape(
  {
    id: Id('payout'),
    object: Type.Literal('payout'),
    mode: ModeName,
    status: OneOf(PAYOUT_STATUSES, 'See "Payout statuses"'),
    provider: ProviderName,
    reference: Type.String({ description: 'Your unique id' }),
    amount: AmountText('What the recipient receives'),
    currency: CurrencyCode,
    network: OrNull(Type.String(), 'Null for a transfer inside the provider'),
    destination: Destination,
    service_fee: AmountText('Our fee, on top of amount'),
    network_fee: AmountText("The provider's estimate; zero where it publishes none"),
    total_debit: AmountText('amount + service_fee + network_fee'),
    tx_hash: OrNull(Type.String(), 'Set on completion when the provider gives one'),
    failure_reason: OrNull(Type.String(), 'Set when status is failed'),
    rejection_reason: OrNull(Type.String(), 'Set when status is rejected'),
    description: OrNull(Type.String({ maxLength: 255 })),
    metadata: Type.Record(Type.String(), Type.String(), { description: 'As you sent it' }),
    created_at: Timestamp('When it was accepted'),
    updated_at: Timestamp('When its status last changed'),
  },
  'A payout',
);
