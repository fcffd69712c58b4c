/** The hosted page of one checkout, as the customer's browser receives it. */
import { toString as drawQrCode } from 'qrcode';
import { fromUnits, shortenAmount } from '../decimal-text';
import { html, Html, NOTHING } from '../html';
import { confirmedUnits, dueUnits, isPaid, refundedUnits, type Checkout } from './checkout';
import { PAGE_ACTIONS, type PageAction } from './page-actions';

const PROVIDER_TITLES = {
  onchain_provider: 'On-chain checkout',
  exchange_pay: 'Exchange Pay checkout',
} as const;

const GROUPS: readonly [PageAction['group'], string][] = [
  ['customer', 'Customer'],
  ['chain', 'Network'],
  ['provider', 'Provider'],
];

/** How often a browser that waits for the payment reloads, without a script. */
const WAIT_SECONDS = '1';

/** @param isWaiting the customer has just paid and is redirected when the payment is confirmed */
export async function renderCheckoutPage(
  checkout: Checkout,
  now: Date,
  isWaiting: boolean,
): Promise<string> {
  const status = statusOf(checkout, now);
  // Generated from our own text: nothing of the order is in the markup.
  const qrCode = new Html(await drawQrCode(checkout.payTo, { type: 'svg', margin: 1 }));
  const refresh = isWaiting && status.isLive;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        ${refresh ? html`<meta http-equiv="refresh" content="${WAIT_SECONDS}" />` : NOTHING}
        <title>Sandbox: pay ${shortenAmount(checkout.amount)} ${checkout.currency}</title>
        <link rel="stylesheet" href="/checkout/assets/page.css" />
        <script src="/checkout/assets/page.js" defer></script>
      </head>
      <body data-live="${status.isLive && !refresh ? 'yes' : 'no'}">
        <p class="banner" role="note">Sandbox: do not send real money.</p>
        <main>
          <section class="card">
            <h1>${PROVIDER_TITLES[checkout.provider]} (${checkout.mode} mode)</h1>
            <p class="amount">${shortenAmount(checkout.amount)} ${checkout.currency}</p>
            ${checkout.description === null ? NOTHING : html`<p>${checkout.description}</p>`}
            <p class="status" role="status" data-status="${status.name}">${status.words}</p>
          </section>
          ${depositCard(checkout, qrCode)} ${actionsCard(checkout, now)} ${historyCard(checkout)}
          ${returnLinks(checkout)}
        </main>
      </body>
    </html>`.text;
}

function depositCard(checkout: Checkout, qrCode: Html): Html {
  const isOnchain = checkout.network !== null;
  const qrLabel = isOnchain ? 'QR code of the address' : 'QR code of the payment code';
  return html`<section class="card">
    <div class="qr" role="img" aria-label="${qrLabel}">${qrCode}</div>
    <dl>
      ${isOnchain ? row('Network', checkout.network ?? '') : NOTHING}
      <dt>${isOnchain ? 'Address' : 'Payment code'}</dt>
      <dd><code data-pay-to>${checkout.payTo}</code></dd>
      ${checkout.payToMemo === null ? NOTHING : row('Destination tag', checkout.payToMemo)}
      <dt>Time remaining</dt>
      <dd>
        <time data-expires-at="${checkout.expiresAt}" datetime="${checkout.expiresAt}"
          >until ${checkout.expiresAt}</time
        >
      </dd>
      ${row('Reference', checkout.reference)}
    </dl>
  </section>`;
}

function row(term: string, text: string): Html {
  return html`<dt>${term}</dt>
    <dd>${text}</dd>`;
}

function actionsCard(checkout: Checkout, now: Date): Html {
  const groups = GROUPS.map(([group, legend]) => {
    const buttons = Object.entries(PAGE_ACTIONS)
      .filter(([, action]) => action.group === group && action.isOffered(checkout, now))
      .map(([name, action]) => button(checkout, name, action));
    if (buttons.length === 0) return NOTHING;
    return html`<fieldset>
      <legend>${legend}</legend>
      <div class="buttons">${buttons}</div>
    </fieldset>`;
  });
  return html`<section class="card">
    <h2>Simulate the payment</h2>
    ${groups}
    ${
      checkout.provider === 'exchange_pay'
        ? html`<p class="note">
            The real Exchange Pay accepts only the exact amount. The sandbox accepts other amounts,
            for tests.
          </p>`
        : NOTHING
    }
  </section>`;
}

function button(checkout: Checkout, name: string, { label }: PageAction): Html {
  return html`<form method="post" action="/checkout/${checkout.id}/${name}">
    <button class="${name === 'pay-exactly' ? 'main' : 'plain'}" name="${name}">${label}</button>
  </form>`;
}

const TRANSFER_WORDS = { seen: 'seen', confirmed: 'confirmed', dropped: 'vanished' } as const;

function historyCard(checkout: Checkout): Html {
  const rows = [
    ...checkout.transfers.map(({ amount, status, confirmedAt, seenAt }) => ({
      what: `Transfer ${TRANSFER_WORDS[status]}`,
      amount,
      at: confirmedAt ?? seenAt,
    })),
    ...checkout.refunds.map(({ amount, refundedAt }) => ({
      what: 'Refund',
      amount,
      at: refundedAt,
    })),
    ...checkout.plan.flatMap(({ due, step }) =>
      step.do === 'pay' ? [{ what: 'Transfer planned', amount: step.amount, at: due }] : [],
    ),
  ];
  if (rows.length === 0) return NOTHING;
  return html`<section class="card">
    <h2>History</h2>
    <table>
      ${rows.map(
        ({ what, amount, at }) =>
          html`<tr>
            <th scope="row">${what}</th>
            <td>${shortenAmount(amount)} ${checkout.currency}</td>
            <td>${at}</td>
          </tr>`,
      )}
    </table>
  </section>`;
}

function returnLinks({ successUrl, cancelUrl }: Checkout): Html {
  if (successUrl === null && cancelUrl === null) return NOTHING;
  const link = (url: string | null, text: string): Html =>
    url === null ? NOTHING : html`<a href="${url}" rel="noreferrer">${text}</a> `;
  return html`<p class="note">
    ${link(successUrl, 'Merchant’s success page')} ${link(cancelUrl, 'Merchant’s cancel page')}
    Reaching a page does not prove payment.
  </p>`;
}

/** The present state of a checkout in words for the customer. */
export interface PageStatus {
  /** For the page's style and for tests. */
  name:
    | 'open'
    | 'started'
    | 'seen'
    | 'part'
    | 'paid'
    | 'on_hold'
    | 'refunded'
    | 'expired'
    | 'cancelled'
    | 'failed';
  words: string;
  /** Whether the state may soon change by itself. */
  isLive: boolean;
}

export function statusOf(checkout: Checkout, now: Date): PageStatus {
  const confirmed = confirmedUnits(checkout);
  const refunded = refundedUnits(checkout);
  const isSeen = checkout.transfers.some(({ status }) => status === 'seen');
  if (checkout.onHold) return over('on_hold', 'On hold for a compliance check.');
  if (checkout.state === 'failed') return over('failed', 'The payment failed at the provider.');
  if (confirmed > 0n && refunded >= confirmed) return over('refunded', 'The payment was refunded.');
  if (isPaid(checkout)) return over('paid', 'Payment confirmed.');
  if (isSeen) return live('seen', 'Transfer received. Waiting for confirmation.');
  if (confirmed > 0n)
    return { name: 'part', words: partWords(checkout), isLive: hasPlan(checkout) };
  if (checkout.state === 'cancelled') return over('cancelled', 'The payment was cancelled.');
  if (now.getTime() >= Date.parse(checkout.expiresAt)) {
    const words = 'This checkout has expired.';
    return { name: 'expired', words, isLive: hasPlan(checkout) };
  }
  return checkout.state === 'started'
    ? live('started', 'Waiting for your transfer.')
    : live('open', 'The payment has not been started.');
}

function partWords(checkout: Checkout): string {
  const arrived = shortenAmount(fromUnits(confirmedUnits(checkout)));
  const missing = shortenAmount(fromUnits(dueUnits(checkout)));
  return `${arrived} ${checkout.currency} received, ${missing} ${checkout.currency} remaining.`;
}

function hasPlan({ plan }: Checkout): boolean {
  return plan.length > 0;
}

function live(name: PageStatus['name'], words: string): PageStatus {
  return { name, words, isLive: true };
}

function over(name: PageStatus['name'], words: string): PageStatus {
  return { name, words, isLive: false };
}
