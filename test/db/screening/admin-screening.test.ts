/** The sources of the screening by the admin command: lists in both forms, and what is refused of them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireService } from '../../../src/db/screening/screening';
import { Admin, auditRows, withOptions } from '../admin-harness';
import { openTestDatabase } from '../../support/servers/database';
import { started } from '../../support/started';

const database = started(() => openTestDatabase({ owner: 2, app: 2 }));
const folder = mkdtempSync(join(tmpdir(), 'screening-'));
let admin: Admin;

beforeAll(() => {
  admin = new Admin(database.adminUrl);
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

afterEach(() => database.owner.query('DELETE FROM screening_sources'));

function file(content: string): string {
  const path = join(folder, 'list');
  writeFileSync(path, content);
  return path;
}

function importing(content: string, ...options: string[]): string[] {
  const command = ['screening', 'import', '--list', 'watched', '--file', file(content)];
  return withOptions(command, options);
}

function entries() {
  const sql = `SELECT address, note FROM screening_entries ORDER BY address COLLATE "C"`;
  return database.owner.query<{ address: string; note: string | null }>(sql);
}

const EVM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

test('one address a line, however it is written', async () => {
  const content = [
    '\uFEFF# Our own list',
    '',
    `${EVM}   # mixer`,
    'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
    'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh:12345',
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t\r',
    '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
  ].join('\n');
  expect(await admin.json(...importing(content))).toMatchObject({
    ...{ object: 'screening_source', name: 'watched', verdict: 'block', format: 'addresses' },
    ...{ entries: 5, version: 1, published: null },
  });
  expect(await entries()).toEqual([
    { address: EVM.toLowerCase(), note: 'mixer' },
    { address: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', note: null },
    { address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', note: null },
    { address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', note: null },
    { address: 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh', note: null },
  ]);
});

function sdn(list: string, count = 2): string {
  return `<?xml version="1.0" standalone="yes"?>
<sdnList xmlns="https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/XML">
  <publshInformation>
    <Publish_Date>11/24/2026</Publish_Date>
    <Record_Count>${count}</Record_Count>
  </publshInformation>
${list}
</sdnList>`;
}

const SDN_ENTRIES = `  <sdnEntry>
    <uid>36</uid>
    <lastName>AEROCARIBBEAN AIRLINES</lastName>
    <sdnType>Entity</sdnType>
    <programList><program>CUBA</program></programList>
    <akaList><aka><uid>12</uid><lastName>AERO-CARIBBEAN</lastName></aka></akaList>
    <idList><id><uid>7</uid><idType>Passport</idType><idNumber>0123456789</idNumber></id></idList>
  </sdnEntry>
  <sdnEntry>
    <uid>17760</uid>
    <firstName>Ann</firstName>
    <lastName>EXAMPLE &amp; SONS</lastName>
    <sdnType>Individual</sdnType>
    <idList>
      <id><uid>8</uid><idType>Digital Currency Address - XBT</idType>
        <idNumber> 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa </idNumber></id>
      <id><uid>9</uid><idType>Digital Currency Address - ETH</idType><idNumber>${EVM}</idNumber></id>
      <id><uid>10</uid><idType>Email Address</idType><idNumber>a@example.com</idNumber></id>
    </idList>
  </sdnEntry>`;

const SDN = ['--format', 'ofac-sdn-xml'];

test('the addresses of the published sanctions list, with whose they are', async () => {
  expect(await admin.json(...importing(sdn(SDN_ENTRIES), ...SDN))).toMatchObject({
    ...{ entries: 2, format: 'ofac-sdn-xml', published: '11/24/2026' },
  });
  const note = 'Ann EXAMPLE & SONS, OFAC SDN 17760';
  expect(await entries()).toEqual([
    { address: EVM.toLowerCase(), note },
    { address: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', note },
  ]);
});

test.each([
  ['a truncated sanctions list', sdn(SDN_ENTRIES).slice(0, -200), SDN, /not whole XML/],
  ['an entry too few', sdn(SDN_ENTRIES, 3), SDN, /states 3 entries .* and has 2/],
  [
    'a list that states no number',
    sdn(SDN_ENTRIES).replace(/.*Record_Count.*/, ''),
    SDN,
    /no number/,
  ],
  [
    'an entity that expands',
    `<!DOCTYPE a [<!ENTITY x "y">]>${sdn('&x;', 0)}`,
    SDN,
    /not whole XML/,
  ],
  ['a page instead of the list', '<html><body>Moved</body></html>', SDN, /no number of entries/],
  ['a list without an address', sdn('', 0), SDN, /has no address/],
  ['an empty file', '# nothing\n', [], /has no address/],
  ['two addresses on a line', `${EVM}\n${EVM} ${EVM}`, [], /Line 2 is not one address/],
  ['XML as lines', sdn(SDN_ENTRIES), [], /Line 1 is not one address/],
  ['the name of the service', EVM, ['--list', 'service'], /"service" is not a name for a list/],
  ['a name with spaces', EVM, ['--list', 'Our list'], /not a name for a list/],
] as const)('%s is refused, and what is in force stays', async (_, content, options, sentence) => {
  await admin.json(...importing('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'));
  expect(await admin.refusal(2, ...importing(content, ...options))).toMatch(sentence);
  expect(await entries()).toEqual([{ address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', note: null }]);
});

test('an import makes a new version when anything differs, and is audited', async () => {
  const first = importing(EVM, '--reason', 'ticket 812');
  await admin.json(...first);
  expect(await admin.refusal(1, ...first)).toMatch(/already in force/);
  expect(await admin.json(...importing(EVM, '--verdict', 'review'))).toMatchObject({ version: 2 });
  const lower = importing(EVM.toLowerCase(), '--verdict', 'review');
  expect(await admin.refusal(1, ...lower)).toMatch(/already in force/);
  const log = await auditRows(database.owner, 'watched');
  expect(log.slice(-2).map(({ action, reason }) => ({ action, reason }))).toEqual([
    { action: 'screening.import', reason: 'ticket 812' },
    { action: 'screening.import', reason: null },
  ]);
});

test('a source is removed by its name, also the service', async () => {
  await requireService(database.app);
  await admin.json(...importing(EVM));
  expect(await admin.list('screening', 'list')).toMatchObject([
    { name: 'watched', verdict: 'block' },
    { name: 'service', verdict: null },
  ]);
  await admin.json('screening', 'remove', 'service', '--reason', 'contract ended');
  await admin.json('screening', 'remove', 'watched');
  expect(await entries()).toEqual([]);
  expect(await admin.refusal(1, 'screening', 'remove', 'watched')).toMatch(/not a source/);
});
