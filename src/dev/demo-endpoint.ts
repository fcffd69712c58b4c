/**
 * The demo merchant's test endpoint, which points at the sandbox's inbox page. Made at the first
 * start; later ones bring it to the sandbox's port and to the secret in dev.json, unless somebody
 * has pointed it elsewhere.
 */
import { connect } from '../db/connect';
import { inTransaction, rows } from '../db/transaction';
import { newId } from '../lib/new-id';
import { createSecretBox } from '../lib/secret-box';
import { findDemoMerchant } from './seed';

/** Programs know the endpoint by this description. */
const DESCRIPTION = 'Sandbox inbox';

export async function keepDemoEndpoint(
  ownerUrl: string,
  { url, secret, secretKey }: { url: string; secret: string; secretKey: string },
): Promise<void> {
  const db = connect({ url: ownerUrl, size: 1, applicationName: 'gateway-seed' });
  try {
    await inTransaction(db, async (tx) => {
      const accountId = await findDemoMerchant(tx);
      if (accountId === null) return;
      const [known] = await rows<{ id: string }>(
        tx,
        'SELECT id FROM webhook_endpoints WHERE account_id = ? AND description = ?',
        [accountId, DESCRIPTION],
      );
      const id = known?.id ?? newId('webhookEndpoint');
      const { sealed, keyId } = createSecretBox(secretKey, []).seal(secret, id);
      await rows(
        tx,
        `INSERT INTO webhook_endpoints AS e
                (id, account_id, mode, url, description, secret_sealed, secret_key_id)
         VALUES (?, ?, 'test', ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE
            SET url = excluded.url, secret_sealed = excluded.secret_sealed,
                secret_key_id = excluded.secret_key_id
          WHERE e.url LIKE 'http://localhost:%/inbox'`,
        [id, accountId, url, DESCRIPTION, sealed, keyId],
      );
    });
  } finally {
    await db.destroy();
  }
}
