/** What the hosted page shows of a checkout of the sandbox, with a button for all that can happen. */
import type { VNode } from 'preact';
import { amount } from '../../../domain/money';
import { type PageView, titleOf, type TransferLine } from '../../onchain-api/page/page';
import { shortAmount } from '../../onchain-api/page/status';
import { fromUnits } from '../decimal-text';
import { viewCheckout } from '../onchain/views';
import { arrivedUnits, type Checkout, confirmedUnits } from './checkout';
import { PAGE_ACTIONS, type PageAction } from './page-actions';

/** How often a browser that waits for the payment loads the page again. */
const WAIT_SECONDS = 1;

/** @param isWaiting the customer has just paid and is redirected when the payment is confirmed */
export function viewPage(checkout: Checkout, now: Date, url: string, isWaiting = false): PageView {
  const { description, successUrl, cancelUrl, network } = checkout;
  return {
    checkout: viewCheckout(checkout, url),
    mode: checkout.mode,
    merchant: checkout.merchantName ?? null,
    logoUrl: checkout.merchantLogoUrl ?? null,
    description,
    successUrl,
    cancelUrl,
    place: network === null ? 'Exchange Pay' : titleOf(network),
    arrived: amount(fromUnits(arrivedUnits(checkout))),
    confirmed: amount(fromUnits(confirmedUnits(checkout))),
    transfers: linesOf(checkout),
    evm: null,
    banner: 'sandbox',
    now,
    // The card of the simulation has the buttons, and the page stays for those of a paid checkout.
    canCancel: false,
    leaves: false,
    ...(isWaiting ? { reloadSeconds: WAIT_SECONDS } : {}),
    more: <Simulation checkout={checkout} now={now} />,
  };
}

const TRANSFER_STATES = {
  seen: 'transferSeen',
  confirmed: 'transferConfirmed',
  dropped: 'transferVanished',
} as const;

function linesOf({ transfers, plan, currency }: Checkout): TransferLine[] {
  const line = (
    text: string,
    state: TransferLine['state'],
    txHash: string | null,
  ): TransferLine => ({
    amount: `${shortAmount(amount(text))} ${currency}`,
    state,
    txHash,
  });
  return [
    ...transfers.map((one) => line(one.amount, TRANSFER_STATES[one.status], one.txHash)),
    ...plan.flatMap(({ due, step }) =>
      step.do === 'pay' ? [line(step.amount, { plannedFor: due }, null)] : [],
    ),
  ];
}

const GROUPS: readonly [PageAction['group'], string][] = [
  ['customer', 'Customer'],
  ['chain', 'Network'],
  ['provider', 'Provider'],
];

/** Each button is a form of its own, so none needs a script. */
function Simulation({ checkout, now }: { checkout: Checkout; now: Date }): VNode {
  const offered = Object.entries(PAGE_ACTIONS).filter(([, one]) => one.isOffered(checkout, now));
  return (
    <section class="card">
      <h2>Simulate the payment</h2>
      {GROUPS.map(([group, legend]) => {
        const buttons = offered.filter(([, one]) => one.group === group);
        return buttons.length === 0 ? null : (
          <fieldset>
            <legend>{legend}</legend>
            <div class="buttons">
              {buttons.map(([name, { label }]) => (
                <form method="post" action={`/checkout/${checkout.id}/${name}`}>
                  <button name={name}>{label}</button>
                </form>
              ))}
            </div>
          </fieldset>
        );
      })}
      <p class="note">
        Payment {checkout.reference} in {checkout.mode} mode. The pages of the shop prove nothing: a
        payment is paid when the gateway says so.
        {checkout.provider === 'exchange_pay'
          ? ' The real Exchange Pay accepts only the exact amount. The sandbox accepts other amounts, for tests.'
          : null}
      </p>
    </section>
  );
}

export const SIMULATION_STYLE = `
fieldset { border: 0; padding: 0; margin: 0 0 1rem; }
legend { color: var(--soft); font-size: .875rem; padding: 0; margin-bottom: .4rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; }
.buttons form { margin: 0; }
`;
