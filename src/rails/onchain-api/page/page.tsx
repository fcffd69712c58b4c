/**
 * The hosted page of one checkout. It reads without JavaScript; the script counts down, copies, and
 * shows what arrives without a reload. Everything from an order is text, escaped by preact.
 */
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { toString as drawQrCode } from 'qrcode';
import type { CheckoutView } from '../present';
import { SCRIPT_PATH, STYLE_PATH } from './assets';
import { missingAmount, type PaymentFacts, shortAmount, type Status, statusOf } from './status';

export interface PageView extends PaymentFacts {
  description: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  /** The place of the payment, such as `Ethereum` or the name of the exchange. */
  place: string;
  /** What the customer sees of each transfer, the oldest first. */
  transfers: readonly TransferLine[];
  /** Says that no real money must be sent. */
  banner: string | null;
  /** The customer can cancel from here as long as nothing has arrived. */
  canCancel: boolean;
  /** The customer who has paid is taken to the success URL. */
  leaves: boolean;
  /** The page is loaded again after this time, without a script, while it waits for the payment. */
  reloadSeconds?: number;
  /** More cards below the amount. */
  more?: VNode;
}

export interface TransferLine {
  /** The amount with its asset: `25.50 USDC`. */
  amount: string;
  words: string;
  txHash: string | null;
}

