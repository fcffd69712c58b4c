/** docker-compose.yml, the Dockerfile and the Helm chart name variables, programs, ports and queues that exist. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SEARCH_ATTRIBUTES } from '../../../src/temporal/search-attributes';
import { type ProgramName, ROWS, SETTINGS } from '../../../src/platform/settings/settings';
import { logoPath } from '../../../src/domain/logo';
import { WORKER_QUEUES } from '../../../src/domain/worker-queues';
import { STYLE_URL } from '../../../src/kit/pages/assets';

const ROOT = resolve(__dirname, '../../..');
const CHART = 'deploy/helm/payments-gateway';
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const templates = readdirSync(join(ROOT, CHART, 'templates'))
  .map((name) => read(join(CHART, 'templates', name)))
  .join('\n');

const ALL = ROWS.map(([name, row]) => ({ name, ...row }));
const KNOWN = new Set(ALL.map(({ name }) => name));
const SECRETS = new Set(ALL.filter(({ isSecret }) => isSecret === true).map(({ name }) => name));
const found = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, first = '']) => first);

/** Each secret of .env as docker-compose.yml gives it to the job "settings". */
const INPUT = found(below(read('docker-compose.yml'), /^configs:/), /^ +([A-Z_]+)=\$\{/gm);

/** Runs the job "settings" in a folder of its own, with this .env. */
function settingsJob(given: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'));
  folders.push(folder);
  const input = join(folder, 'input');
  const run = (env: Record<string, string>, ...args: string[]) => {
    const lines = INPUT.map((name) => `${name}=${env[name] ?? ''}\n`);
    writeFileSync(input, lines.join(''));
    return spawnSync('sh', [join(ROOT, 'deploy/compose/settings.sh'), ...args], {
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        SETTINGS_FILES: join(ROOT, 'deploy/compose'),
        SETTINGS_VOLUME: folder,
        SETTINGS_INPUT: input,
      },
    });
  };
  return { folder, first: run(given), run };
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const GIVEN = Object.fromEntries(INPUT.map((name) => [name, `given-${name}`]));
const complete = settingsJob(GIVEN);

function serviceOf(name: string): string {
  return below(below(read('docker-compose.yml'), /^services:/), new RegExp(`^ {2}${name}:`));
}

/** The variables that the job "settings" writes for a service. */
function writtenFor(service: string): Record<string, string> {
  const [folder = 'none'] = found(serviceOf(service), /subpath: ([a-z-]+)/g);
  return envOf(complete.folder, folder === 'none' ? 'worker' : folder);
}

/** What a shell reads from the file. */
function envOf(folder: string, service: string): Record<string, string> {
  const script = `set -a; . "${join(folder, service, 'env')}"; env -0`;
  const { stdout } = spawnSync('sh', ['-c', script], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin' },
  });
  const all = Object.fromEntries(
    stdout
      .split('\0')
      .filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const { PATH, PWD, SHLVL, OLDPWD, _, ...own } = all;
  return own;
}

/** The text of the services that run the gateway's image, and what they share. */
function gatewayServices(): string {
  const compose = read('docker-compose.yml');
  const [shared = ''] = compose
    .slice(compose.indexOf('x-temporal-connection:'))
    .split('\nservices:');
  const [, all = ''] = compose.split('\nservices:\n');
  const [services = ''] = all.split('\nsecrets:');
  const ours = services
    .split(/\n(?= {2}[a-z-]+:)/)
    .filter((service) => /<<: \*(image|gateway|worker|wallet)\b/.test(service))
    .filter((service) => !service.includes('profiles: [sandbox]'));
  expect(ours).toHaveLength(9);
  return [shared, ...ours].join('\n');
}

test('docker-compose.yml sets variables that a program reads', () => {
  const set = found(gatewayServices(), /^ {4,6}([A-Z][A-Z_]+): /gm);
  expect(set.length).toBeGreaterThan(50);
  expect(set.filter((name) => !KNOWN.has(name))).toEqual([]);
  expect(set.filter((name) => SECRETS.has(name))).toEqual([]);
  for (const service of [
    'api',
    'worker-payouts',
    'worker-webhooks',
    'wallet',
    'admin',
    'migrate',
  ]) {
    const written = Object.keys(writtenFor(service));
    expect([service, written.filter((name) => !SECRETS.has(name))]).toEqual([service, []]);
    expect(written.length).toBeGreaterThan(0);
  }
});

test('the job "settings" passes on what .env says, generates the rest once, and keeps it', () => {
  expect(complete.first).toMatchObject({ status: 0, stderr: '' });
  expect(envOf(complete.folder, 'api')).toMatchObject({
    KEY_PEPPER: 'given-KEY_PEPPER',
    DATABASE_URL: 'postgres://gateway_api_1:given-GATEWAY_API_PASSWORD@postgres:5432/gateway',
  });

  const quoted = "smtps://a'b:$c`d@mail.example.com";
  const env = { PUBLIC_URL: 'https://pay.example.com', SMTP_URL: quoted };
  const { folder, first, run } = settingsJob(env);
  expect(first).toMatchObject({ status: 0, stderr: '' });
  const before = envOf(folder, 'api');
  expect(before['KEY_PEPPER']).toMatch(/^[0-9a-f]{64}$/);
  expect(before['KEY_PEPPER']).not.toBe(before['CURSOR_SECRET']);
  // A provider's key is somebody else's to choose.
  expect(before).not.toHaveProperty('ONCHAIN_LIVE_API_KEY');
  expect(envOf(folder, 'worker')).toMatchObject({ SMTP_URL: quoted });
  expect(run(env).status).toBe(0);
  expect(envOf(folder, 'api')).toEqual(before);
  expect(run({ ...env, KEY_PEPPER: 'changed' }).status).toBe(0);
  expect(envOf(folder, 'api')).toEqual({ ...before, KEY_PEPPER: 'changed' });
  const { stdout } = run(env, 'show');
  expect(stdout).toContain('KEY_PEPPER=changed\n');
});

test('every user of the containers can read the files of the job "settings", whatever the umask is', () => {
  const modes = readdirSync(complete.folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.includes('/'))
    .map((path) => statSync(join(complete.folder, path)))
    .map((found) => [found.isDirectory(), found.mode & (found.isDirectory() ? 0o5 : 0o4)]);
  expect(modes.length).toBeGreaterThan(20);
  expect(modes.filter(([isFolder, mode]) => mode !== (isFolder === true ? 0o5 : 0o4))).toEqual([]);
});

test('the job "settings" refuses what would not start, or would mix simulated and real money', () => {
  expect(settingsJob({}).first).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('PUBLIC_URL is not set') as string,
  });
  const unsafe = { PUBLIC_URL: 'https://pay.example.com', GATEWAY_API_PASSWORD: 'a@b' };
  expect(settingsJob(unsafe).first.stderr).toContain('GATEWAY_API_PASSWORD has characters');
  complete.run(GIVEN, 'sandbox');
  expect(complete.run(GIVEN).stderr).toContain('an installation for real money');

  const { folder, run } = settingsJob({});
  run({}, 'sandbox');
  expect(run({})).toMatchObject({ status: 0, stderr: '' });
  expect(envOf(folder, 'api')).toMatchObject({
    GATEWAY_ENV: '',
    ONCHAIN_LIVE_URL: 'http://sandbox:3001/onchain',
  });
  expect(
    Object.keys(envOf(folder, 'worker-webhooks')).filter((name) => PROVIDER.test(name)),
  ).toEqual([]);
  expect(run({ PUBLIC_URL: 'https://pay.example.com' }).stderr).toContain(
    'that of the profile sandbox',
  );
});

