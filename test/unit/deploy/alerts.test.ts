/** The alert rules: valid, each one fires when it should, and each one has an entry in the runbook. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { describeWithProgram } from '../../support/optional-program';
import { findPromtool, PROMTOOL_REMEDY } from '../../support/servers/promtool';
import { ALERT_CASES, type AlertCase } from './alert-cases';

const ROOT = resolve(__dirname, '../../..');
const RULES = join(ROOT, 'deploy/prometheus/alerts.yml');
const rules = readFileSync(RULES, 'utf8');
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);

/** One alert of the file, from its name to the next. */
function textOf(alert: string): string {
  const [text] = rules.split('- alert: ').filter((one) => one.startsWith(`${alert}\n`));
  return text!.split('\n  - name: ')[0]!;
}

test.each(alerts)('%s has an entry in the runbook', (alert) => {
  const anchor = alert.toLowerCase();
  expect(textOf(alert)).toContain(`runbook_url: docs/operations.md#${anchor}\n`);
  const runbook = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const entry = new RegExp(`^#### ${alert}\\n\\n([^#]+)`, 'm').exec(runbook)?.[1] ?? '';
  // What it means, what to look at, what to do.
  expect(entry).toMatch(/^[A-Z][^#]+\*\*Look at\*\*[^#]+\*\*Do\*\*/);
});

test('each alert has a case that tests it', () => {
  expect(ALERT_CASES.map(({ alert }) => alert).toSorted()).toEqual(alerts.toSorted());
});

const promtool = findPromtool();
describeWithProgram(promtool, PROMTOOL_REMEDY, 'promtool', () => {
  const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
  let verdicts: Map<string, string>;

  /**
   * All files in one run, because the program takes half a second to start. Each has its alert alone, because the
   * program evaluates every rule of a file for every minute of a test.
   */
  beforeAll(() => {
    const files = ALERT_CASES.map((one) => {
      const rule = join(folder, `${one.alert}.yml`);
      const head = 'groups:\n  - name: one\n    rules:\n      - alert: ';
      writeFileSync(rule, head + textOf(one.alert));
      const file = join(folder, `${one.alert}.json`);
      // YAML contains JSON.
      writeFileSync(file, JSON.stringify(testOf(one, rule)));
      return file;
    });
    const parts = run('test', 'rules', ...files)
      .split('Unit Testing:  ')
      .slice(1);
    verdicts = new Map(parts.map((part) => [basename(part.split('\n')[0]!, '.json'), part]));
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test('the rules are valid', () => {
    expect(run('check', 'rules', RULES)).toContain(`${alerts.length} rules found`);
  });

  test.each(ALERT_CASES)('$alert fires, and says why', ({ alert }) => {
    expect(verdicts.get(alert)).toContain('SUCCESS');
  });

  function run(...args: string[]): string {
    const { stdout, stderr } = spawnSync(promtool!, args, { encoding: 'utf8' });
    return stdout + stderr;
  }
});

function testOf(one: AlertCase, rule: string): object {
  const { alert, fires, quiet, by, notYet, labels, summary } = one;
  const input = (series: Record<string, string>) =>
    Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const at = (minutes: number, expected: object[]) => ({
    ...{ alertname: alert, eval_time: `${minutes}m`, exp_alerts: expected },
  });
  const runbookUrl = `docs/operations.md#${alert.toLowerCase()}`;
  const fired = { exp_labels: labels, exp_annotations: { summary, runbook_url: runbookUrl } };
  return {
    rule_files: [rule],
    evaluation_interval: '1m',
    tests: [
      {
        ...{ interval: '1m', input_series: input(fires) },
        alert_rule_test: [at(notYet, []), at(by, [fired])],
      },
      { ...{ interval: '1m', input_series: input(quiet) }, alert_rule_test: [at(by, [])] },
    ],
  };
}
