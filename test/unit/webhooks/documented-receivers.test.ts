/**
 * Runs the functions of docs/guides/webhooks.md against the test vectors, each in its own language. A language
 * that is not installed is skipped with a warning.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findOnPath } from '../../../src/dev/processes';
import { ATTEMPT_ERROR_CODES } from '../../../src/adapters/webhooks/attempt-result';
import { VECTORS, VECTORS_FILE } from './webhook-vectors';

const DOCUMENT = readFileSync(resolve(__dirname, '../../../docs/guides/webhooks.md'), 'utf8');

interface Receiver {
  /** The text of the heading in the document. */
  heading: string;
  fence: string;
  program: string;
  file: string;
  args: readonly string[];
  /** Appended to the function: reads the vectors, prints one verdict a line. */
  harness: string;
}

const RECEIVERS: Receiver[] = [
  {
    heading: 'Node.js',
    fence: 'js',
    program: 'node',
    file: 'receiver.cjs',
    args: ['receiver.cjs', VECTORS_FILE],
    harness: `
      const { vectors } = JSON.parse(require('node:fs').readFileSync(process.argv[2], 'utf8'));
      for (const { body, headers, secrets, now } of vectors) {
        const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
        try {
          readWebhook(Buffer.from(body), Object.fromEntries(lower), secrets, now);
          console.log('ok');
        } catch (error) {
          console.log(error.message);
        }
      }`,
  },
  {
    heading: 'Python',
    fence: 'python',
    program: 'python3',
    file: 'receiver.py',
    args: ['receiver.py', VECTORS_FILE],
    harness: `
import sys
for vector in json.load(open(sys.argv[1], encoding="utf-8"))["vectors"]:
    lower = {name.lower(): value for name, value in vector["headers"].items()}
    try:
        read_webhook(vector["body"].encode(), lower, vector["secrets"], vector["now"])
        print("ok")
    except WebhookRefused as refusal:
        print(refusal)
`,
  },
  {
    heading: 'PHP',
    fence: 'php',
    program: 'php',
    file: 'receiver.php',
    args: ['receiver.php', VECTORS_FILE],
    harness: `
foreach (json_decode(file_get_contents($argv[1]), true)['vectors'] as $vector) {
    $lower = array_change_key_case($vector['headers'], CASE_LOWER);
    try {
        read_webhook($vector['body'], $lower, $vector['secrets'], $vector['now']);
        echo "ok\\n";
    } catch (WebhookRefused $refusal) {
        echo $refusal->getMessage(), "\\n";
    }
}
`,
  },
  {
    heading: 'Go',
    fence: 'go',
    program: 'go',
    file: 'receiver.go',
    args: ['run', 'receiver.go', 'harness.go', VECTORS_FILE],
    harness: '',
  },
];

/** Go has its imports at the top, so its harness is a file of its own. */
const GO_HARNESS = `package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var file struct {
		Vectors []struct {
			Body    string
			Headers map[string]string
			Secrets []string
			Now     int64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		panic(err)
	}
	for _, vector := range file.Vectors {
		lower := map[string]string{}
		for name, value := range vector.Headers {
			lower[strings.ToLower(name)] = value
		}
		if _, err := ReadWebhook([]byte(vector.Body), lower, vector.Secrets, vector.Now); err != nil {
			fmt.Println(err)
		} else {
			fmt.Println("ok")
		}
	}
}
`;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'receivers-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const receiver of RECEIVERS) {
  const isHere = findOnPath(receiver.program) !== null;
  if (!isHere)
    console.warn(`NOT TESTED: docs/guides/webhooks.md in ${receiver.heading}: not installed`);
  (isHere ? test : test.skip)(
    `the function for ${receiver.heading} returns the expected result for every vector`,
    () => {
      writeFileSync(join(folder, receiver.file), snippet(receiver) + receiver.harness);
      writeFileSync(join(folder, 'harness.go'), GO_HARNESS);
      const printed = execFileSync(receiver.program, receiver.args, {
        cwd: folder,
        encoding: 'utf8',
        // Standard library only: nothing may be fetched.
        env: { ...process.env, GOPROXY: 'off', GOTOOLCHAIN: 'local', GO111MODULE: 'off' },
      });
      const verdicts = printed.trimEnd().split('\n');
      expect(VECTORS.map(({ name }, index) => `${name}: ${verdicts[index] ?? ''}`)).toEqual(
        VECTORS.map(({ name, expect: expected }) => `${name}: ${expected}`),
      );
    },
    // Go compiles its standard library on its first run.
    300_000,
  );
}

test('the document names every result of a check', () => {
  const words = new Set(VECTORS.map(({ expect: expected }) => expected));
  expect([...words].filter((word) => !DOCUMENT.includes(`\`${word}\``))).toEqual([]);
});

test('the document names every error code of an attempt', () => {
  expect(ATTEMPT_ERROR_CODES.filter((code) => !DOCUMENT.includes(`| \`${code}\` `))).toEqual([]);
});

/** The code below the heading of the language. */
function snippet({ heading, fence }: Receiver): string {
  const [, section = ''] = DOCUMENT.split(`\n### ${heading}\n`);
  const [, code] = new RegExp(`^\n\`\`\`${fence}\n(.*?)^\`\`\`$`, 'ms').exec(section) ?? [];
  if (code === undefined) throw new Error(`docs/guides/webhooks.md has no code for ${heading}`);
  return code;
}
