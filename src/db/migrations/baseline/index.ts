/** The schema as it is made at once, in one section for each group of tables (../index). */
import { accountRows } from './account-rows';
import { accounts } from './accounts';
import { apiKeys } from './api-keys';
import { audit } from './audit';
import { ledger } from './ledger';
import { ledgerCheck } from './ledger-check';
import { notifications } from './notifications';
import { occasions } from './occasions';
import { payments } from './payments';
import { payoutConditions } from './payout-conditions';
import { payoutSchedules } from './payout-schedules';
import { payoutUsage } from './payout-usage';
import { payouts } from './payouts';
import { people } from './people';
import { policies } from './policies';
import { recipients } from './recipients';
import { reconciliation } from './reconciliation';
import { requestLog } from './request-log';
import { screening } from './screening';
import { secondPerson } from './second-person';
import { webhooks } from './webhooks';

/** The sections by the names of their files, in an order in which a table comes after those that it refers to. */
export const SECTIONS = {
  accounts,
  audit,
  people,
  'api-keys': apiKeys,
  ledger,
  'ledger-check': ledgerCheck,
  policies,
  recipients,
  payouts,
  'payout-conditions': payoutConditions,
  'payout-usage': payoutUsage,
  'payout-schedules': payoutSchedules,
  payments,
  screening,
  'second-person': secondPerson,
  webhooks,
  reconciliation,
  'request-log': requestLog,
  notifications,
  occasions,
  'account-rows': accountRows,
} as const satisfies Record<string, string>;

/** Functions name tables of later sections. */
export const baseline = `SET LOCAL check_function_bodies = off;${Object.values(SECTIONS).join('')}`;
