import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAYOUT_TRANSITIONS } from '../../../src/domain/payout';
import { markdownTable, mermaidDiagram } from '../../../src/domain/state-diagram';

const DOCUMENT = join(__dirname, '..', '..', '..', 'docs', 'states.md');
const DRAWING = /(<!-- drawn from PAYOUT_TRANSITIONS -->\n)[\s\S]*(<!-- end of drawing -->)/;

const LAMP = { off: { press: 'on', hit: 'broken' }, on: { press: 'off' }, broken: {} };

test('docs/states.md shows the table as it is (UPDATE_DOCS=1 draws it again)', () => {
  const written = readFileSync(DOCUMENT, 'utf8');
  expect(written).toMatch(DRAWING);
  const diagram = mermaidDiagram(PAYOUT_TRANSITIONS, ['requested', 'under_review']);
  const drawn = `${markdownTable(PAYOUT_TRANSITIONS)}\n\n${diagram}`;
  const current = written.replace(
    DRAWING,
    (_all, begin: string, end: string) => `${begin}\n${drawn}\n\n${end}`,
  );
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(DOCUMENT, current);
  else expect(written).toBe(current);
});

test('docs/states.md explains every trigger', () => {
  const prose = readFileSync(DOCUMENT, 'utf8');
  const triggers = new Set(
    Object.values(PAYOUT_TRANSITIONS).flatMap((edges) => Object.keys(edges)),
  );
  for (const trigger of triggers) expect(prose).toContain(`\n- \`${trigger}\`: `);
});

test('a table is drawn with its final states and the gaps left empty', () => {
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
