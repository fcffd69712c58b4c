/** Whether a recipient may be paid, in SQL. */
import { approvedByAnother } from '../approvals/second-person';

/** SQL over a row of recipients: the time since when it has its destination. */
export const VERSION = 'extract(epoch FROM destination_since)::text';

/** SQL over a row of recipients: whether its approval by a second person is missing. */
export const AWAITS_SECOND_PERSON = `(second_person IS NOT NULL AND NOT ${approvedByAnother({
  id: 'id',
  version: VERSION,
  account: 'account_id',
  maker: 'second_person',
})})`;

/** SQL over a row of recipients: it may be paid. `addressed` in src/domain/recipient.ts says why it may not. */
export const IS_READY = `(deleted_at IS NULL AND usable_from <= clock_timestamp()
  AND NOT ${AWAITS_SECOND_PERSON} AND coalesce(screening, 'clear') = 'clear')`;
