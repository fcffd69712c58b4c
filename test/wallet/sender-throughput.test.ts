/**
 * How many payouts a second the wallet gives nonces, signs, stores and broadcasts. Prints the figure
 * and asserts nothing about time; `TEST_SCALE=long` for one that means something.
 */
import { getAddress, numberToHex } from 'viem';
import { amount } from '../../src/domain/money';
import { connectDatabase } from '../../src/wallet/db/database';
import { submitTransfer } from '../../src/wallet/sender/transfers';
import { describeWithChain, startChain } from '../support/chain';
import { waitLong } from '../support/patience';
import { scaled } from '../support/scale';
import {
  createTestSigner,
  createWalletDatabase,
  fillFloat,
  startTestWallet,
  testNetwork,
} from '../support/wallet';

const PAYOUTS = scaled(60, 3_000);

describeWithChain('the throughput of the wallet', () => {
  it(`sends ${String(PAYOUTS)} payouts`, async () => {
    const [chain, database] = await Promise.all([startChain(), createWalletDatabase()]);
    const signer = createTestSigner();
    await fillFloat(chain, signer.address);
    await chain.setAutomine(false);
    await chain.rpc('evm_setIntervalMining', [1]);
    const network = testNetwork(chain, { payouts: { inFlightMax: 1_000 } });
    const db = connectDatabase(database.url);
    const rules = { networks: [network], isRefused: () => Promise.resolve(false) };
    const submit = (index: number) =>
      submitTransfer(db, rules, {
        ...{ mode: 'test', reference: `po_${String(index)}`, asset: 'USDC', network: 'ethereum' },
        amount: amount('1'),
        destination: getAddress(numberToHex(BigInt(index) + (0xbeefn << 140n), { size: 20 })),
        memo: null,
      });
    for (let from = 0; from < PAYOUTS; from += 50) {
      const count = Math.min(50, PAYOUTS - from);
      await Promise.all(Array.from({ length: count }, (_, index) => submit(from + index)));
    }
    const startedAt = performance.now();
    const wallet = await startTestWallet({ networks: [network], signer, database });
    await waitLong('all broadcasts', async () => {
      const [made] = await db.query<{ count: string }>(
        'SELECT count(*) AS count FROM wallet.attempt WHERE broadcast_at IS NOT NULL',
      );
      return Number(made?.count) === PAYOUTS ? true : undefined;
    });
    const seconds = (performance.now() - startedAt) / 1_000;
    const [durable] = await db.query<{ fsync: string }>('SHOW fsync');
    console.log(
      `${String(PAYOUTS)} payouts in ${seconds.toFixed(1)} s with fsync ${durable?.fsync ?? ''}: ${(PAYOUTS / seconds).toFixed(0)} a second`,
    );
    await wallet.stop();
    await db.close();
    await Promise.all([chain.stop(), database.drop()]);
  });
});
