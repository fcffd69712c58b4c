/**
 * The bare limit of the reads: Koa and a prepared statement, without authentication, rate limit, log and
 * presenter. Environment: DATABASE_URL, ACCOUNT_ID.
 */
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { Pool } from 'pg';

const account = process.env['ACCOUNT_ID'] ?? '';
// The pool has as many connections as the gateway has by default.
const pool = new Pool({ connectionString: process.env['DATABASE_URL'], max: 20 });

interface Query {
  text: string;
  values: (path: string) => string[];
}

/** The queries by the beginning of the path. The SQL is the gateway's. */
const QUERIES: Readonly<Record<string, Query>> = {
  read: { text: 'SELECT * FROM payouts WHERE id = $1', values: (path) => [path.slice(6)] },
  list: {
    text: `SELECT payouts.*, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position
             FROM payouts WHERE account_id = $1 AND mode = 'test'
            ORDER BY created_at DESC, id DESC LIMIT 26`,
    values: () => [account],
  },
  balance: {
    text: `WITH held AS (
             SELECT currency, available, reserved FROM balances
              WHERE account_id = $1 AND mode = 'test'
           ), seen AS (
             SELECT currency, sum(received_amount) AS pending FROM payments
              WHERE account_id = $1 AND mode = 'test'
                AND status IN ('processing', 'on_hold') GROUP BY currency
           )
           SELECT currency, coalesce(available, 0)::numeric(38,8) AS available,
                  coalesce(reserved, 0)::numeric(38,8) AS reserved,
                  coalesce(pending, 0)::numeric(38,8) AS pending
             FROM held FULL JOIN seen USING (currency) ORDER BY currency`,
    values: () => [account],
  },
  transactions: {
    text: `SELECT t.id, t.mode, t.type, t.currency, t.description, t.posted_at,
                  json_build_object('object', t.source_object, 'id', t.source_id) AS source,
                  (SELECT json_agg(json_build_object(
                            'balance', e.account, 'direction', e.direction, 'amount', e.amount::text,
                            'balanceAfter', e.balance_after::text) ORDER BY e.line)
                     FROM ledger_entries e
                    WHERE e.transaction_id = t.id AND e.balance_after IS NOT NULL) AS entries,
                  to_char(t.posted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position
             FROM ledger_transactions t WHERE t.account_id = $1 AND t.mode = 'test'
            ORDER BY t.posted_at DESC, t.id DESC LIMIT 26`,
    values: () => [account],
  },
};

const app = new Koa();
app.use(async (ctx) => {
  const [, name = ''] = ctx.path.split('/');
  const query = QUERIES[name];
  if (query === undefined) return;
  const { rows } = await pool.query({ name, text: query.text, values: query.values(ctx.path) });
  ctx.body = { data: rows };
});
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.once('disconnect', () => process.exit(0));
