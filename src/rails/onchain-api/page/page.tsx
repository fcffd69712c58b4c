/**
 * The hosted page of one checkout. It reads without JavaScript; the script counts down, copies, and
 * shows what arrives without a reload. Everything from an order is text, escaped by preact.
 */
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { toString as drawQrCode } from 'qrcode';
import { explorerUrl } from '../../../domain/networks';
import type { CheckoutView } from '../present';
import { SCRIPT_PATH, STYLE_PATH } from './assets';
import { logoOf } from './logo';
import { type Language, LANGUAGES, type Messages } from './messages';
import { type EvmPayment, paymentUri } from './payment-uri';
import { missingAmount, type PaymentFacts, shortAmount, type Status, statusOf } from './status';

export interface PageView extends PaymentFacts {
  mode: 'test' | 'live';
  /** Null if it is not known. */
  merchant: string | null;
  /** The address of the logo that the order names; null without a logo. */
  logoUrl: string | null;
  description: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  /** The place of the payment, such as `Ethereum` or the name of the exchange. */
  place: string;
  /** What the customer sees of each transfer, the oldest first. */
  transfers: readonly TransferLine[];
  /** Null off EVM chains. */
  evm: EvmPayment | null;
  /** Says that no real money must be sent. */
  banner: 'testMode' | 'sandbox' | null;
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
  state:
    | 'transferConfirmed'
    | 'transferSeen'
    | 'transferHeld'
    | 'transferVanished'
    | 'transferOther'
    /** The number that makes it final; null if the network decides that in another way. */
    | { confirmations: number; required: number | null }
    /** A transfer that the sandbox will make. */
    | { plannedFor: string };
  txHash: string | null;
}

interface Shown {
  view: PageView;
  status: Status;
  say: Messages;
}

