/**
 * The hosted page of one checkout. It reads without JavaScript; the script counts down, copies, and
 * shows what arrives without a reload. Everything from an order is text, escaped by preact.
 */
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { toString as drawQrCode } from 'qrcode';
import { getAddress } from 'viem';
import { add, type Amount, isLess, ZERO } from '../../domain/money';
import {
  arrivedAmount,
  type CheckoutFacts,
  confirmedAmount,
  type Deposit,
  isPaid,
  missingAmount,
} from '../checkouts/checkout';
import { needsRefundAddress } from '../checkouts/steps';
import { SCRIPT_PATH, STYLE_PATH } from './assets';

export interface PageView {
  facts: CheckoutFacts;
  /** Of each network, by its name: the newest block that was read. */
  heads: ReadonlyMap<number, number>;
  now: Date;
  /** What was wrong with the entered refund address. */
  problem?: { entered: string; text: string };
}

type StatusName =
  | 'waiting'
  | 'seen'
  | 'part'
  | 'paid'
  | 'held'
  | 'refunding'
  | 'refunded'
  | 'expired'
  | 'cancelled'
  | 'failed';

interface Status {
  name: StatusName;
  title: string;
  text: string;
  /** Whether the page may soon say something else. */
  isLive: boolean;
}

export async function renderCheckoutPage(view: PageView): Promise<string> {
  const { checkout } = view.facts;
  const status = statusOf(view);
  const next = leavesFor(view, status);
  const qrCode = await drawQrCode(getAddress(checkout.address), { type: 'svg', margin: 2 });
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
        {next === null && isRefreshed(view, status) ? (
          <noscript>
            <meta http-equiv="refresh" content="10" />
          </noscript>
        ) : null}
      </head>
      <body>
        {checkout.mode === 'test' ? (
          <p class="banner" role="note">
            Test mode. Do not send real money.
          </p>
        ) : null}
        <main
          id="checkout"
          data-live={isRefreshed(view, status) ? 'yes' : 'no'}
          data-next={next ?? undefined}
        >
          <Summary view={view} status={status} />
          {isPayable(view, status) ? <PayCard view={view} qrCode={qrCode} /> : null}
          <RefundForm view={view} />
          <Transfers view={view} />
          <Links view={view} status={status} />
        </main>
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(page)}`;
}

function Summary({ view: { facts }, status }: { view: PageView; status: Status }): VNode {
  const { checkout } = facts;
  return (
    <section class="card">
      <h1>
        {shortAmount(checkout.amount)} <span>{checkout.asset}</span>
      </h1>
      <p class="soft">
        on {titleOf(checkout.network)}
        {checkout.description === null ? null : ` · ${checkout.description}`}
      </p>
      <div class="status" role="status" data-status={status.name}>
        <strong>{status.title}</strong>
        <p>{status.text}</p>
      </div>
    </section>
  );
}

function PayCard({ view: { facts }, qrCode }: { view: PageView; qrCode: string }): VNode {
  const { checkout } = facts;
  const missing = missingAmount(facts);
  const address = getAddress(checkout.address);
  const expiresAt = checkout.expiresAt.toISOString();
  return (
    <section class="card">
      <h2>{missing === checkout.amount ? 'Send the payment' : 'Send the rest'}</h2>
      <div
        class="qr"
        role="img"
        aria-label="QR code of the address"
        // Drawn from the address alone.
        dangerouslySetInnerHTML={{ __html: qrCode }}
      />
      <dl>
        <Copied term="Amount" text={shortAmount(missing)} unit={checkout.asset} name="amount" />
        <Copied term="Address" text={address} name="address" />
        <dt>Network</dt>
        <dd>{titleOf(checkout.network)}</dd>
        <dt>Time left</dt>
        <dd>
          <time data-expires-at={expiresAt} datetime={expiresAt}>
            until {expiresAt.slice(0, 16).replace('T', ' ')} UTC
          </time>
        </dd>
      </dl>
      <p class="note">
        Send only {checkout.asset} on {titleOf(checkout.network)} to this address. Network fees of
        your wallet come on top of the amount. Compare the whole address before you send.
      </p>
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

function RefundForm({ view: { facts, problem } }: { view: PageView }): VNode | null {
  if (!needsRefundAddress(facts)) return null;
  const { id, asset, network } = facts.checkout;
  const waiting = facts.refunds.filter(({ state }) => state === 'needs_address');
  return (
    <section class="card">
      <h2>Where should the refund go?</h2>
      <p>
        A refund of {waiting.map(({ amount }) => `${shortAmount(amount)} ${asset}`).join(', ')}{' '}
        waits for your address. Enter an address on {titleOf(network)} that you control. Do not
        enter the address that an exchange sent from.
      </p>
      <form method="post" action={`/checkout/${id}/refund-address`}>
        <label for="refund-address">Address</label>
        <input
          id="refund-address"
          name="address"
          value={problem?.entered ?? ''}
          placeholder="0x…"
          autocomplete="off"
          spellcheck={false}
          required
          maxLength={80}
          aria-invalid={problem === undefined ? undefined : 'true'}
          aria-describedby={problem === undefined ? undefined : 'refund-problem'}
        />
        {problem === undefined ? null : (
          <p class="problem" id="refund-problem">
            {problem.text}
          </p>
        )}
        <button class="main">Send the refund here</button>
      </form>
    </section>
  );
}

function Transfers({ view }: { view: PageView }): VNode | null {
  const { deposits, refunds, checkout } = view.facts;
  if (deposits.length === 0 && refunds.length === 0) return null;
  return (
    <section class="card">
      <h2>Transfers</h2>
      <ul class="transfers">
        {deposits.slice(0, SHOWN_MAX).map((one) => (
          <Line amount={`${shortAmount(one.amount)} ${one.asset}`} hash={one.txHash}>
            {depositWords(view, one)}
          </Line>
        ))}
        {deposits.length > SHOWN_MAX ? (
          <li>and {deposits.length - SHOWN_MAX} more transfers</li>
        ) : null}
        {refunds.map((one) => (
          <Line amount={`${shortAmount(one.amount)} ${checkout.asset}`} hash={one.txHash}>
            {REFUND_WORDS[one.state]}
            {one.address === null ? null : ` to ${getAddress(one.address)}`}
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
  needs_address: 'Refund, waiting for your address',
  sending: 'Refund on its way',
  sent: 'Refunded',
} as const;

function depositWords({ facts, heads }: PageView, one: Deposit): string {
  if (!one.isExpected) return 'Another asset or network than the payment’s; not counted';
  switch (one.state) {
    case 'final':
      return 'Confirmed';
    case 'vanished':
      return 'Removed by the network; not counted';
    case 'detected': {
      const head = heads.get(one.chainId) ?? one.blockNumber;
      const count = Math.max(1, head - one.blockNumber + 1);
      const confirmations = count === 1 ? '1 confirmation' : `${String(count)} confirmations`;
      return facts.checkout.isHeld ? 'On hold' : `Seen, ${confirmations} so far`;
    }
  }
}

function Links({ view: { facts }, status }: { view: PageView; status: Status }): VNode | null {
  const { id, successUrl, cancelUrl, state } = facts.checkout;
  const canCancel = state === 'open' && status.name === 'waiting';
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
        <form method="post" action={`/checkout/${id}/cancel`}>
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

export function statusOf({ facts, now }: PageView): Status {
  const { checkout } = facts;
  const { asset } = checkout;
  const arrived = arrivedAmount(facts);
  const say = (name: StatusName, title: string, text: string, isLive = true): Status => ({
    ...{ name, title, text, isLive },
  });
  if (checkout.isHeld) {
    return say('held', 'On hold', 'The payment is being checked. You need not do anything.');
  }
  if (needsRefundAddress(facts)) {
    return say('refunding', 'Refund', 'Enter below where the refund should go.', false);
  }
  if (facts.refunds.some(({ state }) => state === 'sending')) {
    return say('refunding', 'Refund on its way', 'It is complete when the network confirms it.');
  }
  if (checkout.state === 'failed') {
    return say('failed', 'Payment failed', 'Nothing was charged. Contact the shop.', false);
  }
  if (facts.refunds.length > 0 && !isLess(sumOf(facts), confirmedAmount(facts))) {
    return say('refunded', 'Refunded', 'The payment was sent back.', false);
  }
  if (isPaid(facts)) return paidStatus(facts, say);
  const missing = `${shortAmount(missingAmount(facts))} ${asset}`;
  const isOver = now >= checkout.expiresAt || checkout.state === 'cancelled';
  if (missingAmount(facts) === ZERO) {
    return say('seen', 'Payment received', 'Waiting for the network to confirm it.');
  }
  if (arrived !== ZERO) {
    const received = `${shortAmount(arrived)} ${asset} received, ${missing} missing.`;
    return isOver
      ? say('part', 'Not paid in full', `${received} The time is over. Contact the shop.`)
      : say('part', 'Not paid in full', `${received} Send the rest to the same address.`);
  }
  if (checkout.state === 'cancelled') {
    return say('cancelled', 'Cancelled', 'Do not send anything to this checkout.', false);
  }
  if (isOver) {
    const text = 'Do not send anything now. Start a new payment in the shop.';
    return say('expired', 'The time is over', text);
  }
  return say('waiting', 'Waiting for your payment', 'This page shows it within seconds.');
}

type Say = (name: StatusName, title: string, text: string, isLive?: boolean) => Status;

function paidStatus(facts: CheckoutFacts, say: Say): Status {
  const { amount, asset } = facts.checkout;
  const confirmed = confirmedAmount(facts);
  const text =
    confirmed === amount
      ? 'Thank you.'
      : `Thank you. You sent ${shortAmount(confirmed)} ${asset}, more than was asked for.`;
  return say('paid', 'Payment confirmed', text, false);
}

function isPayable({ facts, now }: PageView, status: Status): boolean {
  if (facts.checkout.state !== 'open' || now >= facts.checkout.expiresAt) return false;
  return status.name === 'waiting' || status.name === 'part';
}

function isRefreshed({ problem }: PageView, { isLive }: Status): boolean {
  return isLive && problem === undefined;
}

const LEAVE_SECONDS = 3;
/** Who opens the page later wants to read it. */
const LEAVES_WITHIN_MS = 600_000;

function leavesFor({ facts, now }: PageView, { name }: Status): string | null {
  const finalTimes = facts.deposits.map(({ finalAt }) => finalAt?.getTime() ?? 0);
  const isRecent = now.getTime() - Math.max(0, ...finalTimes) < LEAVES_WITHIN_MS;
  return name === 'paid' && isRecent ? facts.checkout.successUrl : null;
}

function sumOf({ refunds }: CheckoutFacts): Amount {
  return refunds.length === 0 ? ZERO : add(...refunds.map(({ amount }) => amount));
}

/** Without the zeros at the end, but with two decimals. */
function shortAmount(amount: Amount): string {
  return amount.replace(/0{1,6}$/, '');
}

function titleOf(network: string): string {
  return network.slice(0, 1).toUpperCase() + network.slice(1);
}
