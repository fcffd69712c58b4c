/**
 * Counts the calls of this process to each provider and adds them to the database every few seconds, so
 * that the console shows how a provider answers all processes.
 */
import type { ObservedCall } from '../adapters/providers/registry';
import { addProviderCalls, type ProviderCalls } from '../db/operations/provider-calls';
import type { Db } from '../db/transaction';

const STORED_AFTER_MS = 10_000;

export interface ProviderCallCounts {
  add: (call: ObservedCall) => void;
  /** Stores what is left. */
  stop: () => Promise<void>;
}

export function countProviderCalls(db: Db): ProviderCallCounts {
  let counts = new Map<string, ProviderCalls>();
  let timer: NodeJS.Timeout | null = null;

  /** Counts that cannot be stored are lost: they are figures for people, and the metrics have them too. */
  async function store(): Promise<void> {
    timer = null;
    const found = [...counts.values()];
    counts = new Map();
    if (found.length > 0) await addProviderCalls(db, found).catch(() => undefined);
  }

  return {
    add: ({ provider, mode, outcome, seconds }) => {
      const key = `${provider} ${mode}`;
      const ms = Math.round(seconds * 1_000);
      const none = { calls: 0, failed: 0, limited: 0, totalMs: 0, slowestMs: 0 };
      const before = counts.get(key) ?? { provider, mode, ...none };
      counts.set(key, {
        ...before,
        calls: before.calls + 1,
        failed: before.failed + (outcome === 'unclear' || outcome === 'failed' ? 1 : 0),
        limited: before.limited + (outcome === 'limited' ? 1 : 0),
        totalMs: before.totalMs + ms,
        slowestMs: Math.max(before.slowestMs, ms),
      });
      timer ??= setTimeout(() => void store(), STORED_AFTER_MS).unref();
    },
    stop: async () => {
      if (timer !== null) clearTimeout(timer);
      await store();
    },
  };
}