test('in a container, a program that hangs is ended after a minute of health checks, so that it starts again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'healthy-'));
  folders.push(folder);
  writeFileSync(join(folder, 'env'), "READY='503'\n");
  const env = { ...process.env, STATE_FOLDER: folder, SETTINGS_FOLDER: folder, PATIENCE_S: '1' };
  const server = `const server = require('node:http').createServer((_, response) => {
    response.statusCode = Number(process.env.READY);
    response.end();
  }).listen(0, '127.0.0.1', () => console.log(server.address().port));`;
  const script = (name: string) => join(ROOT, 'deploy/compose', name);
  const program = spawn('sh', [script('run'), process.execPath, '-e', server], { env });
  const ended = once(program, 'exit');
  const [port] = (await once(program.stdout, 'data')) as [Buffer];
  const check = () =>
    spawnSync('bash', [script('healthy'), String(port).trim(), '/readyz'], { env });
  // A program that answers, whatever it answers, does not hang.
  for (let time = 0; time < 7; time += 1) expect(check().status).toBe(1);
  program.kill('SIGSTOP');
  for (let time = 0; time < 5; time += 1) expect(check().status).toBe(1);
  expect(program.signalCode).toBeNull();
  expect(check().stdout.toString()).toContain('ending the program');
  expect(await ended).toEqual([null, 'SIGKILL']);
});

