/** The chain of the audit log: what the sealer keeps, and what the check finds. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sealAuditLog } from '../../../activities/seal-audit-log';
import {
  type AuditHead,
  nextHash,
  NO_HASH,
  sealBatch,
  signHead,
} from '../../../src/db/audit/audit-chain';
import { verifyAuditChain } from '../../../src/db/audit/audit-verify';
import { connect } from '../../../src/db/connect';
import { withClient } from '../../../src/db/provision';
import { appendAudit } from '../../../src/db/audit/audit-log';
import type { Db, Tx } from '../../../src/db/transaction';
import { createEvidenceKey } from '../../../src/platform/lib/evidence-key';
import { Admin } from '../admin-harness';
import { openTestDatabase } from '../../support/servers/database';
import { waitThroughFaults } from '../../support/wait-for';

const KEY = createEvidenceKey('a signing key of these tests: long enough');
const SIZES = { owner: 2, worker: 4 };

let database: Awaited<ReturnType<typeof openTestDatabase<'owner' | 'worker'>>>;
let db: Db;

beforeEach(async () => {
  database = await openTestDatabase(SIZES);
  db = database.worker;
});

afterEach(() => database.stop());

const seal = (evidenceKey: typeof KEY | null = null) => sealAuditLog({ db, evidenceKey });
const verify = (keptHeads: AuditHead[] = [], publicKeys: string[] = []) =>
  verifyAuditChain(db, { keptHeads, publicKeys });

function append(tx: Tx, objectId: string): Promise<void> {
  return appendAudit(tx, {
    actor: 'alice@example.com',
    via: 'console',
    address: '203.0.113.7',
    action: 'case.resolve',
    object: 'case',
    objectId,
    accountId: 'acc_1',
    before: { open: true, facts: 2 },
    after: { open: false, facts: 2 },
    reason: 'paid twice, one sent back',
  });
}

async function write(...objectIds: string[]): Promise<void> {
  for (const id of objectIds) await db.transaction((tx) => append(tx, id));
}

async function idOf(objectId: string): Promise<string> {
  const rows = await db.query<{ id: string }>('SELECT id FROM audit_log WHERE object_id = ?', [
    objectId,
  ]);
  return rows[0]?.id ?? '';
}

/** As the owner of the database, with everything out of the way that would refuse it. */
async function forge(sql: string): Promise<void> {
  await withClient(database.ownerUrl, async (superuser) => {
    await superuser.query("SET session_replication_role = 'replica'");
    await superuser.query(sql);
  });
}

/** The objects of the entries in the order of their seals. */
async function order(): Promise<string[]> {
  const rows = await db.query<{ objectId: string }>(
    `SELECT l.object_id FROM audit_seals s JOIN audit_log l ON l.id = s.entry_id ORDER BY s.sequence`,
  );
  return rows.map(({ objectId }) => objectId);
}

