/** The client's connection to Temporal while the network between them is silent. */
import { createTemporalClient } from '../../../src/temporal/client';
import { readTemporal } from '../../../src/temporal/connection';
import { startLink } from '../../support/chaos/link';
import { waitThroughFaults } from '../../support/wait-for';

const DEADLINE_MS = 500;

test('a connection that was opened in a silence is replaced when the network speaks again', async () => {
  const [, port] = (process.env['TEST_TEMPORAL_ADDRESS'] ?? '').split(':');
  const link = await startLink(Number(port));
  link.set({ kind: 'black_hole' });
  const client = createTemporalClient(readTemporal({ TEMPORAL_ADDRESS: `127.0.0.1:${link.port}` }));
  const ask = () =>
    client.withDeadline(Date.now() + DEADLINE_MS, () => client.workflowService.getSystemInfo({}));
  await expect(ask()).rejects.toThrow('DEADLINE_EXCEEDED');
  link.set(null);
  await waitThroughFaults('an answer', async () => {
    await ask();
    return true;
  });
  await client.close();
  await link.stop();
});