/** The lines below the first one that matches, as far as they are indented more. */
function below(text: string, head: RegExp): string {
  const lines = text.split('\n');
  const depth = (line = '') => line.search(/\S/);
  const at = lines.findIndex((line) => head.test(line));
  expect([head, at]).not.toEqual([head, -1]);
  const rest = lines.slice(at + 1);
  const end = rest.findIndex((line) => depth(line) !== -1 && depth(line) <= depth(lines[at]));
  return rest.slice(0, end === -1 ? rest.length : end).join('\n');
}

/** The variables of a service in docker-compose.yml, with those that its environment merges. */
function variablesOf(service: string): string[] {
  const compose = read('docker-compose.yml');
  const all = (environment: string): string[] => [
    ...found(environment, /^ +([A-Z][A-Z_]+): /gm),
    ...found(environment, /\*([a-z-]+)/g).flatMap((anchor) =>
      all(below(compose, new RegExp(`: &${anchor}( #.*)?$`))),
    ),
  ];
  return [
    ...all(below(serviceOf(service), /^ {4}environment:/)),
    ...Object.keys(writtenFor(service)),
  ];
}

/** Merchants choose the addresses that the workers of webhooks call: they have no key of a provider. */
const PROVIDER = /^(ONCHAIN|EXCHANGE_PAY|SCREENING)_/;
/** In a container the API listens on all addresses, and the wallet's owner logs in for migrations only. */
const NOT_PASSED = ['HOST', 'WALLET_DATABASE_OWNER_URL'];
const SET_BY_THE_IMAGE = ['WORKFLOW_BUNDLE', 'WALLET_WORKFLOW_BUNDLE'];

/** The settings that a program reads: a worker, with these queues. */
function settingsFor(program: ProgramName, taken: string): string[] {
  const own = ALL.filter(
    ({ programs, queues }) =>
      programs.includes(program) &&
      (program !== 'worker' || queues?.some((queue) => taken.split(',').includes(queue)) !== false),
  );
  return own.map(({ name }) => name);
}

test.each([
  ['api', 'api'],
  ['worker-payouts', 'worker'],
  ['worker-payments', 'worker'],
  ['worker-webhooks', 'worker'],
  ['wallet', 'wallet'],
] as const)(
  'in docker-compose.yml, %s has each setting that it reads, no secret besides, and no key of a provider that it does not call',
  (service, program) => {
    const [queues = ''] = found(serviceOf(service), /WORKER_QUEUES: (\S+)/g);
    const own = settingsFor(program, queues);
    expect(own.some((name) => PROVIDER.test(name))).toBe(service !== 'worker-webhooks');
    const set = [...variablesOf(service), ...NOT_PASSED, ...SET_BY_THE_IMAGE];
    expect(own.filter((name) => !set.includes(name))).toEqual([]);
    const ofQueues = ALL.filter(({ queues: some }) => some !== undefined).map(({ name }) => name);
    const foreign = variablesOf(service).filter(
      (name) =>
        (SECRETS.has(name) || (program === 'worker' && ofQueues.includes(name))) &&
        !own.includes(name),
    );
    expect(foreign).toEqual([]);
  },
);

