/**
 * What docs/onchain-provider.md promises, asked of any program that claims to speak it. It needs nobody who pays a
 * checkout, so what a deposit becomes is not among the checks.
 */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { setTimeout as wait } from 'node:timers/promises';
import { wallClockMs } from '../../platform/lib/wall-clock';

export interface ProviderUnderTest {
  /** Without `/v1`. */
  url: string;
  apiKey: string;
  asset: string;
  network: string;
  /** What each transfer and checkout is about, with 8 decimals. */
  amount: string;
  /** Who receives the transfers. */
  address: string;
  /** How long a transfer may take to become final. */
  waitMs: number;
}

export interface CheckResult {
  promise: string;
  /** Null: it is kept. */
  failure: string | null;
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

type Ask = (path: string, body?: object, key?: string) => Promise<Answer>;

interface Kit extends ProviderUnderTest {
  ask: Ask;
  order: (changes?: object) => Record<string, unknown> & { client_reference: string };
  checkout: (changes?: object) => Record<string, unknown> & { client_reference: string };
}

const ANSWER_BYTES_MAX = 256 * 1_024;
const DEADLINE_MS = 10_000;
const LOOK_MS = 500;
const AMOUNT = /^\d{1,18}(\.\d{1,8})?$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export async function checkProvider(provider: ProviderUnderTest): Promise<CheckResult[]> {
  const { url, apiKey, asset, network, amount, address } = provider;
  const what = () => ({
    client_reference: `test_${randomBytes(12).toString('hex')}`,
    ...{ asset, network, amount },
  });
  const page = {
    ...{ success_url: null, cancel_url: null, description: null, scenario: null },
    ...{ merchant_name: 'Ada’s shop', merchant_logo_url: 'https://shop.example/logo.png' },
  };
  const expires = new Date(wallClockMs() + 3_600_000).toISOString();
  const kit: Kit = {
    ...provider,
    ask: (path, body, key = apiKey) => ask(`${url}/v1/${path}`, body, key),
    order: (changes) => ({ ...what(), destination: { address, memo: null }, ...changes }),
    checkout: (changes) => ({ ...what(), expires_at: expires, ...page, ...changes }),
  };
  const results: CheckResult[] = [];
  for (const [promise, keep] of Object.entries(PROMISES)) {
    const failure = await keep(kit).then(() => null, String);
    results.push({ promise, failure });
  }
  return results;
}

async function ask(url: string, body: object | undefined, key: string): Promise<Answer> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(DEADLINE_MS),
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (Buffer.byteLength(text) >= ANSWER_BYTES_MAX) throw new Error(`${url} answers with 256 KiB`);
  return { status: response.status, body: JSON.parse(text) as Answer['body'] };
}

