/**
 * What people can be notified of: who may be, whether they are without a choice of their own, and the words.
 * The occasions are noted in the database (db/migrations/baseline/occasions.ts).
 */
import { mayDo, type Permission, type Role, type UserKind } from './users';

/** The kinds of occasion that people can be notified of. */
export const OCCASION_KINDS = [
  'key_created',
  'new_sign_in',
  'password_changed',
  'payout_failed',
  'payment_received',
  'payment_underpaid',
  'link_paid_twice',
  'refund_failed',
  'payout_waits',
  'batch_waits',
  'refund_waits',
  'recipient_waits',
  'schedule_waits',
  'balance_low',
  'statement_closed',
  'endpoint_failing',
  'review_late',
  'doubt_late',
  'case_opened',
  'ledger_check_failed',
  'payouts_paused',
  'provider_alarm',
] as const;
export type OccasionKind = (typeof OCCASION_KINDS)[number];

/** One kind: who may be notified of it, and the words of the message. */
export interface NotificationKind {
  who: UserKind;
  /** The permission of those who are notified. */
  needs: Permission;
  isOn: boolean;
  /** The name on the page of choices, and the subject of a message about several objects. */
  title: string;
  /** The subject of a message about one object. */
  subject: string;
  /** What happened, and what the person can do. */
  text: string;
  /** The path of the object's page below the site (a merchant's includes the mode); `:id` is the object's id. */
  path: string;
}

/** Notifies those who may approve the object, without its maker. */
const WAITS = { who: 'merchant', needs: 'approve', isOn: true } as const;

/** The table of all kinds. */
export const NOTIFICATIONS: Readonly<Record<OccasionKind, NotificationKind>> = {
  key_created: {
    who: 'merchant',
    needs: 'manage',
    isOn: true,
    title: 'API keys created',
    subject: 'An API key was created',
    text: 'A new API key can act for your account. If nobody on your team created it, revoke it now.',
    path: '/keys',
  },
  new_sign_in: {
    who: 'merchant',
    needs: 'read',
    isOn: true,
    title: 'Sign-ins from a new address',
    subject: 'You signed in from a new address',
    text: 'Somebody signed in with your password from an address that you have not used before. If it was not you, change your password and end the session.',
    path: '/sessions',
  },
  password_changed: {
    who: 'merchant',
    needs: 'read',
    isOn: true,
    title: 'Changes to your password',
    subject: 'Your password was changed',
    text: 'Your password was changed. If you did not change it and did not ask for a new one, choose another one with “Forgotten password?” on the sign-in page, and tell an owner of your account or another admin.',
    path: '/security',
  },
  payout_failed: {
    who: 'merchant',
    needs: 'pay_test',
    isOn: true,
    title: 'Payouts that failed',
    subject: 'A payout failed',
    text: 'A payout failed and its funds are available again. Its page shows the reason.',
    path: '/payouts/:id',
  },
  payment_received: {
    who: 'merchant',
    needs: 'read',
    isOn: false,
    title: 'Payments received',
    subject: 'A payment was received',
    text: 'A customer has paid a payment in full. The amount less fees is credited to your balance.',
    path: '/payments/:id',
  },
  payment_underpaid: {
    who: 'merchant',
    needs: 'link',
    isOn: true,
    title: 'Payments that were underpaid',
    subject: 'A payment was underpaid',
    text: 'A customer sent less than the amount before the checkout expired. What was received is credited to your balance. You can refund it, or ask for the rest in a new payment.',
    path: '/payments/:id',
  },
  link_paid_twice: {
    who: 'merchant',
    needs: 'link',
    isOn: true,
    title: 'Payment links that were paid more than once',
    subject: 'A payment link was paid more than once',
    text: 'A customer switched to another checkout of a payment link and sent funds to both. Each amount is credited to your balance. Refund the payment that is too much.',
    path: '/payment-links/:id',
  },
  refund_failed: {
    who: 'merchant',
    needs: 'link',
    isOn: true,
    title: 'Refunds that failed',
    subject: 'A refund failed',
    text: 'A refund failed and its amount is available again. Its page shows the reason.',
    path: '/refunds/:id',
  },
  payout_waits: {
    ...WAITS,
    title: 'Payouts that wait for two-person approval',
    subject: 'A payout waits for two-person approval',
    text: 'A payout is above the amount that one person may pay alone. It waits for the approval of another person of your account.',
    path: '/payouts/:id',
  },
  batch_waits: {
    ...WAITS,
    title: 'Batches that wait for two-person approval',
    subject: 'A batch waits for two-person approval',
    text: 'A batch is above the amount that one person may pay alone. It waits for the approval of another person of your account.',
    path: '/batches/:id',
  },
  refund_waits: {
    ...WAITS,
    title: 'Refunds that wait for two-person approval',
    subject: 'A refund waits for two-person approval',
    text: 'A refund is above the amount that one person may pay alone. It waits for the approval of another person of your account.',
    path: '/refunds/:id',
  },
  recipient_waits: {
    ...WAITS,
    title: 'Recipients that wait for two-person approval',
    subject: 'A recipient waits for two-person approval',
    text: 'Nothing is paid to a new destination of a recipient before another person of your account has approved it.',
    path: '/recipients/:id',
  },
  schedule_waits: {
    ...WAITS,
    title: 'Schedules that wait for two-person approval',
    subject: 'A schedule waits for two-person approval',
    text: 'The runs of a schedule pay nothing before another person of your account has approved it.',
    path: '/schedules/:id',
  },
  balance_low: {
    who: 'merchant',
    needs: 'keep_books',
    isOn: true,
    title: 'Low balances',
    subject: 'A balance is low',
    text: 'An available balance is below the amount that your account has set. A payout that needs more than the balance is refused.',
    path: '/balances/:id',
  },
  statement_closed: {
    who: 'merchant',
    needs: 'keep_books',
    isOn: false,
    title: 'Monthly statements, as PDF',
    subject: 'A monthly statement is ready',
    text: 'A month has ended. Its statement, in UTC, has the balances, the movements and the fees of each currency.',
    path: '/statements?month=:id',
  },
  review_late: {
    who: 'operator',
    needs: 'review',
    isOn: true,
    title: 'Payouts that have waited too long for review',
    subject: 'A payout has waited too long for review',
    text: 'A live payout has waited for a decision for longer than the installation allows.',
    path: '/payouts/:id',
  },
  doubt_late: {
    who: 'operator',
    needs: 'review',
    isOn: true,
    title: 'Payouts that have been in doubt too long',
    subject: 'A payout has been in doubt too long',
    text: 'The provider has not reported whether it sent a live payout. Its funds stay reserved. Ask the provider.',
    path: '/payouts/:id',
  },
  endpoint_failing: {
    who: 'merchant',
    needs: 'resend',
    isOn: true,
    title: 'Webhook endpoints that fail',
    subject: 'A webhook endpoint is failing',
    text: 'An event was not delivered in any attempt of its schedule. Check the endpoint, then send the event again from its page.',
    path: '/webhooks/:id',
  },
  case_opened: {
    who: 'operator',
    needs: 'review',
    isOn: true,
    title: 'Cases opened',
    subject: 'A case was opened',
    text: 'The gateway found a problem that it does not correct by itself. An operator must decide.',
    path: '/cases/:id',
  },
  ledger_check_failed: {
    who: 'operator',
    needs: 'read',
    isOn: true,
    title: 'Ledger checks that fail',
    subject: 'The ledger check failed',
    text: 'The check of the ledger found a broken invariant or could not run. A broken ledger pauses payouts.',
    path: '/cases/:id',
  },
  payouts_paused: {
    who: 'operator',
    needs: 'read',
    isOn: true,
    title: 'Pauses of payouts',
    subject: 'Payouts were paused',
    text: 'Somebody, or the ledger check, paused payouts. They stay paused until an operator resumes them.',
    path: '/pauses',
  },
  provider_alarm: {
    who: 'operator',
    needs: 'read',
    isOn: true,
    title: 'Alarms of the wallet',
    subject: 'The wallet has raised an alarm',
    text: 'A condition of the on-chain wallet needs a person. The Operations page shows the details, and `npm run wallet -- status` shows what to do.',
    path: '/operations',
  },
};

