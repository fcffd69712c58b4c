/** GET /payouts/{id}/dossier and GET /signing_keys: what a dossier shows, and how it is checked offline. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { sealAuditLog } from '../../../activities/seal-audit-log';
import { type DossierError, verifyDossier } from '../../../clients/typescript/src/dossier';
import { appendAudit } from '../../../src/db/audit/audit-log';
import { createEvidenceKey } from '../../../src/platform/lib/evidence-key';
import type { PayoutDossierObject } from '../../../src/features/payouts/payout-dossiers-contract';
import { checkContract } from '../../support/merchant/contract';
import {
  buildPayoutMoney,
  completePayout,
  fund,
  reservePayout,
} from '../../support/merchant/ledger';
import { makeUser } from '../../support/merchant/page-client';
import { started } from '../../support/started';
import { startHarness } from '../http-harness';

const SECRET = 'the signing key of the tests of dossiers, long enough';
const KEY = createEvidenceKey(SECRET);
const EARLIER = createEvidenceKey('an earlier signing key of these tests, long');
const KEYS = [KEY.publicKey];

const harness = started(startHarness);
const gateway = started(() =>
  harness.startGateway({
    env: { EVIDENCE_SIGNING_KEY: SECRET, EVIDENCE_PUBLIC_KEYS_EARLIER: EARLIER.publicKey },
  }),
);

let secret: string;
let payoutId: string;
let operator: string;

beforeAll(async () => {
  const { owner } = harness;
  const accountId = await harness.createAccount();
  ({ secret } = await harness.createKey({ accountId, mode: 'test' }));
  const key = { accountId, mode: 'test', currency: 'USDT' } as const;
  const payout = buildPayoutMoney('25', { service: '0.25', network: '1' });
  payoutId = payout.id;
  await fund(owner, key, '100');
  await owner.query(
    `INSERT INTO idempotency_keys (account_id, mode, key, body_hash, object_id, state, lease_until)
     VALUES (?, 'test', 'order-1', decode(repeat('ab', 32), 'hex'), ?, 'running', now())`,
    [accountId, payoutId],
  );
  await reservePayout(owner, key, payout);
  await completePayout(owner, key, payout);
  await owner.query('DELETE FROM idempotency_keys');
  const { id, email } = await makeUser(owner, 'operator', 'reviewer');
  operator = email;
  await owner.query(
    `INSERT INTO payout_decisions (id, payout_id, kind, user_id, email, outcome, decided_at)
     VALUES ('dec_1', ?, 'approve', ?, ?, 'applied', now())`,
    [payoutId, id, email],
  );
  for (const [via, actor] of [
    ['console', email],
    ['dashboard', 'ada@shop.example'],
  ] as const) {
    await owner.transaction((tx) =>
      appendAudit(tx, {
        ...{
          actor,
          via,
          action: 'payout.approve',
          object: 'payout',
          objectId: payoutId,
          accountId,
        },
        ...{ before: null, after: { status: 'approved' }, reason: 'looks right' },
      }),
    );
  }
  await owner.query(
    `INSERT INTO screening_answers (account_id, mode, object_id, destination_type, destination_value,
                                    with_beneficiary, source, source_version, verdict, reasons)
     SELECT ?, 'test', ?, 'crypto_address', '0x0', false, source, 1, verdict, '{sanctioned relative}'
       FROM (VALUES ('service', 'clear'), ('ofac', 'review')) AS answer(source, verdict)`,
    [accountId, payoutId],
  );
  await owner.query(
    `INSERT INTO webhook_endpoints (id, account_id, mode, url, secret_sealed, secret_key_id)
     VALUES ('we_1', ?, 'test', 'https://shop.example/', '\\x00', 'key')`,
    [accountId],
  );
  await owner.query(
    `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, finished_at, check_at)
     SELECT 'whd_1', id, 'we_1', 'succeeded', now(), now() FROM events
      WHERE object_id = ? AND sequence = 2`,
    [payoutId],
  );
  await owner.query(`INSERT INTO webhook_attempts (delivery_id, number, manual, url, outcome, status)
    VALUES ('whd_1', 1, false, 'https://shop.example/', 'succeeded', 200)`);
  await sealAuditLog({ db: owner, evidenceKey: null });
});

async function download(id = payoutId, key = secret) {
  const response = await fetch(`${gateway.url}/api/v1/payouts/${id}/dossier`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { status, headers } = response;
  const text = await response.text();
  checkContract('GET', `/payouts/${id}/dossier`, { status, headers, json: JSON.parse(text) });
  return { status, text };
}

const dossierOf = (text: string) => (JSON.parse(text) as { data: PayoutDossierObject }).data;

type Forged = { payout: { amount: string }; request: object } & Record<string, unknown>;

function without(value: object, name: string): object {
  return Object.fromEntries(Object.entries(value).filter(([one]) => one !== name));
}

function fault(text: string, keys: readonly string[] = KEYS): Pick<DossierError, 'code' | 'field'> {
  try {
    verifyDossier(text, keys);
  } catch (error) {
    const { code, field } = error as DossierError;
    return { code, field };
  }
  throw new Error('it was accepted');
}

test('a dossier has what was done, and is signed [endpoint GET /payouts/{id}/dossier]', async () => {
  const { status, text } = await download();
  expect(status).toBe(200);
  expect(verifyDossier(text, KEYS)).toEqual({
    payout: payoutId,
    createdAt: expect.any(String) as string,
    keyId: KEY.keyId,
  });
  expect(dossierOf(text)).toMatchObject({
    payout: { id: payoutId, amount: '25.00000000', status: 'completed' },
    request: { sha256: 'ab'.repeat(32) },
    review: { operators: [{ operator: 'operator 1', decision: 'approve', outcome: 'applied' }] },
    screening: [{ source: 'service', verdict: 'clear' }],
    postings: [{ type: 'payout_reserve' }, { type: 'payout_settlement' }],
    events: [
      { sequence: 1, deliveries: [] },
      {
        sequence: 2,
        deliveries: [{ id: 'whd_1', attempts: [{ number: 1, http_status: 200 }] }],
      },
    ],
    audit: [
      { action: 'payout.approve', personal: null, salt: null },
      { action: 'payout.approve', personal: expect.stringContaining('ada@shop.example') as string },
    ],
  });
});

test('it does not tell who of the operators decided, and why, and what a screening found', async () => {
  const { text } = await download();
  expect(text).not.toContain(operator);
  expect(text).not.toContain('sanctioned');
  expect(text).not.toContain('ofac');
  // The merchant's own reason is shown, the operator's is not.
  expect(text.match(/looks right/g)).toHaveLength(1);
});

test('another account and the other mode do not see it', async () => {
  const other = await harness.createKey({ mode: 'test' });
  expect((await download(payoutId, other.secret)).status).toBe(404);
});

test('a change of any field is refused, and the field is named', async () => {
  const { text } = await download();
  const whole = dossierOf(text);
  const { signature: _, ...content } = whole;
  const walk = (value: unknown, path: string[]): string[][] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, one]) => walk(one, [...path, name]))
      : [path];
  const paths = walk(content, []);
  expect(paths.length).toBeGreaterThan(80);
  for (const path of paths) {
    const changed = structuredClone(whole) as unknown as Record<string, unknown>;
    let at = changed;
    for (const name of path.slice(0, -1)) at = at[name] as Record<string, unknown>;
    const last = path.at(-1) ?? '';
    at[last] = typeof at[last] === 'string' ? `${at[last]}0` : 'other';
    if (path[0] === 'object') continue;
    const field = path.slice(0, 2).join('.');
    expect(fault(JSON.stringify(changed))).toEqual({ code: 'changed', field });
  }
});

test('a field that was added or removed is named', async () => {
  const { signature, ...content } = dossierOf((await download()).text);
  const { tx_hash: _, ...submission } = content.submission;
  const changed = (other: object) => fault(JSON.stringify({ ...content, ...other, signature }));
  expect(changed({ submission })).toEqual({ code: 'changed', field: 'submission.tx_hash' });
  expect(changed({ events: content.events.slice(0, 1) })).toEqual({
    code: 'changed',
    field: 'events.1',
  });
  expect(changed({ note: 'paid' })).toEqual({ code: 'changed', field: 'note' });
});

test('digests that fit a changed field do not have the signature', async () => {
  const dossier = dossierOf((await download()).text);
  const other = dossier.signature?.digests['payout.status'] ?? '';
  const text = JSON.stringify(dossier).replace(other, '0'.repeat(64));
  expect(fault(text)).toEqual({ code: 'changed', field: 'payout.status' });
  const value = KEY.sign('something else');
  const forged = { ...dossier, signature: { ...dossier.signature, value } };
  expect(fault(JSON.stringify(forged))).toEqual({ code: 'wrong_signature', field: 'signature' });
});

test.each<[what: string, forge: (dossier: Forged) => unknown, field: string]>([
  [
    'whose digest of an amount is a member of its own',
    ({ payout, ...rest }) => ({
      ...rest,
      payout: without(payout, 'amount'),
      'payout.amount': payout.amount,
    }),
    'payout.amount',
  ],
  [
    'with a changed amount and the signed one beside it',
    ({ payout, ...rest }) => ({
      ...rest,
      payout: { ...payout, amount: '1.00000000' },
      'payout.amount': payout.amount,
    }),
    'payout.amount',
  ],
  [
    'with a dotted member inside',
    ({ request, ...rest }) => ({ ...rest, request: { ...request, 'a.b': 1 } }),
    'a.b',
  ],
  ['beside a member of its own', (data) => ({ data, payout: { status: 'failed' } }), 'payout'],
  ['inside of a forged one', (data) => ({ ...data, payout: {}, data }), 'id'],
])('a signed dossier %s is refused', async (_, forge, field) => {
  const forged = forge(dossierOf((await download()).text));
  expect(fault(JSON.stringify(forged))).toEqual({ code: 'malformed', field });
});

test.each([
  [
    'another member of the signature',
    (text: string) => text.replace('"digests":', '"note":"paid","digests":'),
  ],
  ['a number for nothing', (text: string) => text.replace('"batch":null', '"batch":1e999')],
  [
    'a number that is rounded',
    (text: string) => text.replace('"number":1,', '"number":1.00000000000000001,'),
  ],
  ['more after the signature', (text: string) => text.replace('=="', '==!"')],
])('%s is refused', async (_, change) => {
  const { text } = await download();
  expect(change(text)).not.toBe(text);
  expect(() => verifyDossier(change(text), KEYS)).toThrow(Error);
});

test.each([
  ['{"object":"payout"}', 'malformed', 'object'],
  ['not JSON', 'malformed', null],
  ['{"object":"payout_dossier"}', 'not_signed', 'signature'],
])('%s is refused', (text, code, field) => {
  expect(fault(text)).toEqual({ code, field });
});

test('a member that occurs twice is refused, and other spaces are not', async () => {
  const { text } = await download();
  const twice = text.replace('"status":', '"status":"failed","status":');
  expect(fault(twice)).toEqual({ code: 'malformed', field: null });
  const indented = JSON.stringify(JSON.parse(text), null, 2);
  expect(verifyDossier(indented, KEYS)).toMatchObject({ payout: payoutId });
});

test('the key that the signature names is published, and one that it does not name is refused', async () => {
  const { text } = await download();
  expect(fault(text, [EARLIER.publicKey])).toEqual({
    code: 'unknown_key',
    field: 'signature.key_id',
  });
  const response = await fetch(`${gateway.url}/api/v1/signing_keys`);
  const { data } = (await response.json()) as { data: { key_id: string; public_key: string }[] };
  expect(data).toMatchObject([
    { key_id: KEY.keyId, public_key: KEY.publicKey, algorithm: 'Ed25519', status: 'current' },
    { key_id: EARLIER.keyId, public_key: EARLIER.publicKey, status: 'earlier' },
  ]);
  const published = data.map(({ public_key }) => public_key);
  expect(verifyDossier(text, published)).toMatchObject({ keyId: KEY.keyId });
});

test('the command checks a file without a connection', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dossier-'));
  const file = join(folder, 'payout.json');
  const { text } = await download();
  const program = ['--import', 'tsx', 'clients/typescript/src/cli/main.ts', 'verify-dossier', file];
  const run = () =>
    promisify(execFile)(process.execPath, [...program, '--public-key', KEY.publicKey]).then(
      ({ stdout }) => ({ code: 0, shown: stdout }),
      (error: unknown) => {
        const { code, stderr } = error as { code: number; stderr: string };
        return { code, shown: stderr };
      },
    );
  writeFileSync(file, text);
  expect(await run()).toEqual({ code: 0, shown: expect.stringContaining('as signed') as string });
  writeFileSync(file, text.replace('"amount":"25.00000000"', '"amount":"26.00000000"'));
  expect(await run()).toEqual({
    code: 1,
    shown: expect.stringContaining('payout.amount was changed') as string,
  });
  rmSync(folder, { recursive: true });
});
