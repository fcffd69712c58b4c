/** For each alert what makes it fire, what does not, and what it then says. */

export interface AlertCase {
  alert: string;
  /** Series with a value for each minute, in promtool's notation: `0+60x90` begins at 0 and grows by 60. */
  fires: Record<string, string>;
  /** When nobody is to be alerted. */
  quiet: Record<string, string>;
  /** Minutes after which it has fired. It has not after `notYet`. */
  by: number;
  notYet: number;
  /** Besides those of its labels. */
  labels: Record<string, string>;
  summary: string;
}

const PAGE = { severity: 'page' };
const TICKET = { severity: 'ticket' };
const RATE_OK = '0+600x60';
const NEVER = '0x400';
/** A time that stays fresh. */
const FRESH = '0+60x400';
const ON_TEST_CHAIN = 'network="ethereum",mode="test"';

/** @param code a PromQL selector's part */
function requests(status: string): string {
  return `http_request_duration_seconds_count{job="gateway",status="${status}"}`;
}

function refusals(reason: string): string {
  return `gateway_refusals_total{job="gateway",code="service_unavailable",reason="${reason}"}`;
}

function calls(outcome: string): string {
  return `gateway_provider_call_duration_seconds_count{provider="exchange_pay",mode="live",outcome="${outcome}"}`;
}

function bucket(kind: 'workflow_task' | 'activity', le: string, queue = 'payouts'): string {
  return `temporal_${kind}_schedule_to_start_latency_seconds_bucket{task_queue="${queue}",le="${le}"}`;
}

