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

test('the folders that docs/architecture.md names exist, and no source folder is missing', () => {
  const named = [...read('docs/architecture.md').matchAll(/^\| `([^`]+)\/`/gm)].map(
    ([, room = '']) => room,
  );
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
  // `test/db/people/sign-in.test.ts` “a form from %s”, “…”
  const tests = [...text.matchAll(/`(test\/[^`]+)` (“[^”]+”(?:, “[^”]+”)*)/g)].flatMap(
    ([, path = '', titles = '']) =>
      [...titles.matchAll(/“([^”]+)”/g)].map(([, title = '']) => ({ path, title })),
  );
  expect(tests.length).toBeGreaterThan(80);
  expect(tests.filter(({ path, title }) => !read(path).includes(title))).toEqual([]);
});

test('every decision that a file names is a section of its page', () => {
  const rooms = ['src', 'workflows', 'activities', 'test', 'deploy', '.ci'];
  const files = rooms
    .flatMap((room) => filesOf(room))
    .filter((path) => !path.includes('unit/docs'));
  const named = files.flatMap((path) => found(read(path), /(?<![\w/.-])decisions\/([a-z#-]+)/g));
  expect(new Set(named).size).toBeGreaterThan(40);
  expect([...new Set(named)].filter((name) => !decisions().includes(name))).toEqual([]);
  const links = DOCUMENTS.flatMap((path) =>
    found(read(path), /\]\((?:\.\.\/|docs\/)*decisions\/([a-z.#-]+)\)/g),
  ).filter((link) => link.includes('#'));
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((link) => !decisions().includes(link.replace('.md', '')))).toEqual([]);
});

test('every decision has one line in the index, in the order of its page', () => {
  const index = found(read('docs/decisions/README.md'), /^- \[[^\]]+\]\(([^)]+)\): /gm);
  const lines = index.map((link) => link.replace('.md', ''));
  const pages = [...new Set(lines.map((line) => line.split('#')[0]!))];
  expect(lines).toEqual(
    pages.flatMap((page) => decisions().filter((one) => one.startsWith(`${page}#`))),
  );
  expect(lines.toSorted()).toEqual(decisions().toSorted());
});

test('every link from one decision to another leads to a section', () => {
  const pages = filesOf('docs/decisions');
  const links = pages.flatMap((path) =>
    found(read(path), /\]\(([a-z]*(?:\.md)?#[a-z-]+)\)/g).map((link) =>
      link.startsWith('#') ? `${basename(path, '.md')}${link}` : link.replace('.md', ''),
    ),
  );
  expect(links.filter((link) => !decisions().includes(link))).toEqual([]);
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
  expect(links.filter((link) => !headings.map(anchorOf).includes(link))).toEqual([]);
});

const found = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, first = '']) => first);

/** Each decision as `page#section`. */
function decisions(): string[] {
  return filesOf('docs/decisions')
    .filter((path) => !path.endsWith('README.md'))
    .flatMap((path) =>
      found(read(path), /^## (.+)$/gm).map((one) => `${basename(path, '.md')}#${anchorOf(one)}`),
    );
}

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replace(/ /g, '-');

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
