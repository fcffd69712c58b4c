/** The beneficiaries of payouts for operators: a look, which the audit log has, and their erasure. */
import { eraseBeneficiariesBefore } from '../../db/payouts/payout-beneficiaries';
import { findPayout } from '../../db/payouts/payouts';
import type { Db } from '../../db/transaction';
import type { Beneficiary } from '../../domain/beneficiary';
import { openBeneficiary } from '../../platform/lib/beneficiary-seal';
import type { SecretBox } from '../../platform/lib/secret-box';
import { type ChangedBy, makeChange } from '../../kit/service/audit';
import { AdminRefusal } from '../../kit/service/refusal';

export interface PayoutBeneficiariesDeps {
  db: Db;
  secretBox: Pick<SecretBox, 'open'>;
}

export type PayoutBeneficiaries = ReturnType<typeof createPayoutBeneficiaries>;

export function createPayoutBeneficiaries({ db, secretBox }: PayoutBeneficiariesDeps) {
  return {
    /** Says whether there is one, without decrypting it. @throws AdminRefusal */
    stateOf: async (payoutId: string): Promise<'none' | 'stored' | 'erased'> => {
      const { beneficiary } = await requirePayout(db, payoutId);
      if (beneficiary == null) return 'none';
      return beneficiary.sealed === null ? 'erased' : 'stored';
    },

    /** Null if there is none, or it was erased. @throws AdminRefusal */
    look: async (by: ChangedBy, payoutId: string): Promise<Beneficiary | null> => {
      const { id, accountId, beneficiary } = await requirePayout(db, payoutId);
      // Nobody sees it before the entry is stored.
      return makeChange(db, by, () =>
        Promise.resolve({
          audit: {
            action: 'payout.beneficiary_look',
            object: 'payout',
            objectId: id,
            accountId,
            before: null,
            after: null,
          },
          result: openBeneficiary(secretBox, beneficiary, id),
        }),
      );
    },
  };
}

async function requirePayout(db: Db, id: string) {
  const payout = await findPayout(db, id);
  if (payout === null) throw new AdminRefusal({ code: 'not_found', object: 'payout', id });
  return payout;
}

/** Rows of one transaction: it stays short, and an interrupted run continues with the rest. */
const BATCH = 500;

/**
 * Erases the beneficiaries of payouts that ended before a time. The payouts stay.
 * @param note gets the number so far, after each batch
 */
export async function eraseBeneficiaries(
  db: Db,
  by: ChangedBy,
  before: Date,
  note: (erased: number) => void,
): Promise<{ erased: number }> {
  let erased = 0;
  for (;;) {
    const batch = await makeChange(db, by, async (tx) => {
      const count = await eraseBeneficiariesBefore(tx, before, BATCH);
      const audit = {
        action: 'payout_beneficiaries.erase',
        object: 'payout_beneficiaries',
        objectId: before.toISOString(),
        accountId: null,
        before: null,
        after: { erased: count },
      };
      return { result: count, audit };
    });
    erased += batch;
    if (batch < BATCH) return { erased };
    note(erased);
  }
}
