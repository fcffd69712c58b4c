/**
 * The steps of the bare limit: the gateway's transactions, each as one prepared call of an SQL function,
 * and the provider's HTTP API without a check of its responses.
 */
import { Pool as PostgresPool } from 'pg';
import { Pool as HttpPool, request } from 'undici';

export interface Flow {
  id: string;
  accountId: string;
}

export type FlowActivities = ReturnType<typeof createFlowActivities>;

interface Options {
  databaseUrl: string;
  providerUrl: string;
  providerKey: string;
  /** Is called after each commit of an event. */
  announceEvent: (objectId: string) => void;
}

/** `payouts` and `payments` get the rows, events and postings that the gateway writes. */
export const FLOW_SQL = `
CREATE FUNCTION bare_event(p_id text, p_account text, p_type text, p_sequence integer) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO events (id, account_id, mode, type, object_id, sequence, body)
  VALUES ('evt_' || gen_random_uuid(), p_account, 'test', p_type, p_id, p_sequence,
          convert_to(repeat('x', 800), 'UTF8'))
$$;

CREATE FUNCTION bare_response(p_id text, p_account text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO idempotency_keys (account_id, mode, key, body_hash, object_id, state, lease_until,
                                response_status, response_body, completed_at)
  VALUES (p_account, 'test', p_id, '\\x00', p_id, 'done', now(), 201,
          convert_to(repeat('x', 800), 'UTF8'), now())
$$;

CREATE FUNCTION bare_reserve(p_id text, p_account text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bare_response(p_id, p_account);
  INSERT INTO payouts (id, account_id, mode, reference, status, provider, amount, currency, network,
                       destination_type, destination_value, service_fee, network_fee, total_debit,
                       fee_terms, api_key_id, review_reasons)
  VALUES (p_id, p_account, 'test', p_id, 'under_review', 'onchain_provider', 10, 'USDT', 'tron',
          'crypto_address', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 0.1, 1, 11.1, '{}', 'key',
          '{review_all}');
  PERFORM bare_event(p_id, p_account, 'payout.under_review', 1);
  PERFORM ledger_post('txn_r' || p_id, p_id || ':reserve', p_account, 'test', 'USDT',
    'payout_reserve', 'Payout', 'payout', p_id,
    '[{"account":"available","direction":"out","amount":"11.1"},
      {"account":"reserved","direction":"in","amount":"11.1"}]');
END $$;

CREATE FUNCTION bare_move(p_id text, p_account text, p_from text, p_to text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  moved integer;
BEGIN
  UPDATE payouts SET status = p_to, sequence = sequence + 1, updated_at = clock_timestamp()
   WHERE id = p_id AND status = p_from RETURNING sequence INTO moved;
  IF moved IS NULL THEN RETURN; END IF;
  PERFORM bare_event(p_id, p_account, 'payout.' || p_to, moved);
  IF p_to <> 'completed' THEN RETURN; END IF;
  PERFORM ledger_post('txn_s' || p_id, p_id || ':settle', p_account, 'test', 'USDT',
    'payout_settlement', 'Payout', 'payout', p_id,
    '[{"account":"reserved","direction":"out","amount":"11.1"},
      {"account":"provider_clearing","direction":"in","amount":"10"},
      {"account":"fee_income","direction":"in","amount":"0.1"},
      {"account":"network_cost","direction":"in","amount":"1"}]');
END $$;

CREATE FUNCTION bare_open(p_id text, p_account text, p_url text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bare_response(p_id, p_account);
  INSERT INTO payments (id, account_id, mode, reference, status, provider, amount, currency, network,
                        fee_terms, checkout_url, api_key_id, provider_checkout_id, expires_at)
  VALUES (p_id, p_account, 'test', p_id, 'created', 'onchain_provider', 100, 'USDT', 'tron', '{}',
          p_url, 'key', p_id, now() + interval '1 hour');
  PERFORM bare_event(p_id, p_account, 'payment.created', 1);
END $$;

CREATE FUNCTION bare_receive(p_id text, p_account text, p_from text[], p_to text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  moved integer;
BEGIN
  UPDATE payments SET status = p_to, received_amount = 100, sequence = sequence + 1,
                      credited_amount = CASE p_to WHEN 'completed' THEN 100 ELSE 0 END,
                      updated_at = clock_timestamp()
   WHERE id = p_id AND status = ANY (p_from) RETURNING sequence INTO moved;
  IF moved IS NULL THEN RETURN; END IF;
  PERFORM bare_event(p_id, p_account, 'payment.' || p_to, moved);
  IF p_to <> 'completed' THEN RETURN; END IF;
  INSERT INTO payment_credits VALUES (p_id, p_id, 100, 1);
  PERFORM ledger_post('txn_c' || p_id, p_id || ':credit', p_account, 'test', 'USDT',
    'payin_settlement', 'Payment', 'payment', p_id,
    '[{"account":"provider_clearing","direction":"out","amount":"100"},
      {"account":"available","direction":"in","amount":"99"},
      {"account":"fee_income","direction":"in","amount":"1"}]');
END $$;
`;

