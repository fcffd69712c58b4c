/** The local Temporal server of `npm start` on the database of an older version. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { dataLayout } from '../../src/platform/lib/data-folder';
import { startTemporal } from '../../src/dev/servers';
import { stopProcess } from '../../src/dev/processes';
import { findFreePort } from '../../src/dev/ports';

const NAMESPACE = 'default';
const folder = mkdtempSync(join(tmpdir(), 'dev-temporal-'));

afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function withServer(work: (connection: Connection) => Promise<void>): Promise<void> {
  const layout = dataLayout({ GATEWAY_DATA_DIR: folder });
  mkdirSync(layout.logs, { recursive: true });
  const [temporal, temporalUi] = [await findFreePort(), await findFreePort()];
  let pid = 0;
  const context = {
    layout,
    ports: { temporal, temporalUi },
    log: () => undefined,
    onSpawn: (_name: string, spawned: number) => {
      pid = spawned;
    },
  };
  try {
    const { address } = await startTemporal(context, null);
    const connection = await Connection.connect({ address });
    await work(connection);
    await connection.close();
  } finally {
    await stopProcess(pid, { signal: 'SIGINT', graceMs: 5_000, lastSignal: 'SIGKILL' });
  }
}

test('new search attributes are added to an existing database', async () => {
  await withServer(async ({ operatorService }) => {
    const searchAttributes = ['PaymentStatus'];
    await operatorService.removeSearchAttributes({ namespace: NAMESPACE, searchAttributes });
  });
  await withServer(async ({ operatorService }) => {
    const { customAttributes } = await operatorService.listSearchAttributes({
      namespace: NAMESPACE,
    });
    expect(Object.keys(customAttributes)).toContain('PaymentStatus');
  });
});
