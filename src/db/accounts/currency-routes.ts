/** The catalogue: the currencies and networks of each provider (decisions/money#currencies). */
import type { Direction } from '../../domain/fees';
import type { Owner } from '../../domain/mode';
import type { ProviderCode } from '../../domain/provider-codes';
import type { CurrencyRoute } from '../../domain/route';
import type { Db, Reader, Tx } from '../transaction';

/** The enabled payout routes of a currency. */
export async function listPayoutRoutes(db: Reader, currency: string): Promise<CurrencyRoute[]> {
  return db.prepared<CurrencyRoute>(
    `SELECT provider, currency, network, min_amount, max_amount
       FROM currency_routes
      WHERE direction = 'payout' AND currency = ? AND enabled
      ORDER BY provider, network`,
    [currency],
  );
}

/**
 * The same as listPayoutRoutes, with the payout that has the reference already, if any: whoever repeats
 * a reference is told so before anything else is looked at.
 */
export async function readPayoutOptions(
  db: Reader,
  request: Owner & { reference: string; currency: string },
): Promise<{ existingId: string | null; routes: CurrencyRoute[] }> {
  const found = await db.prepared<
    { existingId: string | null } & (CurrencyRoute | { provider: null })
  >(
    `SELECT existing.id AS existing_id, r.provider, r.currency, r.network, r.min_amount, r.max_amount
       FROM (SELECT (SELECT id FROM payouts WHERE account_id = ? AND mode = ? AND reference = ?) AS id)
              AS existing
       LEFT JOIN currency_routes r ON r.direction = 'payout' AND r.currency = ? AND r.enabled
      ORDER BY r.provider, r.network`,
    [request.accountId, request.mode, request.reference, request.currency],
  );
  return {
    existingId: found[0]?.existingId ?? null,
    routes: found.filter((row) => row.provider !== null),
  };
}

/** Every enabled route, both directions, in a stable order. */
export async function listRoutes(db: Db): Promise<CatalogueRoute[]> {
  return db.query<CatalogueRoute>(
    `SELECT provider, direction, currency, network,
            min_amount, max_amount
       FROM currency_routes WHERE enabled
      ORDER BY provider DESC, direction, currency, network`,
  );
}

/** Whether the route exists, enabled or not. */
export async function routeExists(
  db: Db | Tx,
  { provider, direction, currency }: Pick<CatalogueRoute, 'provider' | 'direction' | 'currency'>,
): Promise<boolean> {
  const found = await db.query(
    `SELECT 1 FROM currency_routes WHERE provider = ? AND direction = ? AND currency = ? LIMIT 1`,
    [provider, direction, currency],
  );
  return found.length > 0;
}

/** All currencies with a route, enabled or not. */
export async function listCurrencies(db: Db | Tx): Promise<string[]> {
  const found = await db.query<{ currency: string }>(
    'SELECT DISTINCT currency FROM currency_routes ORDER BY currency',
  );
  return found.map(({ currency }) => currency);
}

/** A route with its direction and minimum. */
export interface CatalogueRoute extends CurrencyRoute {
  direction: Direction;
}

/** A route with whether merchants can use it. */
export interface RouteSetting extends CatalogueRoute {
  enabled: boolean;
}

/** The routes that a change is about; undefined means all of the network. */
export interface RouteScope {
  provider: ProviderCode;
  network: string;
  currency?: string | undefined;
  direction?: Direction | undefined;
}

const SETTING = 'provider, direction, currency, network, min_amount, max_amount, enabled';
const SETTING_ORDER = 'ORDER BY provider, network, currency, direction';

const IN_SCOPE = `provider = ? AND network = ?
        AND currency = coalesce(?::text, currency) AND direction = coalesce(?::text, direction)`;

/** Every route, enabled or not. */
export async function listRouteSettings(db: Db): Promise<RouteSetting[]> {
  return db.query<RouteSetting>(`SELECT ${SETTING} FROM currency_routes ${SETTING_ORDER}`);
}

/** Locks the routes, so that nobody else changes them in the meantime. */
export async function lockRoutes(tx: Tx, scope: RouteScope): Promise<RouteSetting[]> {
  return tx.query<RouteSetting>(
    `SELECT ${SETTING} FROM currency_routes WHERE ${IN_SCOPE} ${SETTING_ORDER} FOR UPDATE`,
    scopeValues(scope),
  );
}

/**
 * Enables or disables routes. A route is enabled only where a default fee rule is in force.
 * @returns the routes that have the value now
 */
export async function setRoutesEnabled(
  tx: Tx,
  scope: RouteScope,
  enabled: boolean,
): Promise<RouteSetting[]> {
  return tx.query<RouteSetting>(
    `UPDATE currency_routes r SET enabled = ? WHERE ${IN_SCOPE} ${enabled ? `AND ${HAS_FEE}` : ''}
     RETURNING ${SETTING}`,
    [enabled, ...scopeValues(scope)],
  );
}

/**
 * SQL over a route r: whether a default fee rule is in force for it, so that GET /fees has one for
 * every account.
 */
const HAS_FEE = `EXISTS (SELECT FROM fee_rules f
  WHERE f.account_id IS NULL
    AND (f.provider, f.direction, f.currency) = (r.provider, r.direction, r.currency)
    AND f.valid_from <= clock_timestamp()
    AND (f.valid_until IS NULL OR f.valid_until > clock_timestamp()))`;

/** Whether merchants can use the currency, which is when one of its networks is enabled. */
export async function hasEnabledRoute(
  tx: Tx,
  { provider, direction, currency }: Pick<CatalogueRoute, 'provider' | 'direction' | 'currency'>,
): Promise<boolean> {
  const found = await tx.query(
    `SELECT 1 FROM currency_routes
      WHERE provider = ? AND direction = ? AND currency = ? AND enabled LIMIT 1`,
    [provider, direction, currency],
  );
  return found.length > 0;
}

function scopeValues({ provider, network, currency, direction }: RouteScope) {
  return [provider, network, currency ?? null, direction ?? null];
}
