/** The Python client of clients/python: its own tests, and the sample of its guide, against a gateway. */
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath } from '../../../src/dev/processes';
import { buildPayout } from '../../support/merchant/merchant-client';
import { describeWithProgram } from '../../support/optional-program';
import { openMerchant } from '../../support/payout/payout-steps';
import { useSharedGateway } from '../../support/servers/gateway';
import { started } from '../../support/started';

const ROOT = resolve(__dirname, '../../..');
const PACKAGE = join(ROOT, 'clients/python');
const python = findOnPath('python3');
const isNewEnough = 'import sys; sys.exit(sys.version_info < (3, 11))';
const found = python !== null && spawnSync(python, ['-c', isNewEnough]).status === 0;

const gateway = started(useSharedGateway);

function runPython(args: string[], env: Record<string, string>) {
  return promisify(execFile)(python!, args, {
    cwd: PACKAGE,
    env: { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: PACKAGE, ...env },
  });
}

describeWithProgram(
  found ? python : null,
  'Install Python 3.11 or newer.',
  'the Python client',
  () => {
    test('its tests pass', async () => {
      const merchant = await openMerchant(gateway, { mode: 'test', funds: { USDT: '1000' } });
      const live = await openMerchant(gateway, { mode: 'live', funds: { USDT: '1000' } });
      const { stderr } = await runPython(['-m', 'unittest', 'discover', '-s', 'tests', '-v'], {
        GATEWAY_BASE_URL: gateway.baseUrl,
        GATEWAY_TEST_KEY: merchant.client.apiKey,
        GATEWAY_LIVE_KEY: live.client.apiKey,
        GATEWAY_ADDRESS: (buildPayout() as { destination: { value: string } }).destination.value,
        TEST_SIGNATURES: join(ROOT, 'test/fixtures/signatures.json'),
      });
      expect(stderr).toMatch(/\nOK\n$/);
    });

    test('the quickstart of docs/guides/python.md runs as it stands', async () => {
      const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
      const guide = readFileSync(join(ROOT, 'docs/guides/python.md'), 'utf8');
      const [, script = ''] = /```python\n([\s\S]*?)```/.exec(guide) ?? [];
      const { stdout } = await runPython(['-c', script], {
        GATEWAY_BASE_URL: client.baseUrl,
        GATEWAY_API_KEY: client.apiKey,
      });
      const lines = stdout.trim().split('\n');
      expect(lines[0]).toMatch(/^created pay_\w+ http/);
      expect(lines.slice(-3)).toEqual([
        expect.stringMatching(/^payment.completed pay_/),
        'available 24.75000000',
        expect.stringMatching(/^missing funds \d+\.\d{8} req_/),
      ]);
    });
  },
);
