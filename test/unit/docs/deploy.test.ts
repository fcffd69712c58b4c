/** docker-compose.yml, the Dockerfile and the Helm chart name variables, programs, ports and queues that exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SEARCH_ATTRIBUTES } from '../../../src/temporal/search-attributes';
import { GATEWAY_SETTINGS, OWNER_SETTINGS, WALLET_SETTINGS } from '../../../src/lib/settings';
import { WORKER_QUEUES } from '../../../workflows/names';

const ROOT = resolve(__dirname, '../../..');
const CHART = 'deploy/helm/payments-gateway';
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const templates = readdirSync(join(ROOT, CHART, 'templates'))
  .map((name) => read(join(CHART, 'templates', name)))
  .join('\n');

const ALL = [...GATEWAY_SETTINGS, ...OWNER_SETTINGS, ...WALLET_SETTINGS];
const KNOWN = new Set(ALL.map(({ name }) => name));
const SECRETS = new Set(ALL.filter(({ isSecret }) => isSecret === true).map(({ name }) => name));
const defaultOf = (wanted: string) => ALL.find(({ name }) => name === wanted)?.otherwise;
const found = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, first = '']) => first);

/** The text of the services that run the gateway's image, and what they share. */
function gatewayServices(): string {
  const compose = read('docker-compose.yml');
  const [shared = ''] = compose.slice(compose.indexOf('x-gateway: &gateway')).split('\nservices:');
  const [, all = ''] = compose.split('\nservices:\n');
  const [services = ''] = all.split('\nsecrets:');
  const ours = services
    .split(/\n(?= {2}[a-z-]+:)/)
    .filter((service) => /<<: \*(gateway|worker|wallet)\b/.test(service));
  expect(ours).toHaveLength(7);
  return [shared, ...ours].join('\n');
}

test('docker-compose.yml sets variables that a program reads', () => {
  const set = found(gatewayServices(), /^ {4,6}([A-Z][A-Z_]+): /gm);
  expect(set.length).toBeGreaterThan(50);
  expect(set.filter((name) => !KNOWN.has(name))).toEqual([]);
});

test('the wallet in docker-compose.yml gets each of its variables but the owner’s login', () => {
  const services = gatewayServices();
  const missing = WALLET_SETTINGS.filter(({ name }) => !services.includes(`      ${name}: `));
  // The image sets it.
  expect(missing.map(({ name }) => name)).toEqual(['WALLET_WORKFLOW_BUNDLE']);
  expect(read('Dockerfile')).toContain('WALLET_WORKFLOW_BUNDLE=');
});

test('the chart sets variables that a program reads, and secrets come from Secrets', () => {
  const values = read(`${CHART}/values.yaml`);
  const [settings = ''] = values.slice(values.indexOf('\nsettings:\n')).split('\napi:\n');
  const [, wallet = ''] = values.split('\nwallet:\n');
  const [walletSettings = ''] = wallet.split('\n  resources:');
  const set = [
    ...found(settings, /^ {2}([A-Z][A-Z_]+): /gm),
    ...found(walletSettings, /^ {4}([A-Z][A-Z_]+): /gm),
    ...found(templates, /^ {2}([A-Z][A-Z_]+): /gm),
    ...found(templates, /- \{ name: ([A-Z][A-Z_]+), /g).filter((name) => name !== 'HOME'),
  ];
  expect(set.length).toBeGreaterThan(15);
  expect(set.filter((name) => !KNOWN.has(name))).toEqual([]);
  expect(set.filter((name) => SECRETS.has(name))).toEqual([]);
  const [secrets = ''] = values
    .slice(values.indexOf('\nexistingSecrets:\n'))
    .split('\n# Variables of api');
  const named = found(secrets, /\b([A-Z]+_[A-Z_]+[A-Z])\b/g);
  expect(named.filter((name) => !SECRETS.has(name))).toEqual([]);
});

test.each([
  ['docker-compose.yml', () => read('docker-compose.yml')],
  ['the Dockerfile', () => read('Dockerfile')],
  ['the chart', () => templates],
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
  expect(compose).toContain(`:-${defaultOf('PORT')}}:3000'`);
  expect(compose).toContain(`:-${defaultOf('WALLET_PORT')}}:3002'`);
  const metrics = found(compose, /METRICS_PORT: '([0-9]+)'/g);
  expect(new Set([...metrics, ...found(templates, /METRICS_PORT: '([0-9]+)'/g)]).size).toBe(1);
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

test('the chart registers every search attribute with its type', () => {
  for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES)) {
    expect(templates).toContain(`${name}:${type}`);
  }
});
