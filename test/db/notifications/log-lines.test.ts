/** A log tells which object it is about, and never a destination or another value of a row. */
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { LOG_SERIALIZERS } from '../../../src/platform/lib/logger';
import { openTestDatabase } from '../../support/servers/database';
import { started } from '../../support/started';

const DESTINATION = '0x52908400098527886E0F7030069857D2E4169EE7';
const REFERENCE = 'order-of-a-customer';

const database = started(() => openTestDatabase({ owner: 1 }));

/** Violates a check, so PostgreSQL's error contains the whole row. */
async function failingInsert(): Promise<Error & { detail?: string }> {
  await database.owner.query(
    `INSERT INTO accounts (id, name) VALUES ('acc_1', 'M') ON CONFLICT DO NOTHING`,
  );
  return database.owner
    .query(
      `INSERT INTO payouts (id, account_id, mode, reference, status, provider, amount, currency,
       destination_type, destination_value, service_fee, network_fee, total_debit, fee_terms,
       api_key_id, review_reasons)
     VALUES ('po_1', 'acc_1', 'live', ?, 'requested', 'onchain_provider', -1, 'USDT',
       'crypto_address', ?, 0, 0, -1, '{}', 'key', '{}')`,
      [REFERENCE, DESTINATION],
    )
    .then(
      () => {
        throw new Error('the row was accepted');
      },
      (error: unknown) => error as Error,
    );
}

function logged(error: unknown, member = 'err'): string {
  let text = '';
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  pino({ serializers: LOG_SERIALIZERS }, output).error({ [member]: error }, 'request failed');
  return text;
}

test('an error of PostgreSQL is logged without the row', async () => {
  const error = await failingInsert();
  // Otherwise this test would show nothing.
  expect(error.detail).toContain(DESTINATION);
  const lines = ['err', 'error'].flatMap((member) => [
    logged(error, member),
    logged(new Error('outer', { cause: error }), member),
  ]);
  for (const line of lines) {
    expect(line).toContain('payouts_amount_check');
    expect(line).not.toContain(DESTINATION);
    expect(line).not.toContain(REFERENCE);
  }
});
