/**
 * Payment links (decisions/payments#payment-links). A link has the terms of a payment, and each customer's visit
 * opens it at the provider, so that a link outlives a checkout and lets the customer choose what to pay with.
 */
import { isDeepStrictEqual } from 'node:util';
import { findAccount } from '../../db/accounts/accounts';
import { findLogoName } from '../../db/accounts/logos';
import {
  closeLink,
  findLink,
  insertLink,
  type LinkTerms,
  listLinks,
  type LinkPayment,
  noteOpened,
  type PaymentLink,
} from '../../db/payments/payment-links';
import type { Page } from '../../db/lists';
import type { Db } from '../../db/transaction';
import { ApiError, type FieldRule } from '../../domain/errors';
import type { Owner } from '../../domain/mode';
import { ZERO } from '../../domain/money';
import {
  isOpenPayment,
  PAID_STATUSES,
  type Payment,
  type PaymentRequest,
} from '../../domain/payment';
import { PROVIDER_CODES } from '../../domain/provider-codes';
import { findOwn, readAs } from '../../kit/service/own';
import { readPaymentRequest } from './payments-contract';

export type { PaymentLink };

/** The same amount of these is worth the same. */
const SAME_VALUE = ['USDT', 'USDC'];
/** With the number of a later payment, a reference has 64 characters at most. */
export const LINK_REFERENCE_MAX = 60;
const PAYMENTS_MAX = 99;

export type LinkStatus = 'active' | 'closed' | 'expired' | Payment['status'];

const isPaidFor = ({ status }: Pick<Payment, 'status'>) => PAID_STATUSES.includes(status);

/** Of the payment if it has one that counts; otherwise of the link. */
export function statusOf({ payments: [first], closedAt, hasExpired }: PaymentLink): LinkStatus {
  if (first !== undefined && isPaidFor(first)) return first.status;
  if (closedAt !== null) return 'closed';
  return hasExpired ? 'expired' : 'active';
}

/** What the link has received. A customer who has switched may have paid to several of its checkouts. */
export function receivedOf({ payments }: PaymentLink): LinkPayment[] {
  return payments.filter(({ receivedAmount }) => receivedAmount !== ZERO);
}

/** Each payment is credited; the merchant refunds what is too much. */
export function isPaidTwice(link: PaymentLink): boolean {
  return receivedOf(link).length > 1;
}

export interface LinkForCustomer {
  link: PaymentLink;
  accountName: string;
  /** The hash of the account's logo. */
  logo: string | null;
  /** The one that counts: with money, or the latest. */
  payment: Payment | null;
  /** Whether the customer may choose what to pay with. */
  isOpen: boolean;
  /** Whether the shop has got money. */
  isPaid: boolean;
}

type Person = Owner & { userId: string };

/** Payments in the name of the person who made the link, through the services of the API. */
interface PersonsPayments {
  checkPayment(person: Person, request: PaymentRequest): Promise<void>;
  /** @returns the id of the payment */
  createPayment(person: Person, idempotencyKey: string, request: PaymentRequest): Promise<string>;
  payment(person: Person, id: string): Promise<Payment>;
  cancelPayment(person: Person, id: string): Promise<void>;
}

export type PaymentLinks = ReturnType<typeof createPaymentLinks>;

