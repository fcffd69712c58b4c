/**
 * Metrics of what is open, from the database. The workers alone have them: each reads all, so a
 * dashboard takes the maximum over the workers. Scrapes within FIGURES_EVERY_MS share one statement.
 */
import { Gauge, type Registry } from 'prom-client';
import { type Figure, readOperatingFigures } from '../db/operations/operating-figures';
import type { Db } from '../db/transaction';
import { CASE_KINDS } from '../domain/cases';
import { MODES } from '../domain/mode';
import { OPEN_PAYMENT_STATUSES } from '../domain/payment';
import { OPEN_PAYOUT_STATUSES } from '../domain/payout';
import { readAtMostEvery, setAll } from '../platform/lib/metrics';
import { wallClockMs } from '../platform/lib/wall-clock';

export const FIGURES_EVERY_MS = 15_000;

interface Metric {
  help: string;
  labels?: readonly string[];
  /** Labels that are shown as 0 when nothing is counted, so that a graph has no gaps. */
  zeros?: readonly Record<string, string>[];
}

const ofModes = MODES.map((mode) => ({ mode }));

function ofStatuses(statuses: readonly string[]): Record<string, string>[] {
  return MODES.flatMap((mode) => statuses.map((status) => ({ mode, status })));
}

const METRICS: Readonly<Record<string, Metric>> = {
  gateway_payouts_open: {
    help: 'Payouts that are not final, by status; at most 20,000 are counted.',
    labels: ['mode', 'status'],
    zeros: ofStatuses(OPEN_PAYOUT_STATUSES),
  },
  gateway_payouts_oldest_open_timestamp_seconds: {
    help: 'Unix time at which the oldest open payout of a status was created.',
    labels: ['mode', 'status'],
  },
  gateway_payouts_reserved: {
    help: 'Amount and fees that open payouts have reserved, by currency.',
    labels: ['mode', 'currency'],
  },
  gateway_payments_open: {
    help: 'Payments that are not final, by status; at most 20,000 are counted.',
    labels: ['mode', 'status'],
    zeros: ofStatuses(OPEN_PAYMENT_STATUSES),
  },
  gateway_payments_oldest_open_timestamp_seconds: {
    help: 'Unix time at which the oldest open payment of a status was created.',
    labels: ['mode', 'status'],
  },
  gateway_payouts_in_doubt: {
    help: 'Payouts whose submission got no clear answer.',
    labels: ['mode'],
    zeros: ofModes,
  },
  gateway_payouts_oldest_in_doubt_timestamp_seconds: {
    help: 'Unix time since which the oldest payout has been in doubt.',
    labels: ['mode'],
  },
  gateway_webhook_deliveries_pending: {
    help: 'Webhook deliveries that are not finished, retries included; at most 20,000 are counted.',
  },
  gateway_webhook_deliveries_due: { help: 'Webhook deliveries whose next attempt is due.' },
  gateway_webhook_deliveries_oldest_due_timestamp_seconds: {
    help: 'Unix time at which the attempt that has been due for longest was due.',
  },
  gateway_cases_open: {
    help: 'Cases that no operator has resolved, by kind.',
    labels: ['kind'],
    zeros: CASE_KINDS.map((kind) => ({ kind })),
  },
  gateway_payout_pauses: {
    help: 'Pauses of live payouts: global, of a provider or of an account.',
    labels: ['scope'],
    zeros: ['global', 'provider', 'account'].map((scope) => ({ scope })),
  },
  gateway_payouts_held_by_screening: {
    help: 'Payouts that wait for an answer of the screening, or for an operator’s decision about it.',
    labels: ['kind'],
    zeros: ['no_answer', 'review'].map((kind) => ({ kind })),
  },
  gateway_payouts_oldest_held_by_screening_timestamp_seconds: {
    help: 'Unix time since which the screening has held the oldest payout.',
    labels: ['kind'],
  },
  gateway_payout_schedule_runs_failed: {
    help: 'Runs of payout schedules that failed in the last 24 hours, by the code of their reason.',
    labels: ['mode', 'code'],
    zeros: ofModes.map((mode) => ({ ...mode, code: 'service_unavailable' })),
  },
  gateway_payout_schedules_oldest_due_timestamp_seconds: {
    help: 'Unix time of the oldest time of a payout schedule that has come and was not run to its end.',
    labels: ['mode'],
  },
  gateway_recipients_oldest_unscreened_timestamp_seconds: {
    help: 'Unix time since which the oldest live recipient has waited for an answer of the screening.',
  },
  gateway_audit_oldest_unsealed_timestamp_seconds: {
    help: 'Unix time of the oldest entry of the audit log that the chain does not seal yet.',
  },
  gateway_provider_statement_timestamp_seconds: {
    help: 'Unix time of the last complete reading of a provider’s statement.',
    labels: ['provider', 'mode', 'kind'],
  },
  ledger_last_successful_check_timestamp_seconds: {
    help: 'Unix time of the last ledger check that found no broken invariant.',
  },
  gateway_ledger_check_timestamp_seconds: {
    help: 'Unix time of the last ledger check, whatever it found.',
  },
  gateway_ledger_broken_invariants: { help: 'Invariants that the last ledger check found broken.' },
  gateway_database_commits_waiting_for_standby: {
    help: 'Sessions of the workers whose commit waits for a synchronous standby.',
  },
  gateway_database_collation_changed: {
    help: '1 if indexes of texts were built with another C library than PostgreSQL uses now.',
  },
};

export function measureOperations(registry: Registry, db: Db): void {
  const read = readAtMostEvery(FIGURES_EVERY_MS, async () => ({
    figures: await readOperatingFigures(db),
    readAt: wallClockMs(),
  }));
  for (const [name, { help, labels = [], zeros = [] }] of Object.entries(METRICS)) {
    new Gauge({
      ...{ name, help, labelNames: labels, registers: [registry] },
      async collect() {
        const found = await read();
        setAll(
          this,
          found === null ? [] : [...zeros.map(asZero), ...samplesOf(found.figures, name)],
        );
      },
    });
  }
  new Gauge({
    name: 'gateway_figures_timestamp_seconds',
    help: 'Unix time at which the figures of the database were read.',
    registers: [registry],
    async collect() {
      const found = await read();
      setAll(this, found === null ? [] : [[{}, found.readAt / 1000]]);
    },
  });
}

function asZero(labels: Record<string, string>): [Record<string, string>, number] {
  return [labels, 0];
}

function samplesOf(figures: readonly Figure[], name: string): [Record<string, string>, number][] {
  return figures
    .filter((figure) => figure.name === name)
    .map(({ labels, value }) => [labels, value]);
}
