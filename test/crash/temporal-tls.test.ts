/** A Temporal cluster with mutual TLS, whose client certificates are replaced while payouts are made. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readTemporal } from '../../src/temporal/connection';
import { openNativeConnection } from '../../src/temporal/probe';
import { startGateway, type OwnGateway } from '../support/servers/gateway';
import { fund } from '../support/merchant/merchant';
import { buildPayout } from '../support/merchant/merchant-client';
import { PatientClient } from '../support/merchant/patient-client';
import { auditPayouts } from '../support/payout/payout-audit';
import { whenFinal } from './payout-status';
import { scaled } from '../support/scale';
import { type Certificate, createAuthority } from '../support/servers/throw-away-certificates';
import { startTlsFront, type TlsFront } from './tls-front';
import { waitThroughFaults } from '../support/wait-for';

const ROTATIONS = scaled(2, 8);
const PAYOUTS_EACH = scaled(6, 40);

const servers = createAuthority('servers');
const server = servers.issue({ hosts: ['127.0.0.1'] });
let clients = createAuthority('clients 0');
let folder: string;
let front: TlsFront;
let gateway: OwnGateway;

const path = (name: string): string => join(folder, name);

function writePair({ cert, key }: Certificate): void {
  writeFileSync(path('client.crt'), cert);
  writeFileSync(path('client.key'), key);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'temporal-tls-'));
  writeFileSync(path('servers.crt'), servers.cert);
  writePair(clients.issue({ hosts: ['gateway 0'] }));
  front = await startTlsFront(process.env['TEST_TEMPORAL_ADDRESS'] ?? '', server, clients.cert);
  gateway = await startGateway({
    env: {
      TEMPORAL_ADDRESS: front.address,
      TEMPORAL_TLS_CLIENT_CERT_PATH: path('client.crt'),
      TEMPORAL_TLS_CLIENT_KEY_PATH: path('client.key'),
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: path('servers.crt'),
    },
  });
  await fund(gateway.db, gateway.merchant.accountId, 'test', 'USDT', '100000');
});

afterAll(async () => {
  await gateway.stop();
  await front.stop();
  rmSync(folder, { recursive: true });
});

test('client certificates of a new authority are taken over without a restart, under load', async () => {
  const client = new PatientClient(gateway.baseUrl, gateway.merchant.testKey);
  const ids: string[] = [];
  const create = async (): Promise<void> => {
    ids.push((await client.createPayout(buildPayout())).id);
  };
  for (let rotation = 1; rotation <= ROTATIONS; rotation += 1) {
    const name = `gateway ${rotation}`;
    const load = Array.from({ length: PAYOUTS_EACH }, async (_, index) => {
      await sleep(index * 250);
      await create();
    });
    await sleep(500);
    clients = createAuthority(`clients ${rotation}`);
    writePair(clients.issue({ hosts: [name] }));
    for (const program of [gateway.api, gateway.worker]) program.signal('SIGHUP');
    // From now on the earlier certificates are refused, and their connections end.
    front.trust(clients.cert);
    await Promise.all(load);
    await waitThroughFaults(
      'both programs to come with the new certificate',
      () => front.clients().filter((one) => one === name).length >= 2,
    );
    await create();
  }
  await Promise.all(ids.map((id) => whenFinal(gateway.db, id)));
  expect(ids).toHaveLength(ROTATIONS * (PAYOUTS_EACH + 1));
  expect(await auditPayouts(gateway)).toEqual([]);
});

describe('a connection that cannot be made names the cause', () => {
  const plain = () => process.env['TEST_TEMPORAL_ADDRESS'] ?? '';

  test.each<[string, () => Parameters<typeof openNativeConnection>[0], RegExp]>([
    [
      'nobody listens',
      () => ({ address: '127.0.0.1:1', namespace: 'default' }),
      /^Nothing listens at 127\.0\.0\.1:1 .*Check TEMPORAL_ADDRESS/,
    ],
    [
      'the host does not exist',
      () => ({ address: 'temporal.invalid:7233', namespace: 'default' }),
      /^The host of temporal\.invalid:7233 is not known/,
    ],
    [
      'the namespace does not exist',
      () => ({ address: plain(), namespace: 'nowhere' }),
      /has no namespace nowhere\. Create it and its search attributes/,
    ],
    [
      'the server has no TLS',
      () => readTemporal({ TEMPORAL_ADDRESS: plain(), TEMPORAL_TLS: 'true' }),
      /^No TLS connection with Temporal/,
    ],
    [
      'the server requires a client certificate',
      () =>
        readTemporal({
          TEMPORAL_ADDRESS: front.address,
          TEMPORAL_TLS_SERVER_CA_CERT_PATH: path('servers.crt'),
        }),
      /^No TLS connection with Temporal/,
    ],
    [
      'the server’s certificate is of another authority',
      () => {
        writeFileSync(path('other.crt'), createAuthority().cert);
        return readTemporal({
          TEMPORAL_ADDRESS: front.address,
          TEMPORAL_TLS_SERVER_CA_CERT_PATH: path('other.crt'),
        });
      },
      /^No TLS connection with Temporal/,
    ],
  ])('%s', async (_what, options, message) => {
    await expect(openNativeConnection(options())).rejects.toThrow(message);
  });
});
