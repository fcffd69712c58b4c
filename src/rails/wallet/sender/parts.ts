/** What the steps of the sender work with. */
import type { Alarms } from '../alarms';
import type { Chain } from '../chain/chain';
import type { Database } from '../db/database';
import type { PayoutRules } from '../networks';
import type { SignerKey } from './slots';

/** What works on the transactions of one hot wallet. */
export interface QueueParts {
  db: Database;
  chain: Chain;
  rules: PayoutRules;
  key: SignerKey;
  alarms: Alarms;
}
