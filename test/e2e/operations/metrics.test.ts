/**
 * The metrics of the running programs: valid, complete, documented, and without secrets. Rules and
 * dashboard use no other names.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UNAVAILABLE_REASONS } from '../../../src/domain/errors';
import { findAnvil } from '../../../src/dev/chain/anvil';
import { describeWithProgram } from '../../support/optional-program';
import { acceptedPayout, openMerchant, whenFinal } from '../../support/payout/payout-steps';
import { findPromtool, PROMTOOL_REMEDY } from '../../support/servers/promtool';
import { ChildProgram, metricsUrlOf } from '../../support/servers/child-program';
import { started } from '../../support/started';
import { prepareWallet } from '../../support/wallet/gateway-wallet';
import { waitFor } from '../../support/wait-for';
import { startWatchedGateway } from './watched-gateway';

const ROOT = resolve(__dirname, '../../..');
const PROGRAMS = ['api', 'worker', 'wallet'] as const;
type Program = (typeof PROGRAMS)[number];

/** The names of the project's own metrics begin like this. */
const OWN = /^(gateway|wallet|ledger|http|request_log)_/;
/** Names in an expression of PromQL; a label has none of these beginnings. */
const IN_EXPRESSIONS =
  /\b(?:gateway|wallet|ledger|http|request_log|temporal|process|nodejs)_[a-z0-9_]+/g;
/** The SDK has these only after the first work. */
const AFTER_WORK = [
  'temporal_workflow_completed_total',
  'temporal_activity_schedule_to_start_latency_seconds_bucket',
];
/** The SDK has these only after such a failure, which a sound system does not have. */
const FAILURES_OF_SDK = [
  'temporal_workflow_task_execution_failed_total',
  'temporal_request_failure_total',
  'temporal_long_request_failure_total',
];

