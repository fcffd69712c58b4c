/**
 * All services behind the HTTP API, one member per noun. src/deps.ts builds them; routes and tests receive
 * all of them.
 */
import type { Keys } from './keys-by-api';
import type { PayoutBatches } from './payout-batches';
import type { PayoutSchedules } from './payout-schedules';
import type { Recipients } from './recipients';
import type { Refunds } from './refunds';
import type { RequestLog } from './request-log';
import type { RequestLogs } from './request-logs';
import type { Webhooks } from './webhooks';
import type {
  Authentication,
  Balances,
  Catalogue,
  Events,
  Health,
  Payments,
  Payouts,
  ProviderCallbacks,
} from './services';

export interface Services {
  authentication: Authentication;
  payments: Payments;
  payouts: Payouts;
  payoutBatches: PayoutBatches;
  payoutSchedules: PayoutSchedules;
  recipients: Recipients;
  refunds: Refunds;
  balances: Balances;
  events: Events;
  webhooks: Webhooks;
  keys: Keys;
  catalogue: Catalogue;
  providerCallbacks: ProviderCallbacks;
  health: Health;
  requestLog: RequestLog;
  requestLogs: RequestLogs;
}
