/** The catalogue: the currencies and networks of each provider (decision M5). */
import type { Direction } from '../../domain/fees';
import type { ProviderCode } from '../../domain/provider-codes';
import type { CurrencyRoute } from '../../domain/route';
import type { ShortStatements } from '../short-statements';
import { preparedRows, rows, type Db, type Tx } from '../transaction';

export async function listPayoutRoutes(
  db: Db | ShortStatements,
  currency: string,
): Promise<CurrencyRoute[]> {
  return preparedRows<CurrencyRoute>(
    db,
    `SELECT provider, currency, network, min_amount, max_amount
       FROM currency_routes
      WHERE direction = 'payout' AND currency = ? AND enabled
      ORDER BY provider, network`,
    [currency],
  );
}

/** Every enabled route, both directions, in a stable order. */
export async function listRoutes(db: Db): Promise<CatalogueRoute[]> {
  return rows<CatalogueRoute>(
    db,
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
  const found = await rows(
    db,
    `SELECT 1 FROM currency_routes WHERE provider = ? AND direction = ? AND currency = ? LIMIT 1`,
    [provider, direction, currency],
  );
  return found.length > 0;
}

/** All currencies with a route, enabled or not. */
export async function listCurrencies(db: Db | Tx): Promise<string[]> {
  const found = await rows<{ currency: string }>(
    db,
    'SELECT DISTINCT currency FROM currency_routes ORDER BY currency',
  );
  return found.map(({ currency }) => currency);
}

export interface CatalogueRoute extends CurrencyRoute {
  direction: Direction;
}

export interface RouteSetting extends CatalogueRoute {
  enabled: boolean;
}

/** What a change is about; undefined: all of the network. */
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
  return rows<RouteSetting>(db, `SELECT ${SETTING} FROM currency_routes ${SETTING_ORDER}`);
}

/** As they are; nobody else changes them in the meantime. */
export async function lockRoutes(tx: Tx, scope: RouteScope): Promise<RouteSetting[]> {
  return rows<RouteSetting>(
    tx,
    `SELECT ${SETTING} FROM currency_routes WHERE ${IN_SCOPE} ${SETTING_ORDER} FOR UPDATE`,
    scopeValues(scope),
  );
}

export async function setRoutesEnabled(tx: Tx, scope: RouteScope, enabled: boolean): Promise<void> {
  await rows(tx, `UPDATE currency_routes SET enabled = ? WHERE ${IN_SCOPE}`, [
    enabled,
    ...scopeValues(scope),
  ]);
}

function scopeValues({ provider, network, currency, direction }: RouteScope) {
  return [provider, network, currency ?? null, direction ?? null];
}
