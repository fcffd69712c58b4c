/** A posting of the ledger against one guarded UPDATE of the same row. Each commits by itself. */
import { Pool } from 'pg';
import { connect } from '../../../src/db/connect';
import { type BalanceKey, post } from '../../../src/db/ledger/ledger';
import { reservePosting } from '../../../src/domain/ledger';
import { createTestDatabase } from '../../support/servers/database';
import { buildPayoutMoney } from '../../support/merchant/ledger';
import { clients } from '../load';
import type { Row } from '../row';
import { idOf } from '../volume';

const CLIENTS = 16;

/** @param balances on how many the postings are spread */
function ledgerRow(name: string, balances: number): Row {
  return {
    name,
    description: `ledger_post on ${balances.toLocaleString('en')} balances; a guarded UPDATE`,
    needsTemporal: false,
    figures: [{ name: 'postings/s', ratio: { atLeast: 0.5 } }],
    prepare: async () => {
      const database = await createTestDatabase();
      const owner = connect({ url: database.ownerUrl, size: 1, applicationName: 'bench' });
      await owner.query(
        `INSERT INTO balances
         SELECT 'acc_' || lpad(n::text, 26, '0'), 'test', 'USDT', 1000000, 0, 1, now()
           FROM generate_series(0, ? - 1) n`,
        [balances],
      );
      const db = connect({ url: database.workerUrl, size: CLIENTS, applicationName: 'bench' });
      const pool = new Pool({ connectionString: database.ownerUrl, max: CLIENTS });
      const keyOf = (n: number): BalanceKey => {
        // A stride that meets all balances.
        const accountId = idOf('acc', (n * 7_919) % balances);
        return { accountId, mode: 'test', currency: 'USDT' };
      };
      const side = (work: (key: BalanceKey) => Promise<boolean>) => ({
        measure: async (ms: number) => ({
          'postings/s': await clients(CLIENTS, ms, async (n) => {
            if (!(await work(keyOf(n)))) throw new Error('the balance is insufficient');
          }),
        }),
      });
      return {
        gateway: side(async (key) => {
          const posting = reservePosting(buildPayoutMoney('0.01'));
          return (await post(db, key, posting)).outcome === 'posted';
        }),
        bare: side(async ({ accountId, mode, currency }) => {
          const values = [accountId, mode, currency, '0.01'];
          const { rowCount } = await pool.query({ name: 'take', text: GUARDED_UPDATE, values });
          return rowCount === 1;
        }),
        stop: async () => {
          await Promise.all([owner.destroy(), db.destroy(), pool.end()]);
          await database.drop();
        },
      };
    },
  };
}

const GUARDED_UPDATE = `
  UPDATE balances SET available = available - $4, reserved = reserved + $4
   WHERE account_id = $1 AND mode = $2 AND currency = $3 AND available >= $4`;

export const LEDGER_ROWS: readonly Row[] = [
  ledgerRow('ledger-hot', 1),
  ledgerRow('ledger-cold', 10_000),
];
