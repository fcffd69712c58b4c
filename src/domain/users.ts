/**
 * Who signs in and what each role may do. Merchants and operators are different users with
 * different passwords, cookies and paths, even if it is the same person.
 */
export const USER_KINDS = ['merchant', 'operator'] as const;
export type UserKind = (typeof USER_KINDS)[number];

export const MERCHANT_ROLES = ['owner', 'developer', 'viewer'] as const;
export type MerchantRole = (typeof MERCHANT_ROLES)[number];

export const OPERATOR_ROLES = ['admin', 'reviewer', 'viewer'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/**
 * - `read`: see everything of the account
 * - `integrate`: webhook endpoints, keys and payouts of test mode, and payment links of both modes
 * - `manage`: webhook endpoints, keys and payouts of live mode, and people
 * - `approve`: confirm, as the second person, what another person of the account has made
 * - `review`: decide payouts and payments, resolve cases
 * - `administer`: accounts, limits, fees, pauses, and people
 */
export type Permission = 'read' | 'integrate' | 'manage' | 'approve' | 'review' | 'administer';

const MERCHANT: Record<MerchantRole, readonly Permission[]> = {
  owner: ['read', 'integrate', 'manage', 'approve'],
  developer: ['read', 'integrate'],
  viewer: ['read'],
};

const OPERATOR: Record<OperatorRole, readonly Permission[]> = {
  admin: ['read', 'review', 'administer'],
  reviewer: ['read', 'review'],
  viewer: ['read'],
};

/** A person with a role: a merchant in one account, an operator in the installation. */
export type Actor =
  | { kind: 'merchant'; role: MerchantRole; accountId: string; accountName: string }
  | { kind: 'operator'; role: OperatorRole };

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

export function mayDo(actor: Role, permission: Permission): boolean {
  const granted = actor.kind === 'merchant' ? MERCHANT[actor.role] : OPERATOR[actor.role];
  return granted.includes(permission);
}

export const APPROVER_ROLES = MERCHANT_ROLES.filter((role) => MERCHANT[role].includes('approve'));

/** The duration of a session, and its duration without a request. */
export const SESSION_HOURS = {
  merchant: { total: 7 * 24, idle: 12 },
  operator: { total: 12, idle: 1 },
} as const satisfies Record<UserKind, { total: number; idle: number }>;

/** The maximum of RFC 5321. */
export const EMAIL_LENGTH_MAX = 254;
export const PASSWORD_LENGTH_MIN = 12;
/** A longer password only costs time to hash. */
export const PASSWORD_LENGTH_MAX = 200;
