/** Links to public pages about addresses and transactions. */
import type { Payment } from '../../domain/payment';
import type { Mode } from '../../domain/mode';
import { explorerUrl } from '../../domain/networks';
import { Id } from './components';
import { Icon } from './icon';

interface ExplorerLinkProps {
  what: Parameters<typeof explorerUrl>[0];
  object: { network: string | null; mode: Mode };
  value: string;
}

/** A link to a public page about the address or the transaction, where its network has one. */
export function ExplorerLink({ what, object, value }: ExplorerLinkProps) {
  const url = explorerUrl(what, object, value);
  if (url === null) return null;
  return (
    <a class="link" href={url} target="_blank" rel="noreferrer">
      Look it up <Icon name="external-link" />
    </a>
  );
}

/** A transaction on its network. */
export function Transaction({
  object,
  hash,
}: Pick<ExplorerLinkProps, 'object'> & { hash: string }) {
  return (
    <>
      <Id value={hash} /> <ExplorerLink what="transaction" object={object} value={hash} />
    </>
  );
}

/** The address that a customer pays to; null within an exchange. */
export function depositAddress(payment: Payment) {
  if (payment.depositAddress === null) return null;
  return (
    <>
      <Id value={payment.depositAddress} />{' '}
      <ExplorerLink what="address" object={payment} value={payment.depositAddress} />
    </>
  );
}
