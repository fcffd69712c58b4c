/**
 * The bare limit of payouts, payments and deliveries: HTTP, a Temporal client and a worker in one process,
 * which share a connection, so that workflows can start eagerly. Environment: DATABASE_URL, TEMPORAL_ADDRESS,
 * TEMPORAL_NAMESPACE, PROVIDER_URL, PROVIDER_KEY, BARE_PAYOUT (name of the payout's workflow), EVENTS_URL
 * (where events of payouts are delivered; empty: nowhere).
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Client, WithStartWorkflowOperation } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
} from '@temporalio/worker';
import { newId } from '../../../src/platform/lib/new-id';
import { createFlowActivities } from './flow-activities';
import type { Flow } from './flow-activities';

const TASK_QUEUE = 'bare';

async function main(): Promise<void> {
  const env = (name: string): string => process.env[name] ?? '';
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const connection = await NativeConnection.connect({ address: env('TEMPORAL_ADDRESS') });
  const namespace = env('TEMPORAL_NAMESPACE');
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue: TASK_QUEUE,
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: require.resolve('./flow-workflows'),
      logger: new DefaultLogger('WARN'),
    }),
    activities: createFlowActivities({
      databaseUrl: env('DATABASE_URL'),
      providerUrl: env('PROVIDER_URL'),
      providerKey: env('PROVIDER_KEY'),
      announceEvent: (id) => {
        if (env('EVENTS_URL') !== '') void deliver(env('EVENTS_URL'), buildEvent(id));
      },
    }),
  });
  const ended = worker.run();
  const { workflow } = new Client({ connection, namespace });

  const create = async (type: string, flow: Flow): Promise<string> => {
    await workflow.executeUpdateWithStart('created', {
      startWorkflowOperation: new WithStartWorkflowOperation(type, {
        workflowId: flow.id,
        taskQueue: TASK_QUEUE,
        args: [flow],
        workflowIdConflictPolicy: 'USE_EXISTING',
      }),
    });
    return flow.id;
  };
  const deliver = (url: string, body: string): Promise<unknown> =>
    workflow.start('delivery', {
      workflowId: newId('webhookDelivery'),
      taskQueue: TASK_QUEUE,
      args: [url, body],
      requestEagerStart: true,
    });

  const answer = async (request: IncomingMessage): Promise<object> => {
    const body = JSON.parse(await text(request)) as RequestBody;
    switch (request.url) {
      case '/payouts':
        return { id: await create(env('BARE_PAYOUT'), { ...body, id: newId('payout') }) };
      case '/payments':
        return { id: await create('payment', { ...body, id: newId('payment') }) };
      case '/deliveries': {
        const { url, count, id } = body;
        const event = buildEvent(id);
        await Promise.all(Array.from({ length: count }, () => deliver(url, event)));
        return { id };
      }
      default:
        // This is a callback of the provider.
        await workflow.getHandle(body.data.client_reference).signal('providerUpdate');
        return {};
    }
  };
  const server = createServer((request, response) => {
    answer(request).then(
      (body) => response.writeHead(201).end(JSON.stringify({ data: body })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(Number(env('PORT')), '127.0.0.1', () => {
    process.send?.((server.address() as AddressInfo).port);
  });
  process.once('disconnect', () => process.exit(0));
  await ended;
}

function buildEvent(id: string): string {
  const started = performance.timeOrigin + performance.now();
  return JSON.stringify({ data: { id }, started, filling: 'x'.repeat(800) });
}

/** The members of all request bodies together. */
interface RequestBody {
  accountId: string;
  url: string;
  count: number;
  id: string;
  data: { client_reference: string };
}

void main();
