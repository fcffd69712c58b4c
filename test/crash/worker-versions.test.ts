/** Worker deployment versions, released and taken back with the commands of docs/operations.md. */
import { ChildProgram } from '../support/servers/child-program';
import { startGateway } from '../support/servers/gateway';
import { fund } from '../support/merchant/merchant';
import { buildPayout } from '../support/merchant/merchant-client';
import { PatientClient } from '../support/merchant/patient-client';
import { auditPayouts } from '../support/payout/payout-audit';
import { whenFinal, whenStatus } from './payout-status';
import { placeOf, temporalCommand } from '../support/servers/temporal-command';
import { waitThroughFaults } from '../support/wait-for';
import { started } from '../support/started';

const DEPLOYMENT = { WORKER_DEPLOYMENT_NAME: 'gateway' };

const gateway = started(() =>
  startGateway({ workerEnv: { ...DEPLOYMENT, WORKER_BUILD_ID: 'v1' } }),
);
let client: PatientClient;

beforeAll(async () => {
  for (const mode of ['test', 'live'] as const) {
    await fund(gateway.db, gateway.merchant.accountId, mode, 'USDT', '1000');
  }
  client = new PatientClient(gateway.baseUrl, gateway.merchant.liveKey);
});

const temporal = (...args: string[]) => temporalCommand(placeOf(gateway.env), ...args);

/** The server hears of a version when its first worker polls. */
const makeCurrent = (buildId: string) =>
  waitThroughFaults(`${buildId} to be current`, async () => {
    const which = ['--deployment-name', 'gateway', '--build-id', buildId, '--yes'];
    await temporal('worker', 'deployment', 'set-current-version', ...which);
    return true;
  });

const approve = (id: string) => gateway.temporal.workflow.getHandle(id).signal('approve');

const versionOf = (id: string) =>
  waitThroughFaults(`${id} to have a version`, async () => {
    const { raw } = await gateway.temporal.workflow.getHandle(id).describe();
    const info = raw.workflowExecutionInfo?.versioningInfo;
    return info?.deploymentVersion?.buildId ?? undefined;
  });

test('payouts under review move to the current version, and back', async () => {
  await makeCurrent('v1');
  const [first, second] = [
    await client.createPayout(buildPayout()),
    await client.createPayout(buildPayout()),
  ];
  await Promise.all([first, second].map(({ id }) => whenStatus(gateway.db, id, 'under_review')));
  expect(await versionOf(first.id)).toBe('v1');

  const next = new ChildProgram('worker', {
    ...gateway.env,
    ...{ ...DEPLOYMENT, WORKER_BUILD_ID: 'v2' },
  });
  await next.start();
  await makeCurrent('v2');
  await gateway.worker.stop();
  await approve(first.id);
  expect(await whenFinal(gateway.db, first.id)).toBe('completed');
  expect(await versionOf(first.id)).toBe('v2');

  // The way back: the earlier version is current again, then the later workers stop.
  await gateway.worker.start();
  await makeCurrent('v1');
  await next.stop();
  await approve(second.id);
  expect(await whenFinal(gateway.db, second.id)).toBe('completed');
  expect(await versionOf(second.id)).toBe('v1');
  expect(await auditPayouts(gateway)).toEqual([]);
  expect(await temporal('worker', 'deployment', 'describe', '--name', 'gateway')).toContain('v2');
});

test('a limit that an operator sets for a queue is kept by the server', async () => {
  const queue = ['--task-queue', 'provider-onchain_provider-live', '--task-queue-type', 'activity'];
  const limit = ['--queue-rps-limit', '50', '--queue-rps-limit-reason', 'agreed with the provider'];
  await temporal('task-queue', 'config', 'set', ...queue, ...limit);
  expect(await temporal('task-queue', 'config', 'get', ...queue)).toContain('50');
});