const PROMISES: Record<string, (kit: Kit) => Promise<void>> = {
  'a wrong key is answered with 401': async ({ ask }) => {
    for (const path of ['transfers/x', 'checkouts/x', 'transfers', 'checkouts', 'fee-estimates']) {
      refuses(await ask(path, undefined, 'wrong'), 401, 'unauthorized');
    }
  },
  'an unknown reference is answered with 404': async ({ ask, order, checkout }) => {
    const [transfer, other] = [order().client_reference, checkout().client_reference];
    refuses(await ask(`transfers/${transfer}`), 404, 'transfer_not_found');
    refuses(await ask(`checkouts/${other}`), 404, 'checkout_not_found');
  },
  'a malformed request is answered with 400': async ({ ask, order, checkout }) => {
    refuses(await ask('transfers', {}), 400, 'malformed_request');
    refuses(await ask('transfers', order({ amount: 5 })), 400, 'malformed_request');
    refuses(await ask('transfers', order({ client_reference: 'a b' })), 400, 'malformed_request');
    refuses(await ask('checkouts', checkout({ amount: '-1' })), 400, 'malformed_request');
    refuses(await ask('transfers?limit=0'), 400, 'malformed_request');
  },
  'a refusal is final': async ({ ask, order, checkout, network }) => {
    const one = order({ asset: 'NONE' });
    for (let times = 0; times < 2; times += 1) {
      refuses(await ask('transfers', one), 422, 'asset_not_supported');
    }
    refuses(await ask('checkouts', checkout({ asset: 'NONE' })), 422, 'asset_not_supported');
    const fee = await ask(`fee-estimates?asset=NONE&network=${network}`);
    refuses(fee, 422, 'asset_not_supported');
  },
  'a fee is estimated in the asset of the transfer': async ({ ask, asset, network }) => {
    const { status, body } = await ask(`fee-estimates?asset=${asset}&network=${network}`);
    if (status === 503) {
      equals(codeOf(body), 'price_not_configured');
      return;
    }
    equals(status, 200);
    matches(body['fee'], AMOUNT);
    equals(body['fee_asset'], asset);
  },
  'an amount with more decimals than the asset has is refused': async (kit) => {
    const { ask, asset, network, order, amount } = kit;
    const { status, body } = await ask(`fee-estimates?asset=${asset}&network=${network}`);
    if (status !== 503) equals(status, 200);
    if (Number(body['decimals'] ?? 8) >= 8) return;
    const tooFine = { amount: `${amount.slice(0, -1)}1` };
    refuses(await ask('transfers', order(tooFine)), 422, 'amount_not_representable');
  },
  'one reference is one transfer, which becomes final': async (kit) => {
    const { ask, order, waitMs } = kit;
    const one = order();
    const first = await orderOnce(kit, 'transfers', one);
    const transfer = first['transfer'] as Record<string, unknown>;
    equals(transfer['object'], 'transfer');
    for (const name of ['client_reference', 'asset', 'network', 'destination']) {
      equals(transfer[name], one[name]);
    }
    matches(transfer['amount'], AMOUNT);
    equals(Number(transfer['amount']), Number(one['amount']));
    for (const name of ['created_at', 'updated_at']) matches(transfer[name], TIME);
    const read = async () =>
      (await ask(`transfers/${one.client_reference}`)).body['transfer'] as typeof transfer;
    const giveUpAt = performance.now() + waitMs;
    let now = await read();
    while (now['status'] === 'queued' && performance.now() < giveUpAt) {
      await wait(LOOK_MS);
      now = await read();
    }
    equals(now['status'], 'confirmed');
    if (typeof now['tx_hash'] !== 'string') throw new Error('tx_hash is not set');
    const again = await ask('transfers', one);
    equals([again.status, again.body['transfer']], [200, await read()]);
  },
  'one reference is one checkout, which is cancelled while nothing has arrived': async (kit) => {
    const { ask, checkout } = kit;
    const one = checkout();
    const opened = (await orderOnce(kit, 'checkouts', one))['checkout'] as Record<string, unknown>;
    const { state, compliance, deposits, refunds } = opened;
    equals([state, compliance, deposits, refunds], ['open', 'clear', [], []]);
    const { address } = opened['deposit_address'] as { address?: string };
    if (typeof address !== 'string') throw new Error('deposit_address has no address');
    const path = `checkouts/${one.client_reference}`;
    refuses(await ask(`${path}/compliance`, { decision: 'release' }), 422, 'not_on_hold');
    for (let times = 0; times < 2; times += 1) {
      const { status, body } = await ask(`${path}/cancel`, {});
      equals([status, (body['checkout'] as typeof opened)['state']], [200, 'cancelled']);
    }
  },
  'a list has each order once, the oldest change first': async ({ ask }) => {
    for (const list of ['transfers', 'checkouts']) {
      const entries: Record<string, unknown>[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { status, body } = await ask(`${list}?limit=50${after}`);
        equals(status, 200);
        entries.push(...(body[list] as typeof entries));
        cursor = body['next_cursor'] as string | null;
      }
      const times = entries.map((one) => one['updated_at'] as string);
      equals(times, times.toSorted());
      const references = new Set(entries.map((one) => one['client_reference']));
      equals(references.size, entries.length);
      const future = new Date(wallClockMs() + 86_400_000).toISOString();
      const { body } = await ask(`${list}?updated_from=${future}`);
      equals([body[list], body['next_cursor']], [[], null]);
    }
  },
};

/** Five times at once it is one order; another order under the reference is refused. */
async function orderOnce(
  { ask }: Kit,
  path: 'transfers' | 'checkouts',
  order: { client_reference: string },
): Promise<Record<string, unknown>> {
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(path, order)));
  equals(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 201]);
  const name = path.slice(0, -1);
  const ids = new Set(answers.map(({ body }) => (body[name] as { id: string }).id));
  equals(ids.size, 1);
  const other = { ...order, amount: '987654.00000000' };
  refuses(await ask(path, other), 409, 'client_reference_conflict');
  return answers[0]?.body ?? {};
}

function codeOf(body: Answer['body']): unknown {
  return (body['error'] as { code?: unknown } | undefined)?.code;
}

function refuses({ status, body }: Answer, expected: number, code: string): void {
  equals([status, codeOf(body)], [expected, code]);
}

function matches(value: unknown, form: RegExp): void {
  if (typeof value === 'string' && form.test(value)) return;
  throw new Error(`${JSON.stringify(value)} does not have the form ${form.source}`);
}

function equals(value: unknown, expected: unknown): void {
  if (isDeepStrictEqual(value, expected)) return;
  throw new Error(`the answer is ${JSON.stringify(value)} and not ${JSON.stringify(expected)}`);
}