describe('the sealer', () => {
  test('gives an entry that commits late a later place, and loses none', async () => {
    await db.transaction(async (tx) => {
      await append(tx, 'late');
      await write('early');
      expect((await seal()).sealed).toBe(1);
    });
    expect((await seal()).sealed).toBe(1);
    expect(await order()).toEqual(['early', 'late']);
    expect(Number(await idOf('late'))).toBeLessThan(Number(await idOf('early')));
    expect(await verify()).toMatchObject({ ok: true, sealed: 2, unsealed: 0, problems: [] });
  });

  test('two at once seal each entry once, in one chain', async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `case_${index}`);
    await db.transaction(async (tx) => {
      for (const id of ids) await append(tx, id);
    });
    const until = async (): Promise<void> => {
      await waitThroughFaults('all entries have a seal', async () => {
        await sealBatch(db, 10);
        return (await db.query('SELECT FROM audit_unsealed')).length === 0;
      });
    };
    await Promise.all([until(), until(), until()]);
    expect(await order()).toEqual(ids);
    expect(await verify()).toMatchObject({ ok: true, sealed: 300 });
  });

  test('that is killed in the middle leaves a chain that the next one goes on with', async () => {
    const ids = Array.from({ length: 2_000 }, (_, index) => `case_${index}`);
    await db.transaction(async (tx) => {
      for (const id of ids) await append(tx, id);
    });
    const isDone = async () => (await db.query('SELECT FROM audit_unsealed')).length === 0;
    const killing = (async () => {
      let killed = 0;
      while (killed < 5 && !(await isDone().catch(() => false))) {
        killed += await withClient(database.ownerUrl, async (owner) => {
          const { rows } = await owner.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE datname = current_database() AND application_name = 'test-sealer'
                AND xact_start IS NOT NULL`,
          );
          return rows.length;
        });
      }
      return killed;
    })();
    const sealer = connect({ url: database.workerUrl, size: 1, applicationName: 'test-sealer' });
    await waitThroughFaults('all entries have a seal', async () => {
      await sealBatch(sealer, 20);
      return isDone();
    });
    await sealer.destroy();
    expect(await killing).toBeGreaterThan(0);
    expect(await order()).toEqual(ids);
    expect(await verify()).toMatchObject({ ok: true, sealed: 2_000 });
  });

  test('takes nothing from an entry that was rolled back', async () => {
    const failed = db.transaction(async (tx) => {
      await append(tx, 'never');
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await write('one');
    expect((await seal()).sealed).toBe(1);
    expect(await verify()).toMatchObject({ ok: true, sealed: 1 });
  });
});

describe('a forged log', () => {
  beforeEach(async () => {
    await write('a', 'b', 'c', 'd', 'e');
    await sealBatch(db);
  });

  const B = `object_id = 'b'`;
  test.each([
    ['another person', `UPDATE audit_log SET actor = 'mallory' WHERE ${B}`, /changed: actor/],
    ['another reason', `UPDATE audit_log SET reason = 'other' WHERE ${B}`, /changed: .*reason/],
    ['another state', `UPDATE audit_log SET after = '{}' WHERE ${B}`, /changed: .*after/],
    ['another time', `UPDATE audit_log SET at = at + interval '1 us' WHERE ${B}`, /changed: at/],
    ['another object', `UPDATE audit_log SET object = 'key' WHERE ${B}`, /changed: object/],
    ['a false erasure', `UPDATE audit_log SET reason = NULL WHERE ${B}`, /changed: .*reason/],
  ])('%s is found, with its entry', async (_, sql, message) => {
    const id = await idOf('b');
    await forge(sql);
    const { ok, problems } = await verify();
    expect(ok).toBe(false);
    expect(problems).toEqual([
      expect.objectContaining({
        kind: 'changed',
        sequence: 2,
        entry_id: id,
        action: 'case.resolve',
        at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        message: expect.stringMatching(message) as string,
      }),
    ]);
  });

  test('a deleted entry is named by its seal', async () => {
    const id = await idOf('c');
    await forge(`DELETE FROM audit_log WHERE object_id = 'c'`);
    expect((await verify()).problems).toEqual([
      expect.objectContaining({
        kind: 'missing',
        sequence: 3,
        entry_id: id,
        action: 'case.resolve',
      }),
    ]);
  });

  test('an entry that was deleted with its seal leaves a gap in the chain', async () => {
    const id = await idOf('c');
    await forge(
      `DELETE FROM audit_log WHERE id = ${id}; DELETE FROM audit_seals WHERE entry_id = ${id}`,
    );
    expect((await verify()).problems).toEqual([
      expect.objectContaining({
        kind: 'missing',
        sequence: 3,
        message: expect.stringContaining(`after entry ${await idOf('b')}`) as string,
      }),
    ]);
  });

  test('an entry that was deleted before it had a seal is named', async () => {
    await write('f');
    const id = await idOf('f');
    await forge(`DELETE FROM audit_log WHERE id = ${id}`);
    await seal();
    expect((await verify()).problems).toEqual([
      expect.objectContaining({ kind: 'missing', entry_id: id, action: 'case.resolve' }),
    ]);
  });

  test('an entry that was inserted past the trigger is never sealed, and named', async () => {
    await forge(`INSERT INTO audit_log (actor, action, object, object_id)
                 VALUES ('bob', 'payouts.resume', 'payout_pause', 'global')`);
    await seal();
    expect((await verify()).problems).toEqual([
      expect.objectContaining({
        kind: 'inserted',
        entry_id: await idOf('global'),
        action: 'payouts.resume',
      }),
    ]);
  });

  test('an entry of another time that was inserted afterwards is named', async () => {
    await database.owner.query(`INSERT INTO audit_log (actor, at, action, object, object_id)
      VALUES ('bob', now() - interval '2 days', 'payouts.resume', 'payout_pause', 'global')`);
    await seal();
    expect((await verify()).problems).toEqual([
      expect.objectContaining({ kind: 'inserted', sequence: 6, entry_id: await idOf('global') }),
    ]);
  });

  test('an entry that was changed with its seal breaks the chain there', async () => {
    const id = await idOf('b');
    await forge(`UPDATE audit_seals SET entry = replace(entry, 'case.resolve', 'case.open') WHERE entry_id = ${id};
                 UPDATE audit_log SET action = 'case.open' WHERE id = ${id}`);
    expect((await verify()).problems).toEqual([
      expect.objectContaining({ kind: 'seal_changed', sequence: 2, entry_id: id }),
    ]);
  });

  test('two entries whose seals were exchanged are named', async () => {
    const [b, c] = [await idOf('b'), await idOf('c')];
    await forge(`UPDATE audit_seals SET entry_id = CASE entry_id WHEN ${b} THEN -1 ELSE ${b} END
                  WHERE entry_id = ${b};
                 UPDATE audit_seals SET entry_id = ${b} WHERE entry_id = ${c};
                 UPDATE audit_seals SET entry_id = ${c} WHERE entry_id = -1`);
    const named = (await verify()).problems.map(({ entry_id }) => entry_id);
    expect(named).toEqual(expect.arrayContaining([b, c]));
  });

  test('a chain without its end is found with a head that was kept, and only with it', async () => {
    await write('f');
    const { head } = await sealAuditLog({ db, evidenceKey: KEY });
    const kept = head as AuditHead;
    await forge(`DELETE FROM audit_log WHERE object_id IN ('e', 'f');
                 DELETE FROM audit_seals WHERE sequence > 4; DELETE FROM audit_heads`);
    expect(await verify()).toMatchObject({ ok: true, sealed: 4 });
    const { problems } = await verify([kept], [KEY.publicKey]);
    expect(problems).toEqual([expect.objectContaining({ kind: 'truncated', sequence: 5 })]);
    expect(problems[0]?.message).toContain(`ends with entry ${await idOf('d')}`);
  });

  test('a chain that was written anew is found with a head that was kept', async () => {
    const { head } = await sealAuditLog({ db, evidenceKey: KEY });
    await forge(`UPDATE audit_log SET actor = 'mallory' WHERE ${B}; DELETE FROM audit_seals;
                 DELETE FROM audit_heads;
                 INSERT INTO audit_unsealed (entry_id, at, action) SELECT id, at, action FROM audit_log`);
    await seal();
    expect(await verify()).toMatchObject({ ok: true, sealed: 5 });
    expect((await verify([head as AuditHead])).problems).toEqual([
      expect.objectContaining({ kind: 'rewritten', sequence: 5 }),
    ]);
  });
});

describe('the head', () => {
  /** The heads of the test are an hour older. */
  const anHourLater = () =>
    forge(`UPDATE audit_heads SET signed_at = signed_at - interval '1 hour'`);

  test('is signed once an hour, also of a chain that has not grown', async () => {
    await write('a');
    expect((await seal(KEY)).head).toMatchObject({ sequence: 1 });
    await write('b');
    expect((await seal(KEY)).head).toBeNull();
    await anHourLater();
    expect((await seal(KEY)).head).toMatchObject({ sequence: 2 });
    await anHourLater();
    expect((await seal(KEY)).head).toMatchObject({ sequence: 2 });
    expect(await db.query('SELECT FROM audit_heads')).toHaveLength(3);
  });

  test('says until when the chain is proven, and what is cut off after it is said to be open', async () => {
    await write('a', 'b');
    const first = await seal(KEY);
    await write('c', 'd');
    await seal();
    const [entry] = await db.query<{ at: string }>(
      `SELECT entry::jsonb ->> 'at' AS at FROM audit_seals WHERE sequence = 1`,
    );
    const period = { proven_from: entry?.at, proven_until: first.head?.signed_at };
    expect(await verify([], [KEY.publicKey])).toMatchObject({ ok: true, ...period, not_proven: 2 });
    // Nobody knows the key: a head in the database could be anybody's, and one that was kept is not.
    expect(await verify()).toMatchObject({ ok: true, proven_until: null, not_proven: 4 });
    const kept = [first.head as AuditHead];
    expect(await verify(kept)).toMatchObject({ ok: true, ...period, not_proven: 2 });
    await forge(`DELETE FROM audit_log WHERE object_id = 'd';
                 DELETE FROM audit_seals WHERE sequence > 3`);
    expect(await verify(kept)).toMatchObject({ ok: true, ...period, not_proven: 1 });
    await forge(`UPDATE audit_log SET reason = 'other' WHERE object_id = 'a'`);
    expect(await verify(kept)).toMatchObject({ ok: false, proven_until: null });
  });

  test('is checked with its key after another one took its place', async () => {
    await write('a');
    const { head } = await seal(KEY);
    expect(head).toMatchObject({ object: 'audit_head', sequence: 1, key_id: KEY.keyId });
    await write('b');
    await seal();
    const next = createEvidenceKey('the next signing key of these tests, long');
    await forge('DELETE FROM audit_heads');
    expect(await signHead(db, next)).toMatchObject({ sequence: 2, key_id: next.keyId });
    const checked = await verify([head as AuditHead], [next.publicKey, KEY.publicKey]);
    expect(checked).toMatchObject({ ok: true, heads: 2, signatures_not_checked: 0 });
    expect(await verify([head as AuditHead], [next.publicKey])).toMatchObject({
      ok: true,
      signatures_not_checked: 1,
    });
  });

  test('with another content than was signed is found', async () => {
    await write('a', 'b');
    const { head } = await seal(KEY);
    const forged = { ...(head as AuditHead), sequence: 1, hash: 'ab'.repeat(32) };
    const { problems } = await verify([forged], [KEY.publicKey]);
    expect(problems.map(({ kind }) => kind)).toEqual(['head_forged', 'rewritten']);
  });

  test('has no signature without a key', async () => {
    await write('a');
    expect((await seal()).head).toMatchObject({ sequence: 1, key_id: null, signature: null });
  });

  test('of a log without entries is not made', async () => {
    expect(await seal(KEY)).toEqual({ sealed: 0, head: null });
    expect(await verify()).toMatchObject({ ok: true, sealed: 0, head: { sequence: 0 } });
  });
});

describe('the admin command', () => {
  let admin: Admin;
  let folder: string;
  beforeEach(() => {
    admin = new Admin(database.adminUrl, {
      EVIDENCE_SIGNING_KEY: 'a signing key of these tests: long enough',
    });
    folder = mkdtempSync(join(tmpdir(), 'head-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  test('shows the head, checks the chain with it, and names what was forged', async () => {
    expect(await admin.refusal(1, 'audit', 'head')).toContain('There is no head yet');
    await write('a', 'b', 'c');
    await seal(KEY);
    const shown = await admin.run('audit', 'head', '--json');
    const file = join(folder, 'head.json');
    writeFileSync(file, shown.stdout);
    const held = await admin.run('audit', 'verify', '--head', file);
    expect(held).toMatchObject({ code: 0 });
    expect(held.stdout).toContain('The chain holds');
    expect(held.stdout).toMatch(
      /No entry is missing from 20\S+Z until 20\S+Z, .* there are 0 entries/,
    );
    expect(await admin.json('audit', 'verify', '--head', file)).toMatchObject({
      ok: true,
      heads: 2,
      signatures_not_checked: 0,
    });
    const id = await idOf('b');
    await forge(`UPDATE audit_log SET actor = 'mallory' WHERE id = ${id}`);
    const found = await admin.run('audit', 'verify', '--head', file);
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(new RegExp(`entry ${id} \\(case.resolve, 20.*was changed: actor`));
    expect(found.stderr).toContain('The audit log does not hold');
  });

  test('refuses what is no head and no public key', async () => {
    const file = join(folder, 'other.json');
    writeFileSync(file, '{"object":"payout"}');
    expect(await admin.refusal(2, 'audit', 'verify', '--head', file)).toContain('is not a head');
    expect(await admin.refusal(2, 'audit', 'verify', '--head', '/nowhere.json')).toContain(
      'cannot be read',
    );
    const refused = await admin.refusal(2, 'audit', 'verify', '--public-key', 'AAAA');
    expect(refused).toContain('not a public key of 32 bytes');
  });

  test('erases the personal part of an entry, and the chain still holds', async () => {
    await write('a', 'b');
    const id = await idOf('a');
    const erase = ['audit', 'erase', id, '--by', 'carol', '--reason', 'request of the person'];
    expect(await admin.refusal(1, ...erase)).toContain('not in the chain yet');
    await seal();
    expect(await admin.json(...erase)).toEqual({ id });
    const rows = await db.query(
      `SELECT actor, address, before, after, reason, object_id FROM audit_log WHERE id = ${id}`,
    );
    const nothing = { address: null, before: null, after: null, reason: null };
    expect(rows).toEqual([{ actor: '(erased)', ...nothing, objectId: 'a' }]);
    expect(await verify()).toMatchObject({ ok: true, erased: 1, unsealed: 1 });
    await seal();
    expect(await verify()).toMatchObject({ ok: true, sealed: 3, erased: 1 });
    expect(await admin.list('audit', 'list', '--action', 'audit.erase')).toMatchObject([
      { by: 'carol', object_id: id, account_id: 'acc_1', reason: 'request of the person' },
    ]);
    expect(await admin.refusal(1, ...erase)).toContain('already erased');
    expect(await admin.refusal(1, 'audit', 'erase', '99', '--reason', 'x')).toContain(
      'Audit entry 99 does not exist',
    );
    await forge(`UPDATE audit_log SET reason = 'something else' WHERE id = ${id}`);
    expect((await verify()).problems).toMatchObject([{ kind: 'changed', entry_id: id }]);
  });

  test.each([
    ...['api_key.create', 'api_key.rotate', 'user.join', 'user.change_role', 'user.enable'],
    ...['invitation.accept', 'user.reset_password', 'user.reset_second_factor'],
  ])('does not erase %s, which decides who may approve a payout', async (action) => {
    await database.owner.query(
      `INSERT INTO audit_log (actor, action, object, object_id) VALUES ('alice@example.com', ?, 'key', 'key_1')`,
      [action],
    );
    await seal();
    const refused = await admin.refusal(1, 'audit', 'erase', await idOf('key_1'), '--reason', 'x');
    expect(refused).toContain('decides who may approve payouts');
  });
});

test('an erasure without an entry that records it is found', async () => {
  await write('a', 'b');
  await seal();
  const id = await idOf('a');
  // The functions of the erasure allow it to the owner; what is missing is the record.
  await database.owner
    .query(`UPDATE audit_log SET actor = '(erased)', address = NULL, before = NULL,
    after = NULL, reason = NULL WHERE id = ${id}`);
  await database.owner.query(`UPDATE audit_seals SET salt = NULL WHERE entry_id = ${id}`);
  expect((await verify()).problems).toMatchObject([
    {
      kind: 'changed',
      entry_id: id,
      message: expect.stringContaining('without an entry') as string,
    },
  ]);
});

test.each([
  'UPDATE audit_seals SET entry_id = entry_id + 1',
  'DELETE FROM audit_seals',
  'TRUNCATE audit_seals',
  "UPDATE audit_heads SET signature = 'x'",
  'DELETE FROM audit_heads',
])('the owner of the schema cannot: %s', async (sql) => {
  await write('a');
  await seal(KEY);
  await expect(database.owner.query(sql)).rejects.toThrow('the audit log is append-only');
});

test('a hash is that of the previous one and of the text', async () => {
  await write('a');
  await seal();
  const [first] = await db.query<{ entry: string; hash: Buffer }>(
    'SELECT entry, hash FROM audit_seals',
  );
  expect(first?.hash).toEqual(nextHash(NO_HASH, first?.entry ?? ''));
  expect(JSON.parse(first?.entry ?? '')).toMatchObject({ object_id: 'a', account_id: 'acc_1' });
  expect(first?.entry).not.toContain('alice');
});
