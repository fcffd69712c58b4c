/**
 * All services behind the HTTP API, one member per noun. src/shell/deps.ts builds them; routes and tests receive
 * all of them.
 */
import type { Keys } from '../../features/api-keys/keys-by-api';
import type { PayoutBatches } from '../../features/payout-batches/payout-batches';
import type { PayoutSchedules } from '../../features/payout-schedules/payout-schedules';
import type { Recipients } from '../../features/recipients/recipients';
import type { Refunds } from '../../features/payments/refunds';
import type { RequestLog } from '../../features/request-log/request-log';
import type { RequestLogs } from '../../features/request-log/request-logs';
import type { Webhooks } from '../../features/webhooks/webhooks';
import type {
  Authentication,
  Balances,
  Catalogue,
  Events,
  Health,
  Payments,
  Payouts,
  ProviderCallbacks,
} from '../../kit/service/services';

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
