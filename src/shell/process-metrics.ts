/** Metrics of what each process of the gateway has: pools, calls to providers, calls to Temporal. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Db } from '../db/transaction';
import type { ObservedCall } from '../adapters/providers/registry';

export interface CallMetrics {
  /** Notified when a call to a provider has ended. */
  onProviderCall: (call: ObservedCall) => void;
  /** A call of the process's Temporal client failed; retried calls count each time. */
  onTemporalError: (code: string) => void;
}

export function measureCalls(registry: Registry): CallMetrics {
  const registers = [registry];
  const providerCalls = new Histogram({
    name: 'gateway_provider_call_duration_seconds',
    help: 'Time of a call to a provider, by what became of it.',
    labelNames: ['provider', 'mode', 'outcome'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8],
    registers,
  });
  const temporalErrors = new Counter({
    name: 'gateway_temporal_client_errors_total',
    help: 'Failed calls of the process’s Temporal client, by gRPC code.',
    labelNames: ['code'],
    registers,
  });
  return {
    onProviderCall: ({ provider, mode, outcome, seconds }) => {
      providerCalls.observe({ provider, mode, outcome }, seconds);
    },
    onTemporalError: (code) => {
      temporalErrors.inc({ code });
    },
  };
}

/** @returns what counts a sign-in of an operator without the OpenID provider */
export function measureBreakGlass(registry: Registry): () => void {
  const signIns = new Counter({
    name: 'gateway_break_glass_sign_ins_total',
    help: 'Sign-ins of operators without the OpenID provider of the console.',
    registers: [registry],
  });
  return () => {
    signIns.inc();
  };
}

/** @param pools by the name that the label shows; null if the process does not have it */
export function measurePools(registry: Registry, pools: Record<string, Db | null>): void {
  const registers = [registry];
  const figures = () =>
    Object.entries(pools).flatMap(([pool, db]) => (db === null ? [] : [{ pool, ...db.figures() }]));
  new Gauge({
    name: 'gateway_database_connections',
    help: 'Database connections of the process, by pool and state.',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const { pool, inUse, idle } of figures()) {
        this.set({ pool, state: 'in_use' }, inUse);
        this.set({ pool, state: 'idle' }, idle);
      }
    },
  });
  new Gauge({
    name: 'gateway_database_connections_max',
    help: 'The most connections that a pool may have.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const { pool, max } of figures()) this.set({ pool }, max);
    },
  });
  new Gauge({
    name: 'gateway_database_waiting',
    help: 'Work that waits for a connection of a pool.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const { pool, waiting } of figures()) this.set({ pool }, waiting);
    },
  });
}
