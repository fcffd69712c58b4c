/** The copy of the providers' statements: what is noted of it once, what changes it, and what it keeps. */
import { noteDifferences } from '../../../activities/reconciliation/note-differences';
import { verifyStatements } from '../../../src/db/ledger/ledger-verify';
import { findCase, listCases } from '../../../src/db/cases/cases';
import { noteReading } from '../../../src/db/books/provider-statements';
import { newId } from '../../../src/platform/lib/new-id';
import { resolveCase } from '../../../src/features/cases/cases';
import { ago, MINUTE_MS, payout, startBooks, theyShow, TWO_HOURS_MS } from './statement-rows';
import { started } from '../../support/started';

const books = started(startBooks);

test('what an operator has resolved is no difference, until something changes', async () => {
  const { app } = books;
  const by = { actor: 'alice', reason: null };
  const resolve = async () => {
    const all = await listCases(app, false, 1_000);
    const { id } = all.find(({ objectId }) => objectId === entry.id)!;
    await resolveCase.make(app, by, { id, seen: 1 }, { resolution: 'known to the provider' });
    expect((await findCase(app, id))?.resolution).toBe('known to the provider');
  };
  const before = (await verifyStatements(app)).broken;
  const entry = await theyShow(books, { reference: 'po_resolved', state: 'pending' });
  expect(await noteDifferences(app)).toEqual({ noted: 1 });
  await resolve();
  expect(await noteDifferences(app)).toEqual({ noted: 0 });
  expect((await verifyStatements(app)).broken).toBe(before);

  await theyShow(books, { ...entry, state: 'done', changedAt: new Date(Date.now() + MINUTE_MS) });
  expect(await noteDifferences(app)).toEqual({ noted: 1 });
});

test('an answer that is older than the copy changes nothing', async () => {
  const reference = await payout(books, 'completed');
  const entry = await theyShow(books, { reference });
  await theyShow(books, { ...entry, state: 'pending' }, ago(MINUTE_MS));
  expect(await noteDifferences(books.app)).toEqual({ noted: 0 });
});

test('a provider’s odd text is kept as far as it can be', async () => {
  const { id } = await theyShow(books, {
    reference: 'po_\0\ud800',
    id: `odd\0${newId('request')}`,
  });
  await noteDifferences(books.app);
  const all = await listCases(books.app, false, 1_000);
  const found = all.filter(({ objectId }) => objectId === id.replace('\0', '\ufffd'));
  expect(found.map(({ kind }) => kind)).toEqual(['unknown_transfer']);
});

test('a statement’s place only goes forward', async () => {
  const statement = { provider: 'onchain_provider', mode: 'live', kind: 'payouts' } as const;
  const [early, late] = [ago(TWO_HOURS_MS), ago(MINUTE_MS)];
  await noteReading(books.app, statement, { changedUntil: late, readAt: late, trouble: null });
  await noteReading(books.app, statement, { changedUntil: early, readAt: null, trouble: 'away' });
  const sql = `SELECT changed_until, read_at, trouble FROM provider_statements WHERE mode = 'live'`;
  expect(await books.app.query(sql)).toEqual([
    { changedUntil: late, readAt: late, trouble: 'away' },
  ]);
});
