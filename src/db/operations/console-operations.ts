/** The state of the providers, the ledger check and the webhooks, over all accounts. */
import type { Mode, Owner } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { ProviderCode } from '../../domain/provider-codes';
import type { Db } from '../transaction';
import type { StatementKey } from '../books/provider-statements';

export interface StatementState extends StatementKey {
  readAt: Date | null;
  trouble: string | null;
}

export async function listStatementStates(db: Db): Promise<StatementState[]> {
  const sql = `SELECT provider, mode, kind, read_at, trouble FROM provider_statements
    ORDER BY mode, provider, kind LIMIT 100`;
  return db.query<StatementState>(sql);
}

/** The money of one currency and mode. Null if nothing was counted on that side. */
export interface Position {
  mode: Mode;
  currency: string;
  available: Amount | null;
  reserved: Amount | null;
  /** The amount that all providers hold, less what is owed to all merchants. */
  difference: Amount;
  providers: {
    provider: ProviderCode;
    received: string;
    refunded: string;
    sent: string;
    held: string;
  }[];
  countedAt: Date;
}

/** The positions that the last reconciliation counted (countPositions). */
export async function listPositions(db: Db): Promise<Position[]> {
  return db.query<Position>(
    `SELECT mode, currency, m.available, m.reserved,
            coalesce(p.held, 0) - coalesce(m.available + m.reserved, 0) AS difference,
            coalesce(p.providers, '[]') AS providers, coalesce(m.counted_at, p.counted_at) AS counted_at
       FROM merchant_positions m
       FULL JOIN (
         SELECT mode, currency, sum(received - refunded - sent) AS held, max(counted_at) AS counted_at,
                jsonb_agg(jsonb_build_object('provider', provider, 'received', received::text,
                  'refunded', refunded::text, 'sent', sent::text,
                  'held', (received - refunded - sent)::text) ORDER BY provider) AS providers
           FROM provider_positions GROUP BY mode, currency) AS p USING (mode, currency)
      ORDER BY mode, currency LIMIT 200`,
  );
}

/** Counts stop here. */
export const BACKLOG_MAX = 200;

const ENDPOINTS_COUNTED_MAX = 500;
const ENDPOINTS_SHOWN_MAX = 100;

/** An endpoint with waiting deliveries. */
export interface Backlog extends Owner {
  endpointId: string;
  url: string;
  enabled: boolean;
  timeoutsInARow: number;
  waiting: number;
}

/**
 * Endpoints with waiting deliveries, the longest backlog first. The query jumps from endpoint to
 * endpoint in the index.
 */
export async function listBacklogs(db: Db): Promise<Backlog[]> {
  return db.query<Backlog>(
    `WITH RECURSIVE waiting(id) AS (
       (SELECT endpoint_id FROM webhook_deliveries WHERE status = 'pending'
         ORDER BY endpoint_id LIMIT 1)
       UNION ALL
       SELECT (SELECT endpoint_id FROM webhook_deliveries
                WHERE status = 'pending' AND endpoint_id > waiting.id
                ORDER BY endpoint_id LIMIT 1)
         FROM waiting WHERE waiting.id IS NOT NULL
     ), counted AS (
       SELECT w.id, n.waiting
         FROM (SELECT id FROM waiting WHERE id IS NOT NULL LIMIT ${ENDPOINTS_COUNTED_MAX}) AS w
        CROSS JOIN LATERAL (
          SELECT count(*)::integer AS waiting FROM (
            SELECT FROM webhook_deliveries WHERE endpoint_id = w.id AND status = 'pending'
             LIMIT ${BACKLOG_MAX}) AS found) AS n
        ORDER BY n.waiting DESC LIMIT ${ENDPOINTS_SHOWN_MAX}
     )
     SELECT e.id AS endpoint_id, e.account_id, e.mode, e.url, e.enabled, e.timeouts_in_a_row,
            c.waiting
       FROM counted c JOIN webhook_endpoints e ON e.id = c.id
      ORDER BY c.waiting DESC, e.id`,
  );
}
