/** What requests of the API hold: orders, steps of a checkout, and queries of lists. */
import type { Context } from 'koa';
import { type Static, Type } from 'typebox';
import { type Amount, parseRequestAmount } from '../../domain/money';
import { checkJson } from '../../platform/lib/check-json';
import { malformed } from './refusals';

/** Determined by the API key alone; nothing of one mode is seen in the other. */
export const MODES = ['test', 'live'] as const;
export type Mode = (typeof MODES)[number];

export interface TransferOrder {
  mode: Mode;
  reference: string;
  asset: string;
  network: string;
  amount: Amount;
  destination: string;
  memo: string | null;
  /** Who receives the money. */
  beneficiary?: Beneficiary | null;
}

export type Beneficiary = Static<typeof BeneficiaryBody>;

export interface CheckoutOrder {
  mode: Mode;
  reference: string;
  network: string;
  asset: string;
  amount: Amount;
  expiresAt: Date;
  successUrl: string | null;
  cancelUrl: string | null;
  description: string | null;
  /** Shown on the page. */
  merchantName?: string | null;
  merchantLogoUrl?: string | null;
  /** The sandbox plays it in test mode; other providers ignore it. */
  scenario: string | null;
}

export interface CheckoutStep {
  do: 'cancel' | 'release' | 'reject';
}

export const Reference = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  description: 'must consist of 1 to 64 letters, digits, hyphens and underscores',
});
export const Text = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'must be a text of 1 to 128 characters',
});
const AMOUNT_RULE = 'must be a positive amount as text with at most 8 decimals';
export const PositiveAmount = Type.Refine(
  Type.String({ description: AMOUNT_RULE }),
  (text) => parseRequestAmount(text) !== null,
  () => AMOUNT_RULE,
);
const TIME_RULE = 'must be a time in ISO 8601';
const Time = Type.Refine(
  Type.String({ maxLength: 128, description: TIME_RULE }),
  (text) => !Number.isNaN(Date.parse(text)),
  () => TIME_RULE,
);
export const URL_RULE =
  'must be null or a URL without control characters that starts with http:// or https://';
/** Customers are sent there, so nothing but http and https is accepted. */
export const WebUrl = Type.Refine(
  Type.String({ maxLength: 2_048, description: URL_RULE }),
  (text) => /^https?:\/\/\P{Cc}*$/iu.test(text) && URL.canParse(text),
  () => URL_RULE,
);

export function OrNull<Schema extends Parameters<typeof Type.Optional>[0]>(
  schema: Schema,
  description: string,
) {
  return Type.Optional(Type.Union([schema, Type.Null()], { description }));
}

export const OBJECT = { description: 'must be a JSON object' };
const MEMO_RULE = 'must be null or a text of 1 to 128 characters';

export const BeneficiaryBody = Type.Object(
  {
    name: Text,
    kind: Type.Enum(['individual', 'business'], {
      description: 'must be "individual" or "business"',
    }),
    institution: Type.Union([Text, Type.Null()], { description: MEMO_RULE }),
  },
  OBJECT,
);

const TransferBody = Type.Object(
  {
    client_reference: Reference,
    asset: Text,
    network: Text,
    amount: PositiveAmount,
    destination: Type.Object({ address: Text, memo: OrNull(Text, MEMO_RULE) }, OBJECT),
    beneficiary: Type.Optional(BeneficiaryBody),
  },
  OBJECT,
);

export const Description = OrNull(
  Type.String({ maxLength: 255 }),
  'must be null or a text of at most 255 characters',
);

const CheckoutBody = Type.Object(
  {
    client_reference: Reference,
    network: Text,
    asset: Text,
    amount: PositiveAmount,
    expires_at: Time,
    success_url: OrNull(WebUrl, URL_RULE),
    cancel_url: OrNull(WebUrl, URL_RULE),
    description: Description,
    merchant_name: Description,
    merchant_logo_url: OrNull(WebUrl, URL_RULE),
    scenario: Type.Optional(Type.Unknown()),
  },
  OBJECT,
);

