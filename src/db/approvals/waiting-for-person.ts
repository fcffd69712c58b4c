/** Everything of an account that waits for a second person (decisions/controls#second-person). */
import type { Owner } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import { OPEN_PAYOUT_GROUP } from '../../domain/payout';
import type { ApprovedKind } from '../../domain/second-person';
import { APPROVER_ROLES } from '../../domain/users';
import type { Reader } from '../transaction';
import { AWAITS_SECOND_PERSON as BATCH_AWAITS } from '../payout-batches/payout-batches';
import { AWAITS_SECOND_PERSON as RECIPIENT_AWAITS } from '../recipients/recipient-readiness';
import { KEY_AWAITS, personOf } from './second-person';

/** What waits for a second person, as a list shows it. */
export interface WaitingRow {
  kind: ApprovedKind;
  id: string;
  /** Its reference, or the name of a recipient. */
  name: string;
  maker: string;
  /** Of a schedule, those of each run; of a recipient, none. */
  amounts: { currency: string; amount: Amount }[];
  since: Date;
  /** When the funds are returned; null if nothing is reserved. */
  until: Date | null;
}

const AMOUNTS = `jsonb_build_array(jsonb_build_object('currency', currency, 'amount', amount::text))`;

/** The oldest first. @param db as the account */
export function listWaiting(
  db: Reader,
  { accountId, mode }: Owner,
  limit: number,
): Promise<WaitingRow[]> {
  return db.query<WaitingRow>(
    `WITH q (account_id, mode) AS (VALUES (?, ?))
     SELECT 'payout' AS kind, id, reference AS name, (
            SELECT c.parameters ->> 'maker' FROM payout_conditions c
             WHERE c.payout_id = id AND c.kind = 'second_person') AS maker, ${AMOUNTS} AS amounts,
            created_at AS since, release_expires_at AS until
       FROM payouts JOIN q USING (account_id, mode)
      WHERE status_group = '${OPEN_PAYOUT_GROUP}' AND awaits_release AND EXISTS (
            SELECT FROM payout_conditions c
             WHERE c.payout_id = id AND c.kind = 'second_person' AND c.met_at IS NULL)
     UNION ALL
     SELECT 'payoutBatch', id, reference, second_person, totals, created_at, second_person_until
       FROM payout_batches JOIN q USING (account_id, mode)
      WHERE second_person IS NOT NULL AND ending IS NULL AND ${BATCH_AWAITS}
     UNION ALL
     SELECT 'refund', id, coalesce(merchant_reference, id), second_person, ${AMOUNTS}, created_at,
            second_person_until
       FROM payment_refunds JOIN q USING (account_id, mode) WHERE awaits_person
     UNION ALL
     SELECT 'recipient', id, name, second_person, '[]', destination_since, NULL
       FROM recipients JOIN q USING (account_id, mode)
      WHERE deleted_at IS NULL AND ${RECIPIENT_AWAITS}
     UNION ALL
     SELECT 'apiKey', id, name, made_by, '[]', made_at, NULL
       FROM api_keys JOIN q USING (account_id, mode) WHERE ${KEY_AWAITS}
     UNION ALL
     SELECT 'payoutSchedule', id, reference, ${personOf('api_key_id')}, totals, created_at, NULL
       FROM payout_schedules JOIN q USING (account_id, mode)
      WHERE status <> 'ended'
        AND schedule_awaits_second_person(id, '{${APPROVER_ROLES.join(',')}}')
      ORDER BY since, id LIMIT ?`,
    [accountId, mode, limit],
  );
}
