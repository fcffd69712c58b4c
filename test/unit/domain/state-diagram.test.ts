import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WEBHOOK_DELIVERY_TRANSITIONS } from '../../../src/domain/webhook-delivery';
import { PAYMENT_TRANSITIONS } from '../../../src/domain/payment';
import { PAYOUT_TRANSITIONS } from '../../../src/domain/payout';
import { PAYOUT_BATCH_TRANSITIONS } from '../../../src/domain/payout-batch';
import { markdownTable, mermaidDiagram } from '../../../src/domain/state-diagram';

const DOCUMENT = join(__dirname, '..', '..', '..', 'docs', 'states.md');

const TABLES = [
  { name: 'PAYOUT_TRANSITIONS', table: PAYOUT_TRANSITIONS, first: ['requested', 'under_review'] },
  {
    name: 'PAYOUT_BATCH_TRANSITIONS',
    table: PAYOUT_BATCH_TRANSITIONS,
    first: ['requested', 'under_review'],
  },
  { name: 'PAYMENT_TRANSITIONS', table: PAYMENT_TRANSITIONS, first: ['created'] },
  {
    name: 'WEBHOOK_DELIVERY_TRANSITIONS',
    table: WEBHOOK_DELIVERY_TRANSITIONS,
    first: ['pending', 'skipped'],
  },
];

const LAMP = { off: { press: 'on', hit: 'broken' }, on: { press: 'off' }, broken: {} };

describe.each(TABLES)('docs/states.md and $name', ({ name, table, first }) => {
  test('shows the current table (UPDATE_DOCS=1 updates it)', () => {
    const drawing = new RegExp(`(<!-- generated from ${name} -->\\n)[\\s\\S]*?(<!-- end -->)`);
    const written = readFileSync(DOCUMENT, 'utf8');
    expect(written).toMatch(drawing);
    const drawn = `${markdownTable(table)}\n\n${mermaidDiagram(table, first)}`;
    const current = written.replace(
      drawing,
      (_all, begin: string, end: string) => `${begin}\n${drawn}\n\n${end}`,
    );
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(DOCUMENT, current);
    else expect(written).toBe(current);
  });

  test('explains every trigger', () => {
    const prose = readFileSync(DOCUMENT, 'utf8');
    const chapter =
      prose.split(/^## /m).find((part) => part.includes(`generated from ${name} -->`)) ?? '';
    const triggers = new Set(Object.values(table).flatMap((edges) => Object.keys(edges)));
    for (const trigger of triggers) expect(chapter).toContain(`\n- \`${trigger}\`: `);
  });
});

test('a table marks final states and leaves impossible transitions empty', () => {
  expect(markdownTable(LAMP).split('\n')).toEqual([
    '| state | `press` | `hit` |',
    '| --- | --- | --- |',
    '| off | on | broken |',
    '| on | off |  |',
    '| broken (final) |  |  |',
  ]);
  expect(mermaidDiagram(LAMP, ['off']).split('\n')).toEqual([
    '```mermaid',
    'stateDiagram-v2',
    '    [*] --> off',
    '    off --> on: press',
    '    off --> broken: hit',
    '    on --> off: press',
    '    broken --> [*]',
    '```',
  ]);
});
