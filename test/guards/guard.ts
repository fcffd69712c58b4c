/**
 * The list of guards, one a line in guards.tsv. A guard is a piece of the gateway that keeps something from happening,
 * and the test that notices its removal. Its second column says where it is, by name, so that moved files and new
 * migrations leave the list as it is:
 * - `symbol`: in the declaration at the top of a module; `part/of/path#symbol` where several modules have that name
 * - `sql function`: in a function of PostgreSQL, as the migrations leave it
 * - `sql`: the statement in the column `replace` removes the guard; `wallet-sql`: in the wallet's database
 * Blanks and line ends of `find` stand for any others. Two lines of one name are removed together.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const ROOMS = ['src', 'workflows', 'activities', 'clients/typescript/src', 'clients/mcp/src'];
const DECLARATION = /^(?:export )?(?:async )?(?:function\*?|const|class|let) (\w+)/gm;

export interface Change {
  in: string;
  find: string;
  replace: string;
}

export interface Guard {
  /** For `--only`. */
  name: string;
  changes: Change[];
  /** The file of the test: `test/<jest project>/…`. */
  test: string;
  /** A part of the test's title; if it is empty, the whole file runs. */
  title: string;
  /** What is true while the guard is there. */
  protects: string;
}

export const GUARDS: readonly Guard[] = readGuards();

function readGuards(): Guard[] {
  const guards = new Map<string, Guard>();
  const [, ...lines] = readFileSync(join(__dirname, 'guards.tsv'), 'utf8').trimEnd().split('\n');
  for (const line of lines) {
    const [name = '', place = '', find = '', replace = '', test = '', title = '', protects = ''] =
      line.split('\t');
    const change = { in: place, find, replace };
    const known = guards.get(name);
    if (known !== undefined && test === '') known.changes.push(change);
    else guards.set(name, { name, changes: [change], test: `test/${test}`, title, protects });
  }
  return [...guards.values()];
}

/** The jest project of a guard's test. */
export function projectOf({ test }: Pick<Guard, 'test'>): string {
  return test.split('/')[1] ?? '';
}

export const isOfDatabase = (change: Change): boolean => /^(wallet-)?sql( |$)/.test(change.in);

export interface Sources {
  paths: string[];
  read: (path: string) => string;
}

/** The gateway's source, by paths within the project. */
export function readSources(root = ROOT): Sources {
  const paths = ROOMS.flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(tsx?|js|css)$/.test(path))
      .map((path) => join(room, path)),
  );
  const texts = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  return { paths, read: (path) => texts.get(path) ?? '' };
}

/** @returns the file of the guard and its text without it. @throws Error when the guard is not there exactly once */
export function withoutGuard(
  { paths, read }: Sources,
  change: Change,
): { path: string; text: string } {
  const [symbol = '', part = ''] = change.in.split('#').toReversed();
  const found = paths
    .filter((path) => path.includes(part))
    .flatMap((path) => {
      const text = read(path);
      return placesOf(text, change.find)
        .filter(({ from }) => symbolAt(text, from) === symbol)
        .map(({ from, to }) => ({ path, from, to }));
    });
  const [place] = found;
  if (place === undefined || found.length !== 1) throw new MissingGuard(change, found.length);
  const text = read(place.path);
  const changed = text.slice(0, place.from) + change.replace + text.slice(place.to);
  return { path: place.path, text: changed };
}

/** The statement that removes a guard of the database. @param define the definition of a function */
export async function removalOf(
  change: Change,
  define: (name: string) => Promise<string>,
): Promise<string> {
  const name = change.in.split(' ')[1];
  if (name === undefined) return change.replace;
  const text = await define(name);
  const places = placesOf(text, change.find);
  const [place] = places;
  if (place === undefined || places.length !== 1) throw new MissingGuard(change, places.length);
  return text.slice(0, place.from) + change.replace + text.slice(place.to);
}

class MissingGuard extends Error {
  constructor({ in: place, find }: Change, times: number) {
    super(
      `A guard is in ${place === '' ? 'no declaration' : place} ${times} times instead of once. ` +
        `Correct its line in test/guards/guards.tsv: ${find}`,
    );
  }
}

function placesOf(text: string, find: string): { from: number; to: number }[] {
  const words = find.split(' ');
  // Most files lack the longest word, and looking for a word is quick.
  const [longest = ''] = words.toSorted((a, b) => b.length - a.length);
  if (!text.includes(longest)) return [];
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('\\s+');
  return [...text.matchAll(new RegExp(pattern, 'g'))].map((match) => ({
    from: match.index,
    to: match.index + match[0].length,
  }));
}

/** The declaration that a place is in, or begins. */
function symbolAt(text: string, from: number): string {
  const end = text.indexOf('\n', from);
  const before = text.slice(0, end === -1 ? undefined : end);
  const heads = [...before.matchAll(DECLARATION)].filter(({ index }) => index <= from);
  return heads.at(-1)?.[1] ?? '';
}
