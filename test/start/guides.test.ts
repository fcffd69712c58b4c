/**
 * The guides' samples, typed as /docs/guides shows them into one shell for each guide, against a real
 * gateway. A response in a guide is a part of the real one: the same members, and the same values
 * except for ids, times, URLs and hashes.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DOCUMENT } from '../support/merchant/contract';
import { createProject } from '../support/merchant/installed-package';
import { useSharedGateway } from '../support/servers/gateway';
import { openMerchant } from '../support/payout/payout-steps';
import { started } from '../support/started';

interface Block {
  language: string;
  text: string;
}

const GUIDES = readdirSync(join(__dirname, '../../docs/guides')).map((file) =>
  file.replace(/\.md$/, ''),
);
const SEPARATOR = '--- next block ---';
const TRANSCRIPT_TIMEOUT_MS = 180_000;

/** A project with the package whose command is in a guide. */
const project = started(createProject);
const gateway = started(useSharedGateway);
/** Where the shells run. It has curl's settings: as the guide to errors says, 503 is retried; a busy machine gives some. */
let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'guides-'));
  writeFileSync(join(home, '.curlrc'), 'silent\nretry = 10\nretry-delay = 1\n');
});

afterAll(() => rmSync(home, { recursive: true }));

test.concurrent.each(GUIDES)(
  'the samples of %s give the responses that it shows',
  async (guide) => {
    const blocks = await readBlocks(guide);
    const shell = blocks.filter(({ language }) => language === 'sh');
    if (shell.length === 0) return;
    const outputs = await type(guide, shell);
    for (const [index, { language, text }] of blocks.entries()) {
      const before = blocks[index - 1];
      if (language === 'sh' || before?.language !== 'sh') continue;
      const output = outputs[shell.indexOf(before)] ?? '';
      if (language === 'json')
        expect(steady(lastJson(output))).toMatchObject(steady(JSON.parse(text)));
      else if (language === 'text')
        expect(output.trim().toLowerCase()).toBe(text.trim().toLowerCase());
    }
  },
);

test('the guide to errors lists every code that an operation can answer with, and its status', async () => {
  const page = await openGuide('errors');
  const listed = [...page.matchAll(/<td><code>([a-z_]+)<\/code><\/td>\s*<td>(\d{3})<\/td>/g)];
  const documented = Object.values(DOCUMENT.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ responses }) => Object.entries(responses))
    .flatMap(([status, { description }]) =>
      [...description.matchAll(/^- `([a-z_]+)`/gm)].map(([, code = '']) => `${code} ${status}`),
    );
  expect(documented.length).toBeGreaterThan(20);
  expect(listed.map(([, code, status]) => `${code} ${status}`).sort()).toEqual(
    [...new Set(documented)].sort(),
  );
});

async function openGuide(guide: string): Promise<string> {
  const response = await fetch(new URL(`/docs/guides/${guide}`, gateway.baseUrl));
  return response.text();
}

async function readBlocks(guide: string): Promise<Block[]> {
  const page = await openGuide(guide);
  return [...page.matchAll(/<code class="language-(\w+)">(.*?)<\/code><\/pre>/gs)].map(
    // The samples are coloured.
    ([, language = '', html = '']) => ({
      language,
      text: unescapeHtml(html.replaceAll(/<\/?span[^>]*>/g, '')),
    }),
  );
}

/** One shell for all blocks, as at a terminal; it stops at the first line that fails. */
async function type(guide: string, blocks: readonly Block[]): Promise<string[]> {
  // The guide to payouts tells its readers that an operator approves test payouts.
  const settings = { mode: 'test', funds: {}, rehearseReview: guide === 'payouts' } as const;
  const { client } = await openMerchant(gateway, settings);
  const [setup] = await readBlocks('quickstart');
  const before = guide === 'quickstart' ? [] : [`${setup!.text}\n`];
  const script = [...before, blocks.map(({ text }) => text).join(`\necho '${SEPARATOR}'\n`)]
    .join('')
    .replace('sk_test_...', client.apiKey);
  const run = promisify(execFile);
  const { stdout } = await run('bash', ['-e', '-c', script], {
    timeout: TRANSCRIPT_TIMEOUT_MS,
    cwd: home,
    env: {
      ...process.env,
      CURL_HOME: home,
      XDG_CONFIG_HOME: home,
      PATH: `${project.commands}:${process.env['PATH']}`,
    },
  });
  return stdout.split(SEPARATOR);
}

/** After a retry, curl has printed the refusals as well. */
function lastJson(output: string): unknown {
  return JSON.parse(output.slice(output.lastIndexOf('}{"') + 1));
}

function unescapeHtml(html: string): string {
  return html
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** What differs from run to run, by its kind. */
const CHANGING: [RegExp, string][] = [
  [/^(pay|po|pb|txn|req|evt)_[0-9A-Z]{26}$/, 'an ID'],
  [/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/, 'a time'],
  [/^https?:\/\/[^/]+\/checkout\//, 'a checkout'],
  [/^[0-9a-f]{64}$/, 'a hash'],
];

function steady(value: unknown): object {
  const text = JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== 'string') return member;
    const [, kind] = CHANGING.find(([pattern]) => pattern.test(member)) ?? [];
    return kind ?? member;
  });
  return JSON.parse(text) as object;
}
