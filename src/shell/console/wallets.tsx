/** What the providers pay from. The worker reads it every minute, so the page does not wait for a provider. */
import type { ProviderWallets } from '../../db/operations/provider-wallets';
import { isLess } from '../../domain/money';
import type { ProviderWallet } from '../../domain/provider-wallet';
import { Card, Empty, Id, Money, Status, Table, Time, words } from '../../kit/pages/components';

const isLow = ({ balance, minimum }: ProviderWallet) =>
  minimum !== null && isLess(balance, minimum);

/** A row for each balance; one for a provider that reports none. */
export function Wallets({ providers }: { providers: readonly ProviderWallets[] }) {
  const rows = providers.flatMap(({ wallets, ...provider }) => {
    const shown: (ProviderWallet | null)[] = wallets.length === 0 ? [null] : wallets;
    return shown.map((wallet) => ({ ...provider, wallet }));
  });
  return (
    <Card
      title="Wallets"
      lead="What the providers pay from, as they report it every minute. A balance below its minimum is low: send more of the asset to the address."
      flush
    >
      <Table
        caption="Wallets"
        rows={rows}
        empty={<Empty icon="wallet" title="No provider was asked yet" />}
        columns={[
          {
            label: 'Network',
            cell: ({ wallet, provider, mode }) => (
              <>
                {words(wallet?.network ?? provider)} <small>{words(mode)}</small>
              </>
            ),
          },
          {
            label: 'Address',
            cell: ({ wallet }) => (wallet === null ? '–' : <Id value={wallet.address} />),
          },
          {
            label: 'Balance',
            right: true,
            cell: ({ wallet }) =>
              wallet === null ? (
                'Not reported'
              ) : (
                <>
                  <Money amount={wallet.balance} currency={wallet.asset} />
                  {wallet.paysFees ? <small>also pays network fees</small> : null}
                </>
              ),
          },
          {
            label: 'Minimum',
            right: true,
            cell: ({ wallet }) =>
              wallet === null || wallet.minimum === null ? (
                '–'
              ) : (
                <>
                  <Money amount={wallet.minimum} currency={wallet.asset} />{' '}
                  {isLow(wallet) ? <Status value="low" /> : null}
                </>
              ),
          },
          { label: 'Last asked', cell: ({ readAt }) => <Time at={readAt} seconds /> },
        ]}
      />
    </Card>
  );
}
