/** What the documents name exists: settings, files, folders, decisions. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SEARCH_ATTRIBUTES } from '../../../src/temporal/search-attributes';

const ROOT = resolve(__dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

test('the runbook and the job of docker-compose.yml register every search attribute with its type', () => {
  for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES)) {
    expect(read('docs/operations.md')).toContain(`--name ${name} --type ${type}\n`);
    expect(read('deploy/compose/temporal-namespace.sh')).toContain(`${name}:${type}`);
  }
});

// A guide may link to the page /docs of the gateway that serves it.
test.each(DOCUMENTS)('every relative link in %s points to a file', (document) => {
  const links = [...read(document).matchAll(/\]\((?!https?:|#|\/docs\b)([^)#]+)/g)].map(
    ([, to = '']) => to,
  );
  const broken = links.filter((to) => !existsSync(join(ROOT, dirname(document), to)));
  expect(broken).toEqual([]);
});

test('the folders that the README names exist, and no source folder is missing', () => {
  const named = [...read('README.md').matchAll(/^\| `([^`]+)\/`/gm)].map(([, room = '']) => room);
  expect(named.filter((room) => !existsSync(join(ROOT, room)))).toEqual([]);
  const rooms = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `src/${entry.name}`);
  expect(rooms.filter((room) => !named.includes(room))).toEqual([]);
});

test('every file and folder that docs/architecture.md names exists', () => {
  const paths = [
    ...read('docs/architecture.md').matchAll(/`((?:src|workflows|activities|clients)\/[^`<]*)`/g),
  ];
  expect(paths.length).toBeGreaterThan(50);
  expect(
    paths.map(([, path = '']) => path).filter((path) => !existsSync(join(ROOT, path))),
  ).toEqual([]);
});

test('every name in the code that docs/architecture.md gives exists', () => {
  const all = sources().map(read).join('\n') + read('package.json');
  const files = [...sources(), ...readdirSync(ROOT)].map((path) => basename(path));
  const names = found(read('docs/architecture.md'), /`([^`\n]+)`/g).filter(
    (name) => !name.includes('/'),
  );
  expect(names.length).toBeGreaterThan(30);
  const missing = names.filter((name) => {
    const isCommand = /^(npm|admin) /.test(name);
    return !files.includes(name) && !all.includes(isCommand ? name.split(' ').at(-1)! : name);
  });
  expect(missing).toEqual([]);
});

test('every file and test that docs/security.md names exists', () => {
  const text = read('docs/security.md');
  const files = [...text.matchAll(/`((?:src|workflows|activities|deploy|test)\/[^`]*)`/g)].map(
    ([, path = '']) => path,
  );
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  // `test/db/sign-in.test.ts` “a form from %s”, “…”
  const tests = [...text.matchAll(/`(test\/[^`]+)` (“[^”]+”(?:, “[^”]+”)*)/g)].flatMap(
    ([, path = '', titles = '']) =>
      [...titles.matchAll(/“([^”]+)”/g)].map(([, title = '']) => ({ path, title })),
  );
  expect(tests.length).toBeGreaterThan(80);
  expect(tests.filter(({ path, title }) => !read(path).includes(title))).toEqual([]);
});

test('every decision that a file names has a page', () => {
  const rooms = ['src', 'workflows', 'activities', 'test', 'deploy', '.ci'];
  const files = rooms.flatMap((room) => filesOf(room));
  const named = files.flatMap((path) => found(read(path), /(?<![\w/.-])decisions\/([a-z-]+)/g));
  expect(new Set(named).size).toBeGreaterThan(40);
  expect(named.filter((name) => !existsSync(join(ROOT, `docs/decisions/${name}.md`)))).toEqual([]);
  // The letters that decisions had once.
  const letters = files.flatMap((path) => found(read(path), /\bdecisions? ([A-Z]\d+)\b/gi));
  expect(letters).toEqual([]);
});

test('every page about a decision has three parts and one line in the index', () => {
  const pages = filesOf('docs/decisions')
    .map((path) => path.slice('docs/decisions/'.length))
    .filter((name) => name !== 'README.md');
  const index = found(read('docs/decisions/README.md'), /^- \[[a-z-]+\]\(([^)]+)\): /gm);
  expect(index.toSorted()).toEqual(pages.toSorted());
  const parts = ['## Context', '## Decision', '## Consequences'];
  const without = pages.filter((name) =>
    parts.some((part) => !read(`docs/decisions/${name}`).includes(`\n${part}\n`)),
  );
  expect(without).toEqual([]);
});

test('every heading that a file quotes from a document exists', () => {
  const files = [
    ...DOCUMENTS,
    ...sources(),
    ...['docker-compose.yml', '.ci/check-deploy'],
    ...filesOf('deploy').filter((path) => !path.endsWith('files/alerts.yml')),
    ...filesOf('test').filter((path) => path.endsWith('.ts')),
  ];
  const quotes = files.flatMap((path) =>
    // docs/operations.md, "Settings"; in Markdown [operations.md](operations.md), “Settings”
    [...read(path).matchAll(/\b(\w[\w-]*\.md)\)?,\s+["“]([A-Z][^"”]+)["”]/g)].map(
      ([, name = '', heading = '']) => ({ path, name, heading: heading.replace(/\s+/g, ' ') }),
    ),
  );
  expect(quotes.length).toBeGreaterThan(20);
  const missing = quotes.filter(({ name, heading }) => {
    const document = DOCUMENTS.find((one) => one === name || one === `docs/${name}`);
    return document === undefined || !headingsOf(document).some((one) => one.includes(heading));
  });
  expect(missing).toEqual([]);
});

test('every heading of its own that docs/operations.md refers to exists', () => {
  const text = read('docs/operations.md');
  const quotes = found(text, /\bsee\s+“([A-Z][^”]+)”/g);
  expect(quotes.length).toBeGreaterThan(10);
  const links = found(text, /\]\(#([^)]+)\)/g);
  const headings = headingsOf('docs/operations.md');
  expect(quotes.filter((quote) => !headings.includes(quote.replace(/\s+/g, ' ')))).toEqual([]);
  const anchors = headings.map((one) =>
    one
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/ /g, '-'),
  );
  expect(links.filter((link) => !anchors.includes(link))).toEqual([]);
});

const found = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, first = '']) => first);

function headingsOf(document: string): string[] {
  return found(read(document), /^#+ (.+)$/gm);
}

function filesOf(room: string): string[] {
  return readdirSync(join(ROOT, room), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1));
}

function sources(): string[] {
  return ['src', 'workflows', 'activities', 'clients/typescript/src'].flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => join(room, name)),
  );
}