export async function renderCheckoutPage(view: PageView): Promise<string> {
  const { checkout } = view;
  const status = statusOf(view);
  const next = view.leaves && status.name === 'paid' ? view.successUrl : null;
  const reloadSeconds = status.isLive ? view.reloadSeconds : undefined;
  const isRefreshed = status.isLive && reloadSeconds === undefined;
  const qrCode = await drawQrCode(checkout.address, { type: 'svg', margin: 2 });
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{`Pay ${shortAmount(checkout.amount)} ${checkout.asset}`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={STYLE_PATH} />
        <script src={SCRIPT_PATH} defer />
        {next === null ? null : (
          <meta http-equiv="refresh" content={`${String(LEAVE_SECONDS)};url=${next}`} />
        )}
        {reloadSeconds === undefined ? null : (
          <meta http-equiv="refresh" content={String(reloadSeconds)} />
        )}
        {isRefreshed ? (
          <noscript>
            <meta http-equiv="refresh" content="10" />
          </noscript>
        ) : null}
      </head>
      <body>
        {view.banner === null ? null : <header class="banner">{view.banner}</header>}
        <main id="checkout" data-live={isRefreshed ? 'yes' : 'no'} data-next={next ?? undefined}>
          <Summary view={view} status={status} />
          {isPayable(view, status) ? <PayCard view={view} qrCode={qrCode} /> : null}
          {view.more}
          <Transfers view={view} />
          <Links view={view} status={status} />
        </main>
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(page)}`;
}

function Summary({ view, status }: { view: PageView; status: Status }): VNode {
  const { checkout, description } = view;
  return (
    <section class="card">
      <h1>
        {shortAmount(checkout.amount)} <span>{checkout.asset}</span>
      </h1>
      <p class="soft">
        on {view.place}
        {description === null ? null : ` · ${description}`}
      </p>
      <div class="status" role="status" data-status={status.name}>
        <strong>{status.title}</strong>
        <p>{status.text}</p>
      </div>
    </section>
  );
}

function PayCard({ view, qrCode }: { view: PageView; qrCode: string }): VNode {
  const { checkout, place } = view;
  const missing = missingAmount(view);
  const expiresAt = checkout.expiresAt.toISOString();
  const term = checkout.network === null ? 'Payment code' : 'Address';
  return (
    <section class="card">
      <h2>{missing === checkout.amount ? 'Send the payment' : 'Send the rest'}</h2>
      <div
        class="qr"
        role="img"
        aria-label={`QR code of the ${term.toLowerCase()}`}
        // Drawn from the address alone.
        dangerouslySetInnerHTML={{ __html: qrCode }}
      />
      <dl>
        <Copied term="Amount" text={shortAmount(missing)} unit={checkout.asset} name="amount" />
        <Copied term={term} text={checkout.address} name="address" />
        {checkout.memo === null ? null : (
          <Copied term="Destination tag" text={checkout.memo} name="memo" />
        )}
        {checkout.network === null ? null : (
          <>
            <dt>Network</dt>
            <dd>{place}</dd>
          </>
        )}
        <dt>Time left</dt>
        <dd>
          <time data-expires-at={expiresAt} datetime={expiresAt}>
            until {expiresAt.slice(0, 16).replace('T', ' ')} UTC
          </time>
        </dd>
      </dl>
      {checkout.network === null ? null : (
        <p class="note">
          Send only {checkout.asset} on {place} to this address. Network fees of your wallet come on
          top of the amount. Compare the whole address before you send.
        </p>
      )}
    </section>
  );
}

interface CopiedProps {
  term: string;
  text: string;
  unit?: string;
  name: string;
}

function Copied({ term, text, unit, name }: CopiedProps): VNode {
  return (
    <>
      <dt>{term}</dt>
      <dd class="copied">
        <span>
          <code data-copy={name}>{text}</code> {unit}
        </span>
        <button type="button" hidden data-copies={name} aria-label={`Copy ${term.toLowerCase()}`}>
          Copy
        </button>
      </dd>
    </>
  );
}

function Transfers({ view }: { view: PageView }): VNode | null {
  const { transfers, checkout } = view;
  if (transfers.length === 0 && checkout.refunds.length === 0) return null;
  return (
    <section class="card">
      <h2>Transfers</h2>
      <ul class="transfers">
        {transfers.slice(0, SHOWN_MAX).map((one) => (
          <Line amount={one.amount} hash={one.txHash}>
            {one.words}
          </Line>
        ))}
        {transfers.length > SHOWN_MAX ? (
          <li>and {transfers.length - SHOWN_MAX} more transfers</li>
        ) : null}
        {checkout.refunds.map((one) => (
          <Line amount={`${shortAmount(one.amount)} ${checkout.asset}`} hash={one.txHash}>
            {REFUND_WORDS[one.state]}
            {one.address === null ? null : ` to ${one.address}`}
          </Line>
        ))}
      </ul>
    </section>
  );
}

interface LineProps {
  amount: string;
  hash: string | null;
  children: ComponentChildren;
}

function Line({ amount, hash, children }: LineProps): VNode {
  return (
    <li>
      <b>{amount}</b>
      <span>{children}</span>
      {hash === null ? null : <code class="hash">{hash}</code>}
    </li>
  );
}

const SHOWN_MAX = 50;

const REFUND_WORDS = {
  needs_address: 'To be sent back; the operator is asked where to',
  sending: 'Refund on its way',
  sent: 'Refunded',
} as const;

function Links({ view, status }: { view: PageView; status: Status }): VNode | null {
  const { successUrl, cancelUrl, checkout } = view;
  const canCancel = view.canCancel && isOpen(checkout) && status.name === 'waiting';
  if (successUrl === null && cancelUrl === null && !canCancel) return null;
  const isDone = status.name === 'paid';
  const hasMoney = isDone || status.name === 'seen' || status.name === 'held';
  return (
    <section class="links">
      {successUrl !== null && isDone ? (
        <a class="button main" href={successUrl} rel="noreferrer">
          Return to the shop
        </a>
      ) : null}
      {canCancel ? (
        <form method="post" action={`/checkout/${checkout.id}/cancel`}>
          <button class="plain">Cancel the payment</button>
        </form>
      ) : null}
      {cancelUrl !== null && !hasMoney && !canCancel ? (
        <a href={cancelUrl} rel="noreferrer">
          Back to the shop
        </a>
      ) : null}
    </section>
  );
}

function isOpen({ state }: CheckoutView): boolean {
  return state === 'open' || state === 'customer_active';
}

function isPayable({ checkout, now }: PageView, { name }: Status): boolean {
  if (!isOpen(checkout) || now >= checkout.expiresAt) return false;
  return name === 'waiting' || name === 'part';
}

const LEAVE_SECONDS = 3;

export function titleOf(network: string): string {
  return network.slice(0, 1).toUpperCase() + network.slice(1);
}
