/** Events: one per status change, with the webhook's exact bytes (decision H1). */
import type { Mode } from '../../domain/mode';
import { rows, type Tx } from '../transaction';

export interface NewEvent {
  id: string;
  accountId: string;
  mode: Mode;
  type: string;
  objectId: string;
  sequence: number;
  body: Buffer;
  createdAt: Date;
}

export async function appendEvent(tx: Tx, event: NewEvent): Promise<void> {
  await rows(
    tx,
    `INSERT INTO events (id, account_id, mode, type, object_id, sequence, body, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      event.id,
      event.accountId,
      event.mode,
      event.type,
      event.objectId,
      event.sequence,
      event.body,
      event.createdAt,
    ],
  );
}
