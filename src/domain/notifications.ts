/**
 * What people can be told: who may be told it, whether they are without a choice of their own, and the words.
 * The occasions are noted in the database (migration 0049-notifications), or found by a schedule.
 */
import { mayDo, type Permission, type Role, type UserKind } from './users';

export const OCCASION_KINDS = [
  'key_created',
  'new_sign_in',
  'payout_failed',
  'payout_waits',
  'endpoint_failing',
  'case_opened',
  'ledger_check_failed',
  'payouts_paused',
] as const;
export type OccasionKind = (typeof OCCASION_KINDS)[number];

export interface NotificationKind {
  who: UserKind;
  /** The permission of those who are told. */
  needs: Permission;
  isOn: boolean;
  /** On the page of choices, and the subject of several. */
  title: string;
  /** The subject of one occasion. */
  subject: string;
  /** What happened, and what the person can do. */
  text: string;
  /** Below the site, where the mode is already part of a merchant's; `:id` is the object's. */
  path: string;
}

export const NOTIFICATIONS: Readonly<Record<OccasionKind, NotificationKind>> = {
  key_created: {
    who: 'merchant',
    needs: 'manage',
    isOn: true,
    title: 'API keys created',
    subject: 'An API key was created',
    text: 'A new API key can act for your account. If nobody of your team created it, revoke it now.',
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
  payout_failed: {
    who: 'merchant',
    needs: 'pay_test',
    isOn: true,
    title: 'Payouts that failed',
    subject: 'A payout failed',
    text: 'A payout failed and its funds are available again. Its page shows the reason.',
    path: '/payouts/:id',
  },
  payout_waits: {
    who: 'merchant',
    needs: 'approve',
    isOn: true,
    title: 'Payouts that wait for a second person',
    subject: 'A payout waits for a second person',
    text: 'A payout is above the amount that one person may pay alone. It waits for the approval of another person of your account.',
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
    text: 'The gateway found something that it does not correct by itself. An operator decides.',
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
};

/** Above this number of messages of a kind to one person in the window, the next occasions wait for its end. */
export const DIGEST = { messages: 3, windowMinutes: 10 } as const;

/** A message names at most this many objects, and counts the others. */
export const NAMED_MAX = 20;

/** Whether the role may be told at all, whatever the person has chosen. Everybody is told of the own sign-ins. */
export function mayBeTold(kind: OccasionKind, role: Role): boolean {
  const { who, needs } = NOTIFICATIONS[kind];
  return (role.kind === who || kind === 'new_sign_in') && mayDo(role, needs);
}

export function isOccasionKind(kind: string): kind is OccasionKind {
  return OCCASION_KINDS.some((one) => one === kind);
}