/** After this many messages of a kind to one person within the window, further occasions wait for its end. */
export const DIGEST = { messages: 3, windowMinutes: 10 } as const;

/** A message names at most this many objects, and counts the others. */
export const NAMED_MAX = 20;

type OwnKind = 'new_sign_in' | 'password_changed';

/** Whether the kind concerns one person, of either site, so that no chat gets it. */
function isOwn(kind: OccasionKind): kind is OwnKind {
  return kind === 'new_sign_in' || kind === 'password_changed';
}

/** Whether the user is notified whatever their accounts, role and choices are. */
export function isAlwaysTold(kind: OccasionKind): boolean {
  return kind === 'password_changed';
}

/**
 * Whether people with the role may be notified, if they choose to. Everybody may be notified of their own
 * sign-ins.
 */
export function mayBeTold(kind: OccasionKind, role: Role): boolean {
  const { who, needs } = NOTIFICATIONS[kind];
  return (role.kind === who || isOwn(kind)) && mayDo(role, needs);
}

/** Whether the text is a kind of this table. */
export function isOccasionKind(kind: string): kind is OccasionKind {
  return OCCASION_KINDS.some((one) => one === kind);
}

export type ChatKind = Exclude<OccasionKind, OwnKind>;

/** The kinds that a chat of an account, or of the operators, can get. */
export function chatKindsOf(who: UserKind): ChatKind[] {
  return OCCASION_KINDS.filter((kind): kind is ChatKind => !isOwn(kind)).filter(
    (kind) => NOTIFICATIONS[kind].who === who,
  );
}