describeWithProgram(findAnvil(), 'Install the packages for this system.', 'metrics', () => {
  const nodeKey = `key-${Date.now().toString(36)}`;
  const gateway = started(startWatchedGateway);
  const beside = started(() =>
    prepareWallet({
      rpcUrls: (node) => [Object.assign(node, { username: 'user', password: nodeKey }).href],
    }),
  );
  let wallet: ChildProgram;
  let texts: Record<Program, string>;
  let merchant: { accountId: string; payoutId: string };

  beforeAll(async () => {
    wallet = new ChildProgram('wallet', { ...gateway.env, ...beside.env(gateway) });
    await wallet.start();
    const { accountId, client } = await openMerchant(gateway, { mode: 'test' });
    merchant = { accountId, payoutId: await acceptedPayout(client) };
    await whenFinal(client, merchant.payoutId);
    await gateway.temporal.schedule.getHandle('restart-missing').trigger();
    texts = await waitFor('the SDK to have told of a workflow and its activity', async () => {
      const found = await readAll();
      return AFTER_WORK.every((name) => found.worker.includes(`${name}{`)) ? found : undefined;
    });
  });

  afterAll(() => wallet.stop());

  async function readAll(): Promise<Record<Program, string>> {
    const [api, worker, ofWallet] = await Promise.all(
      [gateway.api, gateway.worker, wallet].map(async (program) =>
        (await fetch(await metricsUrlOf(program))).text(),
      ),
    );
    return { api: api!, worker: worker!, wallet: ofWallet! };
  }

  test('each program serves what the table in docs/operations.md says, and nothing else', () => {
    const rows = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8').matchAll(
      /^\| `(\w+)` \|[\w, ]* \| ([\w, ]+) \|/gm,
    );
    const documented = [...rows]
      .filter(([, name]) => OWN.test(name!))
      .map(([, name, programs]) => [
        name,
        programs === 'all' ? [...PROGRAMS] : programs!.split(', '),
      ]);
    const names = new Set(PROGRAMS.flatMap((program) => namesOf(texts[program])));
    const served = [...names]
      .filter((name) => OWN.test(name))
      .map((name) => [name, PROGRAMS.filter((program) => namesOf(texts[program]).includes(name))]);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(served));
  });

  test.each(['deploy/prometheus/alerts.yml', 'deploy/grafana/gateway.json'])(
    '%s uses names that the programs serve',
    (file) => {
      const served = new Set(PROGRAMS.flatMap((program) => namesOf(texts[program])));
      const used = new Set(readFileSync(join(ROOT, file), 'utf8').match(IN_EXPRESSIONS));
      const unknown = [...used].filter(
        (name) =>
          !served.has(name.replace(/_(bucket|count|sum)$/, '')) &&
          !served.has(name) &&
          !FAILURES_OF_SDK.includes(name),
      );
      expect(used.size).toBeGreaterThan(20);
      expect(unknown).toEqual([]);
    },
  );

  test('figures of a payout that is final, of the ledger, of pools and calls', () => {
    expect(texts.worker).toMatch(/^gateway_payouts_open\{mode="test",status="approved"\} 0$/m);
    expect(texts.worker).toMatch(/^gateway_payout_pauses\{scope="global"\} 0$/m);
    const proven = /^ledger_last_successful_check_timestamp_seconds (\S+)$/m.exec(texts.worker);
    expect(Math.abs(Date.now() / 1_000 - Number(proven?.[1]))).toBeLessThan(3_600);
    expect(texts.worker).toMatch(
      /^gateway_provider_call_duration_seconds_count\{provider="onchain_provider",mode="test",outcome="ok"\} [1-9]/m,
    );
    expect(texts.api).toMatch(/^gateway_database_connections_max\{pool="main"\} 20$/m);
    // A pause and an outage can be told apart, from the first refusal on.
    for (const reason of UNAVAILABLE_REASONS) {
      expect(texts.api).toContain(
        `gateway_refusals_total{code="service_unavailable",reason="${reason}"} 0\n`,
      );
    }
    expect(texts.api).toMatch(/^gateway_program_info\{program="api"\} 1$/m);
    expect(texts.worker).toMatch(/^temporal_num_pollers\{.*task_queue="payouts".*\} [1-9]/m);
  });

  test('the wallet names its node by the host, without the key of the URL', () => {
    const { host } = new URL(beside.chain.url);
    expect(texts.wallet).toContain(
      `wallet_node_up{network="ethereum",mode="test",node="${host}"} 1\n`,
    );
    expect(texts.wallet).toMatch(/^wallet_float\{.*asset="USDC"\} [1-9]/m);
    expect(texts.wallet).not.toContain(nodeKey);
  });

  test('a request’s log line names the account and the object, created or read', async () => {
    const { accountId, payoutId } = merchant;
    for (const [method, route] of [
      ['POST', '/api/v1/payouts'],
      ['GET', '/api/v1/payouts/:id'],
    ]) {
      const line = await waitFor(`the log line of ${method!} ${route!}`, async () =>
        gateway.api.output
          .split('\n')
          .find((one) => one.includes(`"method":"${method!}","route":"${route!}"`)),
      );
      expect(JSON.parse(line)).toMatchObject({ account_id: accountId, object_id: payoutId });
    }
  });

  test('SIGHUP ends no program, also without files to read again', async () => {
    const { api, worker } = gateway;
    for (const program of [api, worker, wallet]) program.signal('SIGHUP');
    for (const program of [api, worker]) {
      await waitFor('the program to say that it reads nothing', async () =>
        program.output.includes('there is nothing to read'),
      );
    }
    expect(Object.values(await readAll()).map((text) => text.length > 0)).toEqual([
      true,
      true,
      true,
    ]);
  });

  const promtool = findPromtool();
  describeWithProgram(promtool, PROMTOOL_REMEDY, 'promtool', () => {
    test.each(PROGRAMS)('has nothing to say against the metrics of the %s', (program) => {
      // prom-client chooses the names of what it tells about Node.
      const text = texts[program].replace(/^.*nodejs_active_\w+_total.*\n/gm, '');
      const { status, stderr } = spawnSync(promtool!, ['check', 'metrics'], { input: text });
      expect([status, String(stderr)]).toEqual([0, '']);
    });
  });
});

function namesOf(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!);
}
