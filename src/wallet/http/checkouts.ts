/** The checkout part of the wallet's API (docs/onchain-provider.md); ../checkouts decides. */
import type Router from '@koa/router';
import type { Context } from 'koa';
import { type Amount, parseRequestAmount } from '../../domain/money';
import type { CheckoutFacts } from '../checkouts/checkout';
import { presentCheckout } from '../checkouts/present';
import {
  type CheckoutOrder,
  type CheckoutParts,
  type CheckoutStep,
  openCheckout,
  type OpeningRefusal,
  type StepRefusal,
  takeStep,
} from '../checkouts/steps';
import { findCheckout, listCheckouts } from '../checkouts/store';
import {
  HttpRefusal,
  type JsonObject,
  malformed,
  pageOf,
  readBody,
  readChangesQuery,
  readMember,
  readMode,
  readReference,
  readText,
} from './answers';

export function addCheckouts(parts: CheckoutParts): (router: Router) => void {
  const present = (facts: CheckoutFacts): Record<string, unknown> =>
    presentCheckout(facts, parts.pageUrl(facts.checkout.id));
  const find = async (ctx: Context): Promise<CheckoutFacts> => {
    const { reference = '' } = ctx.params as { reference?: string };
    const facts = await findCheckout(parts.db, readMode(ctx), reference);
    if (facts !== null) return facts;
    throw new HttpRefusal(
      ...([404, 'checkout_not_found', 'No checkout has this client reference.'] as const),
    );
  };
  const act = async (ctx: Context, step: CheckoutStep): Promise<void> => {
    const { checkout } = await find(ctx);
    const outcome = await takeStep(parts, checkout.id, step);
    if (outcome.kind === 'refused') throw refusalOf(STEP_REFUSALS[outcome.reason], outcome.reason);
    ctx.body = { checkout: present(outcome.facts) };
  };

  return (router) => {
    router.post('/checkouts', async (ctx) => {
      const opening = await openCheckout(parts, readOrder(ctx));
      if (opening.kind === 'refused') {
        throw refusalOf(OPENING_REFUSALS[opening.reason], opening.reason);
      }
      ctx.status = opening.isNew ? 201 : 200;
      ctx.body = { checkout: present(opening.facts) };
    });

    router.get('/checkouts/:reference', async (ctx) => {
      ctx.body = { checkout: present(await find(ctx)) };
    });

    router.get('/checkouts', async (ctx) => {
      const query = readChangesQuery(ctx);
      const found = await listCheckouts(parts.db, readMode(ctx), {
        ...{ ...query, limit: query.limit + 1 },
      });
      const placed = found.map((facts) => ({
        ...{ updatedAt: facts.checkout.updatedAt, id: facts.checkout.id, facts },
      }));
      const { entries, nextCursor } = pageOf(placed, query.limit);
      ctx.body = {
        checkouts: entries.map(({ facts }) => present(facts)),
        next_cursor: nextCursor,
      };
    });

    router.post('/checkouts/:reference/cancel', (ctx) => act(ctx, { do: 'cancel' }));
    router.post('/checkouts/:reference/compliance', (ctx) =>
      act(ctx, { do: readDecision(readBody(ctx)) }),
    );
    router.post('/checkouts/:reference/refunds', (ctx) => {
      const body = readBody(ctx);
      const reference = readReference(body, 'refund_reference');
      return act(ctx, { do: 'refund', reference, amount: readAmount(body) });
    });
  };
}

type Refusal = readonly [status: number, message: string];

const OPENING_REFUSALS: Record<OpeningRefusal, Refusal> = {
  asset_not_supported: [422, 'The asset is not supported on this network.'],
  amount_not_representable: [422, 'The amount has more decimals than the asset.'],
  client_reference_conflict: [409, 'The client reference belongs to a different order.'],
  network_not_ready: [503, 'No node of the network has answered yet. Try again later.'],
};

const STEP_REFUSALS: Record<StepRefusal, Refusal> = {
  not_on_hold: [422, 'The checkout is not on hold.'],
  refund_too_large: [422, 'The amount is more than what is confirmed and not yet refunded.'],
  refund_reference_conflict: [409, 'The refund reference belongs to a refund of another amount.'],
  address_not_needed: [422, 'No refund of the checkout waits for an address.'],
};

function refusalOf([status, message]: Refusal, code: string): HttpRefusal {
  return new HttpRefusal(status, code, message);
}

const DESCRIPTION_LENGTH_MAX = 255;

function readOrder(ctx: Context): CheckoutOrder {
  const body = readBody(ctx);
  const description = readMember(body, 'description') ?? null;
  const isShort = typeof description === 'string' && description.length <= DESCRIPTION_LENGTH_MAX;
  if (description !== null && !isShort) {
    throw malformed('description', 'must be null or a text of at most 255 characters');
  }
  return {
    mode: readMode(ctx),
    reference: readReference(body, 'client_reference'),
    network: readText(body, 'network'),
    asset: readText(body, 'asset'),
    amount: readAmount(body),
    expiresAt: readTime(body, 'expires_at'),
    successUrl: readUrl(body, 'success_url'),
    cancelUrl: readUrl(body, 'cancel_url'),
    // PostgreSQL cannot store a zero character.
    description: description === null ? null : description.replaceAll('\0', ''),
  };
}

function readAmount(body: JsonObject): Amount {
  const value = readMember(body, 'amount');
  const amount = typeof value === 'string' ? parseRequestAmount(value) : null;
  if (amount !== null) return amount;
  throw malformed('amount', 'must be a positive amount as text with at most 8 decimals');
}

function readTime(body: JsonObject, name: string): Date {
  const time = new Date(readText(body, name));
  if (Number.isNaN(time.getTime())) throw malformed(name, 'must be a time in ISO 8601');
  return time;
}

const URL_LENGTH_MAX = 2_048;

/** Customers are sent there, so nothing but http and https is taken. */
function readUrl(body: JsonObject, name: string): string | null {
  const value = readMember(body, name) ?? null;
  if (value === null) return null;
  const isUrl =
    typeof value === 'string' &&
    value.length <= URL_LENGTH_MAX &&
    /^https?:\/\//.test(value) &&
    URL.canParse(value);
  if (isUrl) return value;
  throw malformed(name, 'must be null or a URL starting with http:// or https://');
}

function readDecision(body: JsonObject): 'release' | 'reject' {
  const decision = readMember(body, 'decision');
  if (decision === 'release' || decision === 'reject') return decision;
  throw malformed('decision', 'must be "release" or "reject"');
}
