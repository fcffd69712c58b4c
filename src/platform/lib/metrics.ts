/**
 * The metrics that a process gives to Prometheus: its own registry and, where the process runs
 * Temporal's SDK, what the SDK exports on a loopback port. Both are one text, so that a process has one
 * port.
 */
import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { within } from './within';

/** A scrape must not wait for a source that does not answer. */
const PATIENCE_MS = 2_000;

export interface Scrape {
  contentType: string;
  text: string;
}

/** Each application has its own registry, so that a process can contain several. */
export function createRegistry(program: string): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'gateway_program_info',
    help: 'Always 1; the label names the program of this process.',
    labelNames: ['program'],
    registers: [registry],
  }).set({ program }, 1);
  return registry;
}

/** @param sdkUrl the URL of the SDK's exporter; null if the process has none */
export async function scrape(registry: Registry, sdkUrl: string | null): Promise<Scrape> {
  const [own, sdk] = await Promise.all([
    registry.metrics(),
    sdkUrl === null ? null : within(PATIENCE_MS, readText(sdkUrl)),
  ]);
  return { contentType: registry.contentType, text: own + (sdk ?? '') };
}

async function readText(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
  return response.text();
}

/**
 * Sets all figures. Without a figure a gauge is absent; prom-client would show 0 for one without
 * labels.
 */
export function setAll(gauge: Gauge, samples: Iterable<[labels: Labels, value: number]>): void {
  gauge.reset();
  gauge.remove({});
  for (const [labels, value] of samples) gauge.set(labels, value);
}

type Labels = Record<string, string>;

/**
 * A gauge whose figures are read together with others, and not more often than `everyMs`: the source is
 * asked once, however many processes scrape. A source that fails leaves the last figures, and their
 * time shows it.
 */
export function readAtMostEvery<T>(
  everyMs: number,
  read: () => Promise<T>,
): () => Promise<T | null> {
  let last: T | null = null;
  let next = 0;
  let running: Promise<T | null> | null = null;
  const readNow = async (): Promise<T | null> => {
    try {
      last = await read();
      next = performance.now() + everyMs;
    } catch {
      // The next scrape asks again.
    } finally {
      running = null;
    }
    return last;
  };
  return async () => {
    if (performance.now() < next) return last;
    running ??= readNow();
    return (await within(PATIENCE_MS, running)) ?? last;
  };
}