test('the chart has a Secret for each secret, in which values.yaml names it', () => {
  const kept = found(read(`${CHART}/files/secrets.yaml`), /\b([A-Z_]{4,})\b/g);
  expect(new Set(kept)).toEqual(SECRETS);
  const values = read(`${CHART}/values.yaml`);
  const [secrets = ''] = values
    .slice(values.indexOf('\nexistingSecrets:\n'))
    .split('\n# Variables that');
  const named = found(secrets, /\b([A-Z]+_[A-Z_]+[A-Z])\b/g);
  expect(named.filter((name) => !SECRETS.has(name))).toEqual([]);
  const required = ALL.filter((one) => one.required === 'always' && SECRETS.has(one.name));
  expect(required.map(({ name }) => name).filter((name) => !named.includes(name))).toEqual([]);
});

test('the chart exposes the paths that docs/operations.md names, and those of the pages', () => {
  const operations = read('docs/operations.md').split('Expose these paths of `api`')[1] ?? '';
  const [table = ''] = operations.split('\n\n`/healthz`');
  const documented = found(table, /^\| (.*?) \|/gm).flatMap((cell) =>
    found(cell, /`(\/[^`{]+?)\/?[`{]/g),
  );
  const [list = ''] = found(read(`${CHART}/values.yaml`), /^ +paths: \[(.*)\]$/gm);
  const exposed = list.split(', ');
  expect(exposed.toSorted()).toEqual(documented.toSorted());
  for (const path of [logoPath('1'), STYLE_URL]) {
    expect(exposed).toContain(`/${path.split('/')[1] ?? ''}`);
  }
});

test('in the chart, workers of webhooks have no key of a provider', () => {
  const workers = read(`${CHART}/values.yaml`).split('\nworkers:\n')[1] ?? '';
  const others = found(workers, /queues: (\S+)\n +egress: webhooks\n/g);
  expect(others).toEqual(['webhooks,webhooks-retry']);
  // The chart gives each worker what it reads by this table (.ci/chart-check.py looks at the pods).
  const table = read(`${CHART}/files/settings.yaml`);
  const rows = table.split('\n').filter((row) => PROVIDER.test(row));
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((row) => !/queues: \[(?!.*webhooks)/.test(row))).toEqual([]);
});

test('the image sets the bundles of workflows', () => {
  for (const name of SET_BY_THE_IMAGE) expect(read('Dockerfile')).toContain(`${name}=`);
});

test('the chart has the alert rules of deploy/prometheus, as a file of its own', () => {
  // Change both. A chart that is copied or packed has no link to a file outside of it.
  expect(read(`${CHART}/files/alerts.yml`)).toBe(read('deploy/prometheus/alerts.yml'));
});

test('the chart and docker-compose.yml set up Temporal alike, with every search attribute', () => {
  const script = read(`${CHART}/files/temporal-setup.sh`);
  expect(script).toBe(read('deploy/compose/temporal-namespace.sh'));
  for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES)) {
    expect(script).toContain(`${name}:${type}`);
  }
});

test('in the chart, webhooks reach the addresses only that the program takes for public', () => {
  const lists = read(`${CHART}/values.yaml`).split('except:\n')[1] ?? '';
  const [except = ''] = lists.split('providersPorts:');
  const blocked = found(read('src/adapters/webhooks/address-policy.ts'), /^ {2}'([0-9./]+)',/gm);
  expect(found(except, /- (\S+)/g)).toEqual(blocked);
});

test('the alert rules look for the jobs of docker-compose.yml and of the chart', () => {
  const rules = read('deploy/prometheus/alerts.yml');
  const patterns = found(rules, /\bjob=~"([^"]+)"/g);
  expect(patterns.length).toBeGreaterThan(0);
  expect(found(rules, /\bjob(?!=~)([=!][^"]*)/g)).toEqual([]);
  const [job = ''] = found(read('deploy/prometheus/prometheus.yml'), /job_name: (.+)/g);
  const [label = 'none'] = found(read(`${CHART}/templates/monitoring.yaml`), /jobLabel: (.+)/g);
  // Without it, the Prometheus Operator takes the name of the release.
  const [value = ''] = found(
    read(`${CHART}/templates/_helpers.tpl`),
    new RegExp(`^${label}: (.+)$`, 'gm'),
  );
  for (const pattern of patterns) {
    // The whole expression must match, as in Prometheus.
    const matches = [job, value].map((name) => new RegExp(`^(?:${pattern})$`).test(name));
    expect([pattern, ...matches]).toEqual([pattern, true, true]);
  }
});

test('the chart sets variables that a program reads, and secrets come from Secrets', () => {
  const values = read(`${CHART}/values.yaml`);
  const [settings = ''] = values.slice(values.indexOf('\nsettings:\n')).split('\napi:\n');
  const [, wallet = ''] = values.split('\nwallet:\n');
  const [walletSettings = ''] = wallet.split('\n  resources:');
  const set = [
    ...found(settings, /^ {2}([A-Z][A-Z_]+): /gm),
    ...found(walletSettings, /^ {4}([A-Z][A-Z_]+): /gm),
    ...found(templates, /"([A-Z]+_[A-Z_]+)"/g).filter((name) => name !== 'API_URL'),
  ];
  expect(set.length).toBeGreaterThan(15);
  expect(set.filter((name) => !KNOWN.has(name))).toEqual([]);
  expect(set.filter((name) => SECRETS.has(name))).toEqual([]);
});

test.each([
  ['docker-compose.yml', () => read('docker-compose.yml')],
  ['the Dockerfile', () => read('Dockerfile')],
  ['the chart', () => templates],
  ['package.json', () => read('package.json')],
])('%s runs programs that exist', (_, text) => {
  const programs = found(text(), /dist\/src\/bin\/([a-z-]+)\.js/g);
  expect(programs.length).toBeGreaterThan(0);
  const missing = programs.filter((name) => !existsSync(join(ROOT, `src/bin/${name}.ts`)));
  expect(missing).toEqual([]);
});

test.each([
  ['docker-compose.yml', () => found(read('docker-compose.yml'), /WORKER_QUEUES: (\S+)/g)],
  ['the chart', () => found(read(`${CHART}/values.yaml`), /queues: (\S+)/g)],
])('the workers of %s take every task queue, and no other', (_, lists) => {
  const taken = lists().flatMap((list) => list.split(','));
  expect([...new Set(taken)].sort()).toEqual([...WORKER_QUEUES].sort());
});

test('the ports are those of the programs', () => {
  const compose = read('docker-compose.yml');
  expect(compose).toContain(`:-${SETTINGS.PORT.otherwise}}:3000'`);
  expect(compose).toContain(`:-${SETTINGS.WALLET_PORT.otherwise}}:3002'`);
  const metrics = found(compose, /METRICS_PORT: '([0-9]+)'/g);
  expect(new Set([...metrics, ...found(templates, /"METRICS_PORT" "([0-9]+)"/g)]).size).toBe(1);
  expect(read('deploy/prometheus/prometheus.yml')).toContain(`port: ${metrics[0]}`);
  expect(templates).toContain(`{ name: metrics, containerPort: ${metrics[0]} }`);
  expect(read('Dockerfile')).toContain(`EXPOSE 3000 3002 ${metrics[0]}`);
});

test('Prometheus looks for services that docker-compose.yml has', () => {
  const [, names = ''] = /names: \[([^\]]+)\]/.exec(read('deploy/prometheus/prometheus.yml')) ?? [];
  const missing = names
    .split(', ')
    .filter((name) => !new RegExp(`^ {2}${name}:`, 'm').test(read('docker-compose.yml')));
  expect(missing).toEqual([]);
});
