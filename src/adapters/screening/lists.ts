/**
 * The forms of an imported list (docs/screening.md). A file that is not wholly in its form is refused: half
 * of a list would let the other half through.
 */
import { SaxesParser } from 'saxes';
import { canonicalAddress } from '../destinations/canonical';

export const LIST_FORMATS = ['addresses', 'ofac-sdn-xml'] as const;
export type ListFormat = (typeof LIST_FORMATS)[number];

export interface ReadList {
  /** In the order of their addresses, each once. */
  entries: { address: string; note: string | null }[];
  /** The day on which it was published, as the file writes it; null if it does not say so. */
  published: string | null;
}

/** What is wrong with a file, as a sentence. */
export class ListFault extends Error {}

/** @throws ListFault */
export function readList(format: ListFormat, text: string): ReadList {
  const { entries, published } = format === 'addresses' ? readAddresses(text) : readSdn(text);
  const byAddress = new Map(entries.map(({ address, note }) => [canonicalAddress(address), note]));
  if (byAddress.size === 0) throw new ListFault('The file has no address.');
  return {
    entries: [...byAddress]
      .map(([address, note]) => ({ address, note }))
      .sort((one, other) => (one.address < other.address ? -1 : 1)),
    published,
  };
}

/** No address format of today is shorter or longer. */
const ADDRESS = /^[!-~]{10,200}$/;
const NOTE_LENGTH_MAX = 200;

/** One address a line; a `#` begins a note, and a line of its own a comment. */
function readAddresses(text: string): ReadList {
  const entries = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .flatMap((line, index) => {
      const [, address = '', note = ''] = /^([^#]*)(?:#(.*))?$/.exec(line) ?? [];
      if (address.trim() === '') return [];
      return [entryOf(address, note, `Line ${index + 1}`)];
    });
  return { entries, published: null };
}

function entryOf(address: string, note: string, where: string): ReadList['entries'][number] {
  const trimmed = address.trim();
  if (!ADDRESS.test(trimmed)) throw new ListFault(`${where} is not one address.`);
  return { address: trimmed, note: note.trim().slice(0, NOTE_LENGTH_MAX) || null };
}

const DIGITAL_CURRENCY = /^Digital Currency Address - /;

/**
 * SDN.XML of the Office of Foreign Assets Control: the ids of the type `Digital Currency Address - …` of
 * each entry. The number of entries must be the one that the file states.
 */
function readSdn(text: string): ReadList {
  const entries: ReadList['entries'] = [];
  const path: string[] = [];
  const values = new Map<string, string>();
  let content = '';
  let count = 0;
  const value = (name: string) => values.get(name) ?? '';
  const take = (at: string) => {
    values.set(at, content.trim());
    if (at === 'sdnList/sdnEntry') count += 1;
    if (at !== 'sdnList/sdnEntry/idList/id') return;
    const type = value(`${at}/idType`);
    if (!DIGITAL_CURRENCY.test(type)) return;
    const name = [value('sdnList/sdnEntry/firstName'), value('sdnList/sdnEntry/lastName')];
    const uid = value('sdnList/sdnEntry/uid');
    const note = `${name.join(' ').trim()}, OFAC SDN ${uid}`;
    entries.push(entryOf(value(`${at}/idNumber`), note, `An address of the entry ${uid}`));
  };
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw new ListFault(`The file is not whole XML: ${error.message}`);
  });
  parser.on('opentag', ({ name }) => {
    path.push(name);
    content = '';
    // What an earlier entry or id had is not this one's.
    const at = path.join('/');
    for (const known of [...values.keys()]) if (known.startsWith(`${at}/`)) values.delete(known);
  });
  parser.on('text', (part) => (content += part));
  parser.on('cdata', (part) => (content += part));
  parser.on('closetag', () => {
    take(path.join('/'));
    path.pop();
  });
  parser.write(text).close();
  const stated = value('sdnList/publshInformation/Record_Count');
  if (stated !== String(count)) {
    throw new ListFault(
      `The file states ${stated || 'no number of'} entries (Record_Count) and has ${count}.`,
    );
  }
  return { entries, published: value('sdnList/publshInformation/Publish_Date') || null };
}
