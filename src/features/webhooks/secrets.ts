/**
 * The change of KEY_PEPPER and WEBHOOK_SECRET_KEY (decisions/webhooks#webhook-secrets): lists what still
 * depends on an earlier value, and encrypts secrets with the current one. An API key is hashed again when
 * it is used.
 */
import { countKeysByPepper } from '../../db/api-keys/api-keys';
import {
  lockBeneficiariesOfOtherKeys,
  replaceBeneficiary,
} from '../../db/payouts/payout-beneficiaries';
import { lockChatsOfOtherKeys, replaceChatSecret } from '../../db/notifications/chat-webhooks';
import { lockTotpsOfOtherKeys, replaceTotp, totpOwner } from '../../db/people/second-factors';
import {
  countSecretsByKey,
  lockSecretsOfOtherKeys,
  replaceEndpointSecret,
} from '../../db/webhooks/webhook-endpoints';
import type { Db } from '../../db/transaction';
import type { SecretBox } from '../../platform/lib/secret-box';
import { makeChange, type ChangedBy } from '../../kit/service/audit';

/** Rows of one transaction: it stays short, and an interrupted run continues with the rest. */
const BATCH = 500;

/**
 * Encrypts every secret with the current key, so that an earlier key can be removed. The secrets
 * stay the same for receivers.
 * @param note gets the number so far, after each batch
 */
export async function resealSecrets(
  db: Db,
  by: ChangedBy,
  secretBox: SecretBox,
  note: (resealed: number) => void,
): Promise<{ keyId: string; resealed: number }> {
  let resealed = 0;
  for (;;) {
    const batch = await resealBatch(db, by, secretBox);
    resealed += batch;
    if (batch === 0) return { keyId: secretBox.keyId, resealed };
    note(resealed);
  }
}

async function resealBatch(db: Db, by: ChangedBy, secretBox: SecretBox): Promise<number> {
  const { keyId } = secretBox;
  return makeChange(db, by, async (tx) => {
    const secrets = await lockSecretsOfOtherKeys(tx, keyId, BATCH);
    for (const { id, ...sealed } of secrets) {
      await replaceEndpointSecret(tx, id, secretBox.seal(secretBox.open(sealed, id), id));
    }
    const totps = await lockTotpsOfOtherKeys(tx, keyId, BATCH);
    for (const { userId, ...sealed } of totps) {
      const owner = totpOwner(userId);
      await replaceTotp(tx, userId, secretBox.seal(secretBox.open(sealed, owner), owner));
    }
    const beneficiaries = await lockBeneficiariesOfOtherKeys(tx, keyId, BATCH);
    for (const { payoutId: id, ...sealed } of beneficiaries) {
      await replaceBeneficiary(tx, id, secretBox.seal(secretBox.open(sealed, id), id));
    }
    const chats = await lockChatsOfOtherKeys(tx, keyId, BATCH);
    for (const { id, ...sealed } of chats) {
      await replaceChatSecret(tx, id, secretBox.seal(secretBox.open(sealed, id), id));
    }
    const resealed = secrets.length + totps.length + beneficiaries.length + chats.length;
    return {
      result: resealed,
      audit: {
        action: 'webhook_secrets.reseal',
        object: 'webhook_secrets',
        objectId: keyId,
        accountId: null,
        before: null,
        after: { object: 'webhook_secrets', key_id: keyId, resealed },
      },
    };
  });
}

export interface SecretUse {
  name: 'KEY_PEPPER' | 'WEBHOOK_SECRET_KEY';
  /**
   * Identifies the value without revealing it; null if not known, the key was not used since it is stored.
   */
  id: string | null;
  isCurrent: boolean;
  /** Working API keys, or secrets of endpoints, chats and authenticator apps, and beneficiaries. */
  used: number;
}

/** What depends on which value; a value that nothing depends on can be removed. */
export async function listSecretUses(
  db: Db,
  { keyId, pepperId }: { keyId: string; pepperId: string },
): Promise<SecretUse[]> {
  const [keys, secrets] = await Promise.all([countKeysByPepper(db), countSecretsByKey(db)]);
  return [
    ...keys.map((row): SecretUse => {
      const isCurrent = row.pepperId === pepperId;
      return { name: 'KEY_PEPPER', id: row.pepperId, isCurrent, used: row.keys };
    }),
    ...secrets.map((row): SecretUse => {
      const isCurrent = row.keyId === keyId;
      return { name: 'WEBHOOK_SECRET_KEY', id: row.keyId, isCurrent, used: row.secrets };
    }),
  ];
}