export async function renderCheckoutPage(view: PageView, language: Language): Promise<string> {
  const { checkout, merchant } = view;
  const say: Messages = LANGUAGES[language];
  const status = statusOf(view, say);
  const shown = { view, status, say };
  const next = view.leaves && status.name === 'paid' ? view.successUrl : null;
  const reloadSeconds = status.isLive ? view.reloadSeconds : undefined;
  const isRefreshed = status.isLive && reloadSeconds === undefined;
  // Nobody should send real money to the sandbox.
  const isReal = view.banner !== 'sandbox';
  const uri = isReal ? paymentUri(checkout, missingAmount(view), view.evm) : null;
  const qrCode = await drawQrCode(uri ?? checkout.address, { type: 'svg', margin: 2 });
  const title = say.pay(`${shortAmount(checkout.amount)} ${checkout.asset}`);
  const page = (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{merchant === null ? title : `${title} · ${merchant}`}</title>
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
        {view.banner === null ? null : <header class="banner">{say[view.banner]}</header>}
        <main id="checkout" data-live={isRefreshed ? 'yes' : 'no'} data-next={next ?? undefined}>
          <Summary {...shown} />
          {isPayable(view, status) ? <PayCard {...shown} qrCode={qrCode} uri={uri} /> : null}
          {view.more}
          <Transfers {...shown} />
          <Links {...shown} />
        </main>
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(page)}`;
}

function Summary({ view, status, say }: Shown): VNode {
  const { checkout, description, merchant } = view;
  const logo = logoOf(view);
  return (
    <section class="card">
      {logo === null ? null : (
        <img class="logo" src={logo.href} alt={merchant === null ? '' : say.logoOf(merchant)} />
      )}
      {merchant === null ? null : <p class="merchant">{merchant}</p>}
      <h1>
        {shortAmount(checkout.amount)} <span>{checkout.asset}</span>
      </h1>
      <p class="soft">
        {say.on(view.place)}
        {description === null ? null : ` · ${description}`}
      </p>
      <div class="status" role="status" data-status={status.name}>
        <strong>{status.title}</strong>
        <p>{status.text}</p>
      </div>
    </section>
  );
}

function PayCard({ view, say, qrCode, uri }: Shown & { qrCode: string; uri: string | null }) {
  const { checkout, place } = view;
  const missing = missingAmount(view);
  const expiresAt = checkout.expiresAt.toISOString();
  const term = checkout.network === null ? say.paymentCode : say.address;
  return (
    <section class="card">
      <h2>{missing === checkout.amount ? say.send : say.sendRest}</h2>
      <div
        class="qr"
        role="img"
        aria-label={say.qrCode}
        // Drawn from the address, the amount and the tag alone.
        dangerouslySetInnerHTML={{ __html: qrCode }}
      />
      {uri === null ? null : (
        <a class="button main" href={uri}>
          {say.openWallet}
        </a>
      )}
      {checkout.network === null ? null : (
        <p class="warning">
          {say.networkWarning(checkout.asset, place)}
          {checkout.memo === null ? null : ` ${say.tagWarning}`}
        </p>
      )}
      <dl>
        <Copied
          say={say}
          term={say.amount}
          text={shortAmount(missing)}
          unit={checkout.asset}
          name="amount"
        />
        <Copied say={say} term={term} text={checkout.address} name="address" />
        {checkout.memo === null ? null : (
          <Copied say={say} term={say.tag} text={checkout.memo} name="memo" />
        )}
        {checkout.network === null ? null : (
          <>
            <dt>{say.network}</dt>
            <dd>{place}</dd>
          </>
        )}
        <dt>{say.timeLeft}</dt>
        <dd>
          <time data-expires-at={expiresAt} datetime={expiresAt}>
            {say.until(expiresAt.slice(0, 16).replace('T', ' '))}
          </time>
        </dd>
      </dl>
      {checkout.network === null ? null : <p class="note">{say.note}</p>}
    </section>
  );
}

interface CopiedProps {
  say: Messages;
  term: string;
  text: string;
  unit?: string;
  name: string;
}

function Copied({ say, term, text, unit, name }: CopiedProps): VNode {
  return (
    <>
      <dt>{term}</dt>
      <dd class="copied">
        <span>
          <code data-copy={name}>{text}</code> {unit}
        </span>
        <CopyButton say={say} what={term} name={name} />
      </dd>
    </>
  );
}

/** The script shows it where the browser can copy, and takes its other texts from it. */
function CopyButton({ say, what, name }: { say: Messages; what: string; name: string }): VNode {
  return (
    <button
      type="button"
      hidden
      data-copies={name}
      data-copied={say.copied}
      data-select={say.selectAndCopy}
      aria-label={say.copyOf(what)}
    >
      {say.copy}
    </button>
  );
}

function Transfers({ view, say }: Shown): VNode | null {
  const { transfers, checkout } = view;
  if (transfers.length === 0 && checkout.refunds.length === 0) return null;
  return (
    <section class="card">
      <h2>{say.transfers}</h2>
      <ul class="transfers">
        {transfers.slice(0, SHOWN_MAX).map((one) => (
          <Line view={view} say={say} amount={one.amount} hash={one.txHash}>
            {stateText(one, say)}
          </Line>
        ))}
        {transfers.length > SHOWN_MAX ? (
          <li>{say.moreTransfers(transfers.length - SHOWN_MAX)}</li>
        ) : null}
        {checkout.refunds.map((one) => (
          <Line
            view={view}
            say={say}
            amount={`${shortAmount(one.amount)} ${checkout.asset}`}
            hash={one.txHash}
          >
            {say[REFUND_MESSAGES[one.state]]}
            {one.address === null ? null : ` ${say.refundTo(one.address)}`}
          </Line>
        ))}
      </ul>
    </section>
  );
}

function stateText({ state }: TransferLine, say: Messages): string {
  if (typeof state === 'string') return say[state];
  return 'plannedFor' in state
    ? say.transferPlanned(state.plannedFor)
    : say.transferConfirmations(state.confirmations, state.required);
}

interface LineProps extends Pick<Shown, 'view' | 'say'> {
  amount: string;
  hash: string | null;
  children: ComponentChildren;
}

function Line({ view, say, amount, hash, children }: LineProps): VNode {
  const { network } = view.checkout;
  const url = hash === null ? null : explorerUrl('transaction', { network, mode: view.mode }, hash);
  return (
    <li>
      <b>{amount}</b>
      <span>{children}</span>
      {hash === null ? null : (
        <span class="copied">
          <code class="hash" data-copy={hash}>
            {hash}
          </code>
          <CopyButton say={say} what={say.transaction} name={hash} />
        </span>
      )}
      {url === null ? null : (
        <a href={url} target="_blank" rel="noreferrer">
          {say.explorer}
        </a>
      )}
    </li>
  );
}

const SHOWN_MAX = 50;

const REFUND_MESSAGES = {
  needs_address: 'refundNeedsAddress',
  sending: 'refundIsSending',
  sent: 'refundSent',
} as const;

function Links({ view, status, say }: Shown): VNode | null {
  const { successUrl, cancelUrl, checkout } = view;
  const canCancel = view.canCancel && isOpen(checkout) && status.name === 'waiting';
  if (successUrl === null && cancelUrl === null && !canCancel) return null;
  const isDone = status.name === 'paid';
  const hasMoney = isDone || status.name === 'seen' || status.name === 'held';
  return (
    <section class="links">
      {successUrl !== null && isDone ? (
        <a class="button main" href={successUrl} rel="noreferrer">
          {say.returnToShop}
        </a>
      ) : null}
      {canCancel ? (
        <details class="cancel">
          <summary>{say.cancel}</summary>
          <form method="post" action={`/checkout/${checkout.id}/cancel`}>
            <p>{say.cancelQuestion}</p>
            <button>{say.cancelYes}</button>
          </form>
        </details>
      ) : null}
      {cancelUrl !== null && !hasMoney ? (
        <a href={cancelUrl} rel="noreferrer">
          {say.backToShop}
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
  return network === 'xrpl' ? 'XRPL' : network.slice(0, 1).toUpperCase() + network.slice(1);
}
