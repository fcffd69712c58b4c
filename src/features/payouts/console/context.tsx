/** The facts beside a payout that help to decide about it. */
import { type Amount, add, subtract } from '../../../domain/money';
import { isFinalPayout } from '../../../domain/payout';
import type { PayoutReview } from '../payout-reviews';
import { Alert, Card, Facts, Id, Money, Time, words } from '../../../kit/pages/components';
import { Transaction } from '../../../kit/pages/explorer';
import { Address } from './parts';
import { sinceText } from '../../../kit/pages/since';

/** The number at which counting stops. */
const MANY = 500;

export function Context({ payout, context }: PayoutReview) {
  const { currency } = payout;
  const money = (amount: string) => <Money amount={amount} currency={currency} />;
  const { available, reserved, paidBefore, lastPaidAt, otherAccounts, medianAmount, key } = context;
  return (
    <>
      {context.lookAlikes.map((other) => (
        <Alert tone="bad" title="The destination resembles one that this account has paid">
          <p>
            Paid before: <Address value={other} other={payout.destinationValue} />
          </p>
        </Alert>
      ))}
      <Card title="Context">
        <Facts
          rows={[
            [
              'Paid to this destination',
              paidBefore === 0 ? 'Never by this account' : timesText(paidBefore),
            ],
            ['Last paid', lastPaidAt === null ? null : <Time at={lastPaidAt} />],
            [
              'Other merchants that use it',
              otherAccounts.length === 0 ? 'None' : otherAccounts.join(', '),
            ],
            [
              'Median payout of the account',
              medianAmount === null ? 'No completed payout' : money(medianAmount),
            ],
            ['Available, without this payout', available === null ? null : money(available)],
            [
              'Left in total after sending',
              available === null || reserved === null
                ? null
                : money(left(available, reserved, payout)),
            ],
          ]}
        />
      </Card>
      <Card title={key.person === null ? 'API key' : 'Requested on the dashboard'}>
        <Facts
          rows={[
            ['Person', key.person],
            [key.person === null ? 'Key' : 'User', <Id value={payout.apiKeyId} />],
            ['Name', key.name],
            ['Age', sinceText(new Date(key.createdAt))],
            ['Created by', key.createdBy],
            ['Last used', key.lastUsedAt === null ? null : <Time at={new Date(key.lastUsedAt)} />],
            ['Last address', key.lastUsedAddress],
            ['Revoked', key.revokedAt === null ? null : <Time at={new Date(key.revokedAt)} />],
          ]}
        />
      </Card>
      <Card title="Details">
        <Facts
          rows={[
            ['Payout', <Id value={payout.id} />],
            ['Account', <Id value={payout.accountId} />],
            ['Reference', <Id value={payout.reference} />],
            ['Amount', money(payout.amount)],
            ['Service fee', money(payout.serviceFee)],
            ['Network fee', money(payout.networkFee)],
            ['Total debit', money(payout.totalDebit)],
            ['Provider', words(payout.provider)],
            [
              'Provider’s transfer',
              payout.providerTransferId === null ? null : <Id value={payout.providerTransferId} />,
            ],
            [
              'Transaction',
              payout.txHash === null ? null : <Transaction object={payout} hash={payout.txHash} />,
            ],
            ['Description', payout.description],
            ...Object.entries(payout.metadata).map(([name, value]) => [name, value] as const),
          ]}
        />
      </Card>
    </>
  );
}

function timesText(count: number): string {
  if (count === MANY) return `${MANY} times or more`;
  return count === 1 ? 'Once' : `${count} times`;
}

/** The reserve of an open payout leaves the balance when it is sent. */
function left(
  available: Amount,
  reserved: Amount,
  { totalDebit, status }: PayoutReview['payout'],
): Amount {
  const total = add(available, reserved);
  return isFinalPayout(status) ? total : subtract(total, totalDebit);
}