export function createPaymentLinks({ db, money }: { db: Db; money: PersonsPayments }) {
  const find = async (id: string): Promise<LinkForCustomer | null> => {
    const link = await findLink(db, id);
    if (link === null) return null;
    const account = await findAccount(db, link.accountId);
    const logo = (await findLogoName(db, link.accountId))?.sha256 ?? null;
    const [first] = link.payments;
    const payment = first === undefined ? null : await money.payment(link, first.id);
    const isFree = payment === null || !isPaidFor(payment);
    const isOpen = isFree && link.closedAt === null && !link.hasExpired;
    const isPaid = !isFree && !isOpenPayment(payment.status);
    return { link, accountName: account?.name ?? '', logo, payment, isOpen, isPaid };
  };

  return {
    /** @throws ApiError validation_failed, duplicate_reference, idempotency_key_reused */
    create: async (terms: LinkTerms, validSeconds: number): Promise<string> => {
      refuseMixed(terms.routes);
      for (const route of terms.routes) await money.checkPayment(terms, requestOf(terms, route, 1));
      if (!(await insertLink(db, terms, { validSeconds }))) await refuseOther(db, terms);
      return terms.id;
    },
    list: (owner: Owner, page: Page) => listLinks(readAs(db, owner), owner, page),
    /** @throws AdminRefusal */
    findOwn: (owner: Owner, id: string) => findOwn(db, owner, 'payment_link', id, findLink),
    close: (id: string) => closeLink(db, id),
    find,
    /**
     * Opens a checkout for the route, unless money may be on its way to the one before.
     * @throws ApiError, AdminRefusal when no checkout can be opened
     */
    pay: async (id: string, route: string): Promise<void> => {
      const found = await find(id);
      if (found?.isOpen !== true || !found.link.routes.includes(route)) return;
      const { link, payment } = found;
      if (payment !== null && isOpenPayment(payment.status)) {
        if (routeOf(payment, link.routes) === route) return;
        if (!(await isCancelled(money, link, payment.id))) return;
      }
      await openPayment(db, money, link, route);
    },
  };
}

/** Whether the checkout was closed. A customer who has sent funds goes on with it. */
async function isCancelled(
  money: PersonsPayments,
  link: PaymentLink,
  id: string,
): Promise<boolean> {
  try {
    await money.cancelPayment(link, id);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_state') return false;
    throw error;
  }
}

/** Another request may open it at the same moment, or an earlier attempt that was not answered. */
async function openPayment(
  db: Db,
  money: PersonsPayments,
  link: PaymentLink,
  route: string,
): Promise<void> {
  const number = link.payments.length + 1;
  if (number > PAYMENTS_MAX)
    throw new ApiError({ code: 'invalid_state', details: { status: 'active' } });
  const request = requestOf(link, route, number);
  await noteOpened(db, link.id, number - 1);
  try {
    await money.createPayment(link, `${link.id}-${number}`, request);
  } catch (error) {
    const now = await findLink(db, link.id);
    if (now === null || now.payments.length < number) throw error;
  }
}

/** The request that the API would get. @throws ApiError validation_failed */
function requestOf({ amount, reference, request, mode, id }: LinkTerms, route: string, n: number) {
  const [currency = '', way = ''] = route.split(' ');
  const isProvider = PROVIDER_CODES.some((code) => code === way);
  return readPaymentRequest(
    {
      ...{ ...request, amount, currency, [isProvider ? 'provider' : 'network']: way },
      reference: n === 1 ? reference : `${reference}-${n}`,
      metadata: { payment_link: id },
    },
    mode,
  );
}

/** The route of the link that the payment takes. */
export function routeOf(
  { currency, network, provider }: Payment,
  routes: readonly string[],
): string | undefined {
  return routes.find((route) => route === `${currency} ${network ?? provider}`);
}

/** A customer who pays 25 USDT or 25 BTC, as they like, would pay the wrong one. */
function refuseMixed(routes: readonly string[]): void {
  const currencies = [...new Set(routes.map((route) => route.split(' ')[0] ?? ''))];
  if (currencies.length === 1) return;
  if (currencies.length > 1 && currencies.every((one) => SAME_VALUE.includes(one))) return;
  const message =
    currencies.length === 0
      ? 'Choose what the customer pays with.'
      : `Choose networks of one currency. Only ${SAME_VALUE.join(' and ')} can be chosen together, because the customer pays the same amount of each.`;
  refuseField('route', 'required', message);
}

function refuseField(field: string, rule: FieldRule, message: string): never {
  throw new ApiError({
    code: 'validation_failed',
    details: { fields: [{ field, rule, message }] },
  });
}

/** A form that is sent twice made one link. @throws ApiError */
async function refuseOther(db: Db, terms: LinkTerms): Promise<void> {
  const same = await findLink(db, terms.id);
  if (same !== null) {
    const { id, accountId, mode, userId, amount, routes, reference, request } = same;
    const stored = { id, accountId, mode, userId, amount, routes, reference, request };
    if (!isDeepStrictEqual(stored, terms)) throw new ApiError({ code: 'idempotency_key_reused' });
    return;
  }
  refuseField(
    'reference',
    'unsupported',
    'Another payment link has this reference. Use a new one.',
  );
}
