/**
 * Who signs in and what each role may do. Merchants and operators are different users with
 * different passwords, cookies and paths, even if it is the same person.
 */
export const USER_KINDS = ['merchant', 'operator'] as const;
export type UserKind = (typeof USER_KINDS)[number];

/** How long the link of an invitation works. */
export const INVITATION_DAYS = 3;

/** The roles of a person in an account. */
export const MERCHANT_ROLES = ['owner', 'finance', 'developer', 'support', 'viewer'] as const;
export type MerchantRole = (typeof MERCHANT_ROLES)[number];

/** The roles of operators. */
export const OPERATOR_ROLES = ['admin', 'reviewer', 'viewer'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** What the people of an account may do, in words for the page of people and the guide. */
export const MERCHANT_CAPABILITIES = {
  read: 'See everything of the account, and export it',
  link: 'Create and cancel payment links',
  pay_test: 'In test mode, make and cancel payouts, batches, schedules, refunds and recipients',
  pay: 'In live mode, make and cancel payouts, batches, schedules, refunds and recipients',
  approve: 'Approve, as the second person, what another person created',
  resend: 'Send webhooks again, and test events',
  integrate: 'In test mode, manage API keys and webhook endpoints',
  keep_books: 'Set the time zone and the accounts of the journal',
  manage: 'Manage live API keys and webhook endpoints, people and rules; read the audit log',
} as const;
type MerchantPermission = keyof typeof MERCHANT_CAPABILITIES;

/**
 * Permissions of operators, beside those of merchants:
 * - `review`: decide payouts and payments, resolve cases
 * - `see_beneficiaries`: who receives the money of a payout
 * - `administer`: accounts, limits, fees, pauses, and people
 */
export type Permission = MerchantPermission | 'review' | 'see_beneficiaries' | 'administer';

/** Who may do what in an account. The page of people and docs/guides/people.md show this table. */
export const MERCHANT: Record<MerchantRole, readonly MerchantPermission[]> = {
  owner: [
    'read',
    'link',
    'pay_test',
    'pay',
    'approve',
    'resend',
    'integrate',
    'keep_books',
    'manage',
  ],
  finance: ['read', 'link', 'pay_test', 'pay', 'approve', 'keep_books'],
  developer: ['read', 'link', 'pay_test', 'resend', 'integrate'],
  support: ['read', 'resend'],
  viewer: ['read'],
};

const OPERATOR: Record<OperatorRole, readonly Permission[]> = {
  admin: ['read', 'review', 'see_beneficiaries', 'administer'],
  reviewer: ['read', 'review', 'see_beneficiaries'],
  viewer: ['read'],
};

/** A person with a role: a merchant in one account, an operator in the installation. */
export type Actor =
  | { kind: 'merchant'; role: MerchantRole; accountId: string; accountName: string }
  | { kind: 'operator'; role: OperatorRole };

/** A role with its kind of user, without the account. */
export type Role =
  | Pick<Extract<Actor, { kind: 'merchant' }>, 'kind' | 'role'>
  | Extract<Actor, { kind: 'operator' }>;

/**
 * Whether the wished role has more rights, so that another admin must approve it. Other roles take
 * effect at once.
 */
export function isHigherRole(wished: OperatorRole, present: OperatorRole): boolean {
  return OPERATOR[wished].length > OPERATOR[present].length;
}

/** Whether the role has the permission. */
export function mayDo(actor: Role, permission: Permission): boolean {
  const granted: readonly Permission[] =
    actor.kind === 'merchant' ? MERCHANT[actor.role] : OPERATOR[actor.role];
  return granted.includes(permission);
}

/** The roles that may approve as the second person. */
export const APPROVER_ROLES = MERCHANT_ROLES.filter((role) => MERCHANT[role].includes('approve'));

/** The roles that may make payouts in each mode. */
export const PAYER_ROLES = {
  live: MERCHANT_ROLES.filter((role) => MERCHANT[role].includes('pay')),
  test: MERCHANT_ROLES.filter((role) => MERCHANT[role].includes('pay_test')),
} as const;

/** The duration of a session, and its duration without a request. */
export const SESSION_HOURS = {
  merchant: { total: 7 * 24, idle: 12 },
  operator: { total: 12, idle: 1 },
} as const satisfies Record<UserKind, { total: number; idle: number }>;

/** The longest email address (RFC 5321). */
export const EMAIL_LENGTH_MAX = 254;
/** The shortest password, in characters. */
export const PASSWORD_LENGTH_MIN = 12;
/** The longest password; a longer one would only cost time to hash. */
export const PASSWORD_LENGTH_MAX = 200;