export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: 'GatewayProcessGone',
    fires: { 'up{job="gateway",instance="a"}': '1 1 0x20' },
    quiet: { 'up{job="gateway",instance="a"}': '1 0 0 0 1x20' },
    ...{ notYet: 6, by: 8, labels: { ...PAGE, job: 'gateway', instance: 'a' } },
    summary: 'gateway on a does not answer Prometheus',
  },
  {
    alert: 'GatewayErrors',
    fires: {
      [requests('200')]: '0+90x30',
      [requests('503')]: '0+10x30',
      [refusals('provider_unavailable')]: '0+10x30',
    },
    // While payouts are paused.
    quiet: {
      [requests('200')]: '0+890x30',
      [requests('500')]: '0+10x30',
      [requests('503')]: '0+100x30',
      [refusals('payouts_paused')]: '0+100x30',
    },
    ...{ notYet: 4, by: 12, labels: PAGE },
    summary: '10% of the requests are answered with 5xx',
  },
  {
    alert: 'GatewayFiguresOld',
    fires: { 'gateway_figures_timestamp_seconds{instance="a"}': '0+60x10 600x20' },
    quiet: {
      'gateway_figures_timestamp_seconds{instance="a"}': '0x30',
      'gateway_figures_timestamp_seconds{instance="b"}': FRESH,
    },
    ...{ notYet: 17, by: 22, labels: PAGE },
    summary: 'No worker reads the figures of the database',
  },
  {
    alert: 'LedgerBroken',
    fires: { gateway_ledger_broken_invariants: '0 0 2x10' },
    quiet: { gateway_ledger_broken_invariants: '0x20' },
    ...{ notYet: 2, by: 4, labels: PAGE },
    summary: 'The last ledger check found 2 broken invariants; payouts are paused',
  },
  {
    alert: 'LedgerNotProven',
    fires: { ledger_last_successful_check_timestamp_seconds: NEVER },
    quiet: { ledger_last_successful_check_timestamp_seconds: FRESH },
    ...{ notYet: 62, by: 70, labels: PAGE },
    summary: 'The ledger was last proven 1h 10m 0s ago',
  },
  {
    alert: 'PayoutsInDoubt',
    fires: { 'gateway_payouts_oldest_in_doubt_timestamp_seconds{mode="live"}': NEVER },
    quiet: { 'gateway_payouts_oldest_in_doubt_timestamp_seconds{mode="live"}': FRESH },
    ...{ notYet: 17, by: 25, labels: { ...PAGE, mode: 'live' } },
    summary: 'A payout has been in doubt for 25m 0s (live mode)',
  },
  {
    alert: 'PayoutsUnscreened',
    fires: {
      'gateway_payouts_oldest_held_by_screening_timestamp_seconds{kind="no_answer"}': NEVER,
    },
    quiet: {
      'gateway_payouts_oldest_held_by_screening_timestamp_seconds{kind="review"}': NEVER,
    },
    ...{ notYet: 17, by: 25, labels: PAGE },
    summary: 'A payout has waited for an answer of the screening for 25m 0s',
  },
  {
    alert: 'RecipientsUnscreened',
    fires: { gateway_recipients_oldest_unscreened_timestamp_seconds: NEVER },
    quiet: { gateway_recipients_oldest_unscreened_timestamp_seconds: FRESH },
    ...{ notYet: 17, by: 25, labels: TICKET },
    summary: 'A live recipient has waited for an answer of the screening for 25m 0s',
  },
  {
    alert: 'AuditLogUnsealed',
    fires: { gateway_audit_oldest_unsealed_timestamp_seconds: NEVER },
    quiet: { gateway_audit_oldest_unsealed_timestamp_seconds: FRESH },
    ...{ notYet: 40, by: 50, labels: TICKET },
    summary: 'An entry of the audit log has waited for its seal for 50m 0s',
  },
  {
    alert: 'PayoutsStuck',
    fires: {
      'gateway_payouts_oldest_open_timestamp_seconds{mode="live",status="processing"}': NEVER,
    },
    quiet: {
      'gateway_payouts_oldest_open_timestamp_seconds{mode="live",status="under_review"}': NEVER,
    },
    ...{ notYet: 125, by: 135, labels: { ...PAGE, mode: 'live', status: 'processing' } },
    summary: 'A payout has been open for 2h 15m 0s and is processing (live mode)',
  },
  {
    alert: 'PayoutsWaitForReview',
    fires: {
      'gateway_payouts_oldest_open_timestamp_seconds{mode="live",status="under_review"}': '0x1500',
    },
    quiet: {
      'gateway_payouts_oldest_open_timestamp_seconds{mode="live",status="under_review"}':
        '0+60x1500',
    },
    ...{ notYet: 1_442, by: 1_455, labels: { ...TICKET, mode: 'live' } },
    summary: 'A payout has waited for a review for 1d 0h 15m 0s (live mode)',
  },
  {
    alert: 'PayoutScheduleLate',
    fires: { 'gateway_payout_schedules_oldest_due_timestamp_seconds{mode="live"}': NEVER },
    quiet: { 'gateway_payout_schedules_oldest_due_timestamp_seconds{mode="live"}': FRESH },
    ...{ notYet: 32, by: 40, labels: { ...PAGE, mode: 'live' } },
    summary: 'A run of a payout schedule is 40m 0s late (live mode)',
  },
  {
    alert: 'PayoutScheduleRunsFailed',
    fires: {
      'gateway_payout_schedule_runs_failed{mode="live",code="service_unavailable"}': '0x5 3x20',
    },
    quiet: {
      'gateway_payout_schedule_runs_failed{mode="live",code="insufficient_balance"}': '3x30',
      'gateway_payout_schedule_runs_failed{mode="live",code="service_unavailable"}': '0x30',
    },
    ...{ notYet: 4, by: 10, labels: { ...TICKET, mode: 'live' } },
    summary: '3 runs of payout schedules failed in 24 hours because of the gateway (live mode)',
  },
  {
    alert: 'PayoutsPaused',
    fires: { 'gateway_payout_pauses{scope="global"}': '1x30' },
    quiet: { 'gateway_payout_pauses{scope="account"}': '1x30' },
    ...{ notYet: 10, by: 20, labels: { ...TICKET, scope: 'global' } },
    summary: 'Payouts are paused (scope: global)',
  },
  {
    alert: 'CasesOpen',
    fires: { 'gateway_cases_open{kind="unknown_transfer"}': '3x30' },
    quiet: { 'gateway_cases_open{kind="unknown_transfer"}': '0x30' },
    ...{ notYet: 10, by: 20, labels: { ...TICKET, kind: 'unknown_transfer' } },
    summary: '3 open cases of the kind unknown_transfer',
  },
  {
    alert: 'BreakGlassSignIn',
    fires: { 'gateway_break_glass_sign_ins_total{instance="a"}': '0x5 1x30' },
    quiet: { 'gateway_break_glass_sign_ins_total{instance="a"}': '1x30' },
    ...{ notYet: 4, by: 8, labels: { ...PAGE, instance: 'a' } },
    summary: 'An operator signed in to the console without the single sign-on provider',
  },
  {
    alert: 'StatementsOld',
    fires: {
      'gateway_provider_statement_timestamp_seconds{provider="exchange_pay",mode="live",kind="payouts"}':
        NEVER,
    },
    quiet: {
      'gateway_provider_statement_timestamp_seconds{provider="exchange_pay",mode="live",kind="payouts"}':
        FRESH,
    },
    notYet: 185,
    by: 195,
    labels: { ...TICKET, provider: 'exchange_pay', mode: 'live', kind: 'payouts' },
    summary: 'The statement of exchange_pay (live mode, payouts) was last read 3h 15m 0s ago',
  },
  {
    alert: 'DeliveriesLate',
    fires: { gateway_webhook_deliveries_oldest_due_timestamp_seconds: NEVER },
    quiet: { gateway_webhook_deliveries_oldest_due_timestamp_seconds: FRESH },
    ...{ notYet: 12, by: 20, labels: PAGE },
    summary: 'A webhook has been due for 20m 0s',
  },
  {
    alert: 'DatabasePoolExhausted',
    fires: { 'gateway_database_waiting{instance="a",pool="main"}': '5x20' },
    quiet: { 'gateway_database_waiting{instance="a",pool="main"}': '5 0 5 0 5 0 5 0 5 0 5 0 5 0' },
    ...{ notYet: 4, by: 10, labels: { ...PAGE, instance: 'a', pool: 'main' } },
    summary: 'Work waits for a database connection of a (pool main)',
  },
  {
    alert: 'StandbyDoesNotConfirm',
    fires: { 'gateway_database_commits_waiting_for_standby{instance="a"}': '0 0 4x20' },
    quiet: { 'gateway_database_commits_waiting_for_standby{instance="a"}': '1 0 1 0 1 0 1 0 1 0' },
    ...{ notYet: 3, by: 8, labels: { ...PAGE, instance: 'a' } },
    summary: '4 commits wait for the synchronous standby',
  },
  {
    alert: 'DatabaseCollationChanged',
    fires: { 'gateway_database_collation_changed{instance="a"}': '0 0 1x20' },
    quiet: { 'gateway_database_collation_changed{instance="a"}': '0x20' },
    ...{ notYet: 2, by: 4, labels: PAGE },
    summary: 'Indexes of texts were built with another C library than PostgreSQL uses now',
  },
  {
    alert: 'ProviderRefuses',
    fires: { [calls('refused')]: '0+6x60', [calls('ok')]: '0+6x60' },
    quiet: { [calls('refused')]: '0+1x60', [calls('ok')]: '0+9x60' },
    ...{ notYet: 8, by: 20, labels: { ...PAGE, provider: 'exchange_pay', mode: 'live' } },
    summary: 'exchange_pay refuses 50% of the calls (live mode)',
  },
  {
    alert: 'ProviderFails',
    fires: { [calls('unclear')]: '0+6x60', [calls('ok')]: '0+6x60' },
    quiet: { [calls('unclear')]: '0+1x60', [calls('ok')]: '0+9x60' },
    ...{ notYet: 4, by: 15, labels: { ...PAGE, provider: 'exchange_pay', mode: 'live' } },
    summary: '50% of the calls to exchange_pay get no clear answer (live mode)',
  },
  {
    alert: 'TemporalUnreachable',
    fires: {
      'temporal_long_request_failure_total{instance="a",status_code="TRANSPORT_ERROR"}': RATE_OK,
    },
    quiet: { 'gateway_temporal_client_errors_total{instance="a",code="NOT_FOUND"}': RATE_OK },
    ...{ notYet: 4, by: 12, labels: { ...PAGE, instance: 'a' } },
    summary: 'a does not reach Temporal',
  },
  {
    alert: 'TemporalPollersGone',
    fires: { 'temporal_num_pollers{task_queue="payouts",instance="a"}': '5 5 0x20' },
    quiet: {
      'temporal_num_pollers{task_queue="payouts",instance="a"}': '0x20',
      'temporal_num_pollers{task_queue="payouts",instance="b"}': '5x20',
    },
    ...{ notYet: 6, by: 10, labels: { ...PAGE, task_queue: 'payouts' } },
    summary: 'No worker polls the task queue payouts',
  },
  {
    alert: 'TemporalNonDeterminism',
    fires: {
      'temporal_workflow_task_execution_failed_total{workflow_type="payoutWorkflow",failure_reason="NonDeterminismError"}':
        '0 0 1x20',
    },
    quiet: {
      'temporal_workflow_task_execution_failed_total{workflow_type="payoutWorkflow",failure_reason="WorkflowError"}':
        '0+1x20',
    },
    ...{ notYet: 2, by: 5, labels: { ...PAGE, workflow_type: 'payoutWorkflow' } },
    summary: 'payoutWorkflow: the code of a worker does not fit the history of a workflow',
  },
  {
    alert: 'TemporalMessageTooLarge',
    fires: {
      'temporal_workflow_task_execution_failed_total{workflow_type="payoutWorkflow",failure_reason="GrpcMessageTooLarge"}':
        '0 0 1x20',
    },
    quiet: {
      'temporal_request_failure_total{operation="StartWorkflowExecution",status_code="INVALID_ARGUMENT"}':
        '0+10x20',
    },
    ...{ notYet: 2, by: 5, labels: { ...PAGE, workflow_type: 'payoutWorkflow' } },
    summary: 'Temporal refuses what a worker answers, because it is too large',
  },
  {
    alert: 'TemporalTasksLate',
    fires: {
      [bucket('activity', '5')]: '0x60',
      [bucket('activity', '10')]: '0+60x60',
      [bucket('activity', '+Inf')]: '0+60x60',
    },
    quiet: {
      [bucket('workflow_task', '0.1')]: '0+60x60',
      [bucket('workflow_task', '10')]: '0+60x60',
      [bucket('workflow_task', '+Inf')]: '0+60x60',
      [bucket('activity', '5', 'batches')]: '0x60',
      [bucket('activity', '10', 'batches')]: '0+60x60',
      [bucket('activity', '+Inf', 'batches')]: '0+60x60',
    },
    ...{ notYet: 9, by: 20, labels: { ...PAGE, task_queue: 'payouts' } },
    summary: 'Tasks of payouts wait 9.95s for a worker (p99)',
  },
  {
    alert: 'TemporalExhausted',
    fires: {
      'temporal_request_failure_total{instance="a",status_code="RESOURCE_EXHAUSTED"}': '0+60x30',
    },
    quiet: {
      'gateway_temporal_client_errors_total{instance="a",code="RESOURCE_EXHAUSTED"}': '1x30',
    },
    ...{ notYet: 4, by: 12, labels: { ...PAGE, instance: 'a' } },
    summary: 'Temporal limits a (RESOURCE_EXHAUSTED)',
  },
  {
    alert: 'WalletStatusOld',
    fires: { 'wallet_status_timestamp_seconds{instance="a"}': NEVER },
    quiet: { 'wallet_status_timestamp_seconds{instance="a"}': FRESH },
    ...{ notYet: 8, by: 15, labels: { ...PAGE, instance: 'a' } },
    summary: 'The wallet a cannot read its own status',
  },
  {
    alert: 'WalletFloatLow',
    fires: {
      [`wallet_float{${ON_TEST_CHAIN},address="0x1",asset="USDT"}`]: '900x30',
      [`wallet_float_minimum{${ON_TEST_CHAIN},address="0x1",asset="USDT"}`]: '1000x30',
    },
    quiet: {
      [`wallet_float{${ON_TEST_CHAIN},address="0x1",asset="USDT"}`]: '1000x30',
      [`wallet_float_minimum{${ON_TEST_CHAIN},address="0x1",asset="USDT"}`]: '1000x30',
      [`wallet_float{${ON_TEST_CHAIN},address="0x1",asset="USDC"}`]: '0x30',
    },
    notYet: 9,
    by: 12,
    labels: { ...PAGE, network: 'ethereum', mode: 'test', address: '0x1', asset: 'USDT' },
    summary: 'The hot wallet on ethereum has 900 USDT, less than the minimum (test mode)',
  },
  {
    alert: 'WalletBehind',
    fires: { [`wallet_follower_lag_blocks{${ON_TEST_CHAIN}}`]: '51x30' },
    quiet: { [`wallet_follower_lag_blocks{${ON_TEST_CHAIN}}`]: '50x30' },
    ...{ notYet: 9, by: 12, labels: { ...PAGE, network: 'ethereum', mode: 'test' } },
    summary: 'The wallet is 51 blocks behind ethereum (test mode)',
  },
  {
    alert: 'WalletTransactionOld',
    fires: {
      [`wallet_transactions_oldest_in_flight_timestamp_seconds{${ON_TEST_CHAIN},address="0x1"}`]:
        NEVER,
    },
    quiet: {
      [`wallet_transactions_oldest_in_flight_timestamp_seconds{${ON_TEST_CHAIN},address="0x1"}`]:
        FRESH,
    },
    notYet: 125,
    by: 135,
    labels: { ...PAGE, network: 'ethereum', mode: 'test', address: '0x1' },
    summary: 'A transaction on ethereum has not been final for 2h 15m 0s (test mode)',
  },
  {
    alert: 'WalletAlarm',
    fires: { [`wallet_alarms_open{${ON_TEST_CHAIN},kind="signer_stopped"}`]: '1x30' },
    quiet: { [`wallet_alarms_open{${ON_TEST_CHAIN},kind="signer_stopped"}`]: '0x30' },
    notYet: 1,
    by: 5,
    labels: { ...PAGE, network: 'ethereum', mode: 'test', kind: 'signer_stopped' },
    summary: 'The wallet has the open alarm signer_stopped on ethereum (test mode)',
  },
  {
    alert: 'WalletNodeDown',
    fires: { [`wallet_node_up{${ON_TEST_CHAIN},node="node.example.com"}`]: '1 0x30' },
    quiet: { [`wallet_node_up{${ON_TEST_CHAIN},node="node.example.com"}`]: '1 0 0 0 1x30' },
    notYet: 9,
    by: 15,
    labels: { ...TICKET, network: 'ethereum', mode: 'test', node: 'node.example.com' },
    summary: 'The node node.example.com of ethereum does not answer',
  },
];
