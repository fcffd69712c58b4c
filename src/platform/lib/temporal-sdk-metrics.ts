/**
 * The metrics of Temporal's SDK (workers and their connection). The SDK has an HTTP server of its own for
 * them; it listens on this machine alone, and the private port of the process repeats its text.
 */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { RuntimeOptions } from '@temporalio/worker';

export interface SdkExporter {
  url: string;
  telemetry: NonNullable<RuntimeOptions['telemetryOptions']>;
}

/** The buckets in seconds. The SDK's own begin at 0.1 s, where a good answer ends. */
const LATENCY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Chooses the exporter for `Runtime.install`, once in a process. */
export async function chooseSdkExporter(): Promise<SdkExporter> {
  const bindAddress = `127.0.0.1:${String(await freeLoopbackPort())}`;
  return {
    url: `http://${bindAddress}/metrics`,
    telemetry: {
      metrics: {
        attachServiceName: false,
        prometheus: {
          bindAddress,
          countersTotalSuffix: true,
          unitSuffix: true,
          useSecondsForDurations: true,
          histogramBucketOverrides: Object.fromEntries(
            LATENCIES.map((name) => [name, LATENCY_BUCKETS]),
          ),
        },
      },
    },
  };
}

const LATENCIES = [
  'temporal_workflow_task_schedule_to_start_latency',
  'temporal_workflow_task_execution_latency',
  'temporal_activity_schedule_to_start_latency',
  'temporal_activity_execution_latency',
  'temporal_request_latency',
];

/** A free port on the loopback address. If the SDK chose one itself, it would not tell which. */
async function freeLoopbackPort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: 0, host: '127.0.0.1', exclusive: true }, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => {
        resolve(port);
      });
    });
  });
}
