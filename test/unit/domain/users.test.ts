/** The guide shows the roles of merchants as the domain has them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MERCHANT, MERCHANT_CAPABILITIES, MERCHANT_ROLES, mayDo } from '../../../src/domain/users';
import { words } from '../../../src/kit/pages/components';

const GUIDE = join(__dirname, '../../../docs/guides/people.md');
const TABLE = /(?<=<!-- roles -->\n)[\s\S]*?(?=<!-- \/roles -->)/;

function table(): string {
  const names = Object.keys(MERCHANT_CAPABILITIES) as (keyof typeof MERCHANT_CAPABILITIES)[];
  const lines = names.map((name) => [
    MERCHANT_CAPABILITIES[name],
    ...MERCHANT_ROLES.map((role) => (MERCHANT[role].includes(name) ? 'yes' : '')),
  ]);
  const head = ['May', ...MERCHANT_ROLES.map(words)];
  const all = [head, head.map(() => '---'), ...lines];
  return `\n${all.map((line) => `| ${line.join(' | ')} |`.replaceAll('|  |', '| |').replaceAll('|  |', '| |')).join('\n')}\n\n`;
}

test('docs/guides/people.md shows the table of roles (UPDATE_DOCS=1 updates it)', () => {
  const guide = readFileSync(GUIDE, 'utf8');
  const wanted = guide.replace(TABLE, table());
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(GUIDE, wanted);
  else expect(guide).toBe(wanted);
});

test('every role reads, an owner does everything, and only who pays live approves', () => {
  for (const role of MERCHANT_ROLES) {
    const may = (permission: Parameters<typeof mayDo>[1]) =>
      mayDo({ kind: 'merchant', role }, permission);
    expect([role, may('read'), may('approve')]).toEqual([role, true, may('pay')]);
  }
  expect([...MERCHANT.owner].sort()).toEqual(Object.keys(MERCHANT_CAPABILITIES).sort());
});
