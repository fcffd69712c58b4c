/** The gateway against a peer: payouts that are created, that are completed, and that are reported. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { createTestDatabase } from '../../support/servers/database';
import { runLifecycles, startGatewayFlows } from '../flows';
import { startCountingReceiver } from '../receiver';
import type { Contest, Measured, Row } from '../row';
import { createUnderLoad } from '../rows/creates';
import { deliverAll } from '../rows/deliveries';
import type { Peer, PeerSetting, RunningPeer } from './peer';

/** Payments whose webhooks are under way at the same time. */
const WEBHOOKS_AT_ONCE = 32;

/** What nobody has used. */
const EMPTY_DATABASE = 'template1';

export interface Installed {
  peer: Peer;
  /** Its path. */
  program: string;
}

/** @param folder for what the peer writes */
export function rowsOf({ peer, program }: Installed, folder: string): Row[] {
  const start = async (webhookUrl: string | null) => {
    const own = mkdtempSync(join(folder, 'peer-'));
    return startPeer(peer, program, { folder: own, webhookUrl });
  };
  return [createdRow(peer, start), completedRow(peer, start), webhookRow(peer, start)];
}

type Start = (webhookUrl: string | null) => Promise<RunningPeer>;

function createdRow({ name }: Peer, start: Start): Row {
  return {
    name: `${name}: created`,
    description: '32 clients: POST /payouts, which wait for their review; a final payment',
    needsTemporal: true,
    figures: [{ name: 'payouts/s' }, { name: 'p50 ms' }, { name: 'p95 ms' }],
    prepare: () => prepareContest(start, measureCreated, measureCreated),
  };
}

function completedRow({ name }: Peer, start: Start): Row {
  return {
    name: `${name}: completed`,
    description: 'payouts from POST to completed, 20 at a time; 32 clients: a final payment',
    needsTemporal: true,
    figures: [{ name: 'payouts/s' }],
    prepare: () =>
      prepareContest(
        start,
        async (flows, ms) => {
          const { perSecond } = await runLifecycles(flows, 'payout', ms);
          return { 'payouts/s': perSecond };
        },
        measureCreated,
      ),
  };
}

function webhookRow({ name }: Peer, start: Start): Row {
  return {
    name: `${name}: webhook`,
    description: 'from the request to the webhook at one endpoint, 32 at a time',
    needsTemporal: true,
    figures: [{ name: 'deliveries/s' }],
    prepare: async () => {
      const receiver = await startCountingReceiver();
      const [gateway, running] = await Promise.all([
        startGatewayFlows({ endpoints: [receiver.url] }),
        start(receiver.url),
      ]);
      const once = { deliveries: 1, eventsAtOnce: WEBHOOKS_AT_ONCE };
      const create = () => gateway.create('payout');
      return {
        gateway: { measure: (ms) => deliverAll(receiver, create, ms, once) },
        bare: {
          measure: (ms) =>
            deliverAll(receiver, running.pay, ms, {
              ...once,
              idOf: ({ body }) => running.idOf(body),
            }),
        },
        stop: async () => {
          await Promise.all([gateway.stop(), running.stop()]);
          await receiver.stop();
        },
      };
    },
  };
}

type GatewayFlows = Awaited<ReturnType<typeof startGatewayFlows>>;

/** A payout that waits for its review costs nothing after the response, and neither does a payment. */
const measureCreated = (side: Pick<GatewayFlows, 'create'>, ms: number): Promise<Measured> =>
  createUnderLoad(side, ms, () => Promise.resolve());

async function prepareContest(
  start: Start,
  ofGateway: (flows: GatewayFlows, ms: number) => Promise<Measured>,
  ofPeer: (side: Pick<GatewayFlows, 'create'>, ms: number) => Promise<Measured>,
): Promise<Contest> {
  const [gateway, running] = await Promise.all([startGatewayFlows(), start(null)]);
  return {
    gateway: { measure: (ms) => ofGateway(gateway, ms) },
    bare: { measure: (ms) => ofPeer({ create: running.pay }, ms) },
    stop: async () => {
      await Promise.all([gateway.stop(), running.stop()]);
    },
  };
}

async function startPeer(
  peer: Peer,
  program: string,
  setting: Omit<PeerSetting, 'databaseUrl'>,
): Promise<RunningPeer> {
  const database = await createTestDatabase(EMPTY_DATABASE);
  const running = await peer.start(program, { ...setting, databaseUrl: database.ownerUrl });
  if (running.version !== peer.version) {
    process.stderr.write(
      `${peer.name} ${running.version}: docs/performance.md is about ${peer.version}.\n`,
    );
  }
  return {
    ...running,
    stop: async () => {
      await running.stop();
      await database.drop();
    },
  };
}