export function createFlowActivities({
  databaseUrl,
  providerUrl,
  providerKey,
  announceEvent,
}: Options) {
  const database = new PostgresPool({ connectionString: databaseUrl, max: 20 });
  const { origin, pathname } = new URL(providerUrl);
  const provider = new HttpPool(origin, { connections: 32 });

  const sql = async (text: string, values: unknown[]): Promise<void> => {
    await database.query({ name: text, text, values });
  };
  const call = async (method: 'GET' | 'POST', path: string, body?: object): Promise<object> => {
    const response = await provider.request({
      method,
      path: `${pathname}/v1${path}`,
      headers: { authorization: `Bearer ${providerKey}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (response.statusCode >= 300) throw new Error(`${path}: ${await response.body.text()}`);
    return (await response.body.json()) as object;
  };
  const move = async ({ id, accountId }: Flow, from: string, to: string): Promise<void> => {
    await sql('SELECT bare_move($1, $2, $3, $4)', [id, accountId, from, to]);
    announceEvent(id);
  };
  const receive = ({ id, accountId }: Flow, from: string[], to: string): Promise<void> =>
    sql('SELECT bare_receive($1, $2, $3, $4)', [id, accountId, from, to]);

  return {
    reserve: async ({ id, accountId }: Flow): Promise<void> => {
      await sql('SELECT bare_reserve($1, $2)', [id, accountId]);
      announceEvent(id);
    },

    approve: (flow: Flow) => move(flow, 'under_review', 'approved'),

    submit: async (flow: Flow): Promise<void> => {
      await sql('UPDATE payouts SET submission_started_at = now() WHERE id = $1', [flow.id]);
      await call('POST', '/transfers', {
        client_reference: flow.id,
        asset: 'USDT',
        network: 'tron',
        amount: '10',
        destination: { address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', memo: null },
      });
      await move(flow, 'approved', 'processing');
    },

    /** @returns whether the payout is completed */
    checkTransfer: async (flow: Flow): Promise<boolean> => {
      const { transfer } = (await call('GET', `/transfers/${flow.id}`)) as {
        transfer: { status: string };
      };
      if (transfer.status !== 'confirmed') return false;
      await move(flow, 'processing', 'completed');
      return true;
    },

    openCheckout: async (flow: Flow): Promise<void> => {
      const { checkout } = (await call('POST', '/checkouts', {
        client_reference: flow.id,
        asset: 'USDT',
        network: 'tron',
        amount: '100',
        expires_at: new Date(Date.now() + 3_600_000).toISOString(),
        success_url: null,
        cancel_url: null,
        description: null,
        scenario: null,
      })) as { checkout: { url?: string } };
      await sql('SELECT bare_open($1, $2, $3)', [flow.id, flow.accountId, checkout.url ?? '']);
    },

    /** @returns whether the payment is completed */
    checkCheckout: async (flow: Flow): Promise<boolean> => {
      const { checkout } = (await call('GET', `/checkouts/${flow.id}`)) as {
        checkout: { deposits: { state: string }[] };
      };
      if (checkout.deposits.length === 0) return false;
      const isPaid = checkout.deposits.every(({ state }) => state === 'final');
      if (isPaid) await receive(flow, ['created', 'processing'], 'completed');
      else await receive(flow, ['created'], 'processing');
      return isPaid;
    },

    post: async (url: string, body: string): Promise<void> => {
      const headers = { 'content-type': 'application/json' };
      const response = await request(url, { method: 'POST', headers, body });
      await response.body.dump();
      if (response.statusCode >= 300) throw new Error(`the receiver: ${response.statusCode}`);
    },
  };
}