const DecisionBody = Type.Object(
  {
    decision: Type.Enum(['release', 'reject'], { description: 'must be "release" or "reject"' }),
  },
  OBJECT,
);

export function readTransferOrder(ctx: Context): TransferOrder {
  const { client_reference, asset, network, amount, destination, beneficiary } = readBody(
    ctx,
    TransferBody,
  );
  return {
    mode: readMode(ctx),
    reference: client_reference,
    asset,
    network,
    amount: toAmount(amount),
    destination: destination.address,
    memo: destination.memo ?? null,
    beneficiary: beneficiary ?? null,
  };
}

export function readCheckoutOrder(ctx: Context): CheckoutOrder {
  const body = readBody(ctx, CheckoutBody);
  return {
    mode: readMode(ctx),
    reference: body.client_reference,
    network: body.network,
    asset: body.asset,
    amount: toAmount(body.amount),
    expiresAt: new Date(body.expires_at),
    successUrl: body.success_url ?? null,
    cancelUrl: body.cancel_url ?? null,
    description: storable(body.description),
    merchantName: storable(body.merchant_name),
    merchantLogoUrl: body.merchant_logo_url ?? null,
    scenario: typeof body.scenario === 'string' ? body.scenario : null,
  };
}

/** PostgreSQL cannot store a zero character. */
function storable(text: string | null | undefined): string | null {
  return text?.replaceAll('\0', '') ?? null;
}

export function readDecision(ctx: Context): CheckoutStep {
  return { do: readBody(ctx, DecisionBody).decision };
}

function readBody<Schema extends Parameters<typeof checkJson>[0]>(
  ctx: Context,
  schema: Schema,
): Static<Schema> {
  return checkJson(schema, ctx.request.body, malformed);
}

export function toAmount(text: string): Amount {
  const amount = parseRequestAmount(text);
  if (amount === null) throw malformed({ at: '.amount', rule: AMOUNT_RULE });
  return amount;
}

/** The authentication has put it there. */
export function readMode(ctx: Context): Mode {
  return ctx.state.mode as Mode;
}

export function readQuery(ctx: Context, name: string): string | undefined {
  const value = ctx.query[name];
  return typeof value === 'string' ? value : undefined;
}

export interface ChangesQuery {
  from: Date | null;
  /** The last entry of the page before; null for the first page. */
  after: { updatedAt: Date; id: string } | null;
  limit: number;
}

const DEFAULT_PAGE = 50;
const PAGE_SIZE_MAX = 200;

/** Reads `?updated_from=&cursor=&limit=`, which are all optional. */
export function readChangesQuery(ctx: Context): ChangesQuery {
  const from = readQuery(ctx, 'updated_from');
  const cursor = readQuery(ctx, 'cursor');
  const limit = Number(readQuery(ctx, 'limit') ?? DEFAULT_PAGE);
  if (from !== undefined && Number.isNaN(Date.parse(from))) {
    throw malformed({ at: '.updated_from', rule: TIME_RULE });
  }
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw malformed({ at: '.limit', rule: 'must be a whole number of at least 1' });
  }
  return {
    from: from === undefined ? null : new Date(from),
    after: cursor === undefined ? null : readCursor(cursor),
    limit: Math.min(limit, PAGE_SIZE_MAX),
  };
}

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_([A-Za-z0-9_]{1,64})$/;

function readCursor(cursor: string): { updatedAt: Date; id: string } {
  const [, time = '', id = ''] = CURSOR.exec(cursor) ?? [];
  const updatedAt = new Date(time);
  if (id === '' || Number.isNaN(updatedAt.getTime())) {
    throw malformed({ at: '.cursor', rule: 'must be the next_cursor of a page' });
  }
  return { updatedAt, id };
}

/** @param found one entry more than the page holds shows that there is another page */
export function pageOf<T extends { updatedAt: Date; id: string }>(
  found: readonly T[],
  limit: number,
): { entries: T[]; nextCursor: string | null } {
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  const isLast = found.length <= limit || last === undefined;
  return {
    entries,
    nextCursor: isLast ? null : `${last.updatedAt.toISOString()}_${last.id}`,
  };
}
