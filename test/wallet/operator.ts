/** A person who follows the runbook for a stopped hot wallet (docs/operations.md) step by step. */
import type { Hex } from 'viem';
import { createChain } from '../../src/rails/wallet/chain/chain';
import type { Database } from '../../src/rails/wallet/db/database';
import type { Network } from '../../src/rails/wallet/networks';
import {
  beginRestore,
  type HotWalletRestore,
  readRestore,
} from '../../src/rails/wallet/sender/restore';
import { waitThroughFaults } from '../support/wait-for';

const BY = { by: 'alice', reason: 'the runbook' };

export function createOperator(network: () => Network, db: () => Database) {
  const chain = () => createChain(network());
  const look = (): Promise<HotWalletRestore[]> => readRestore(db(), chain());
  const cancel = () => beginRestore(db(), chain(), BY);
  const isStopped = async () => (await look()).some((one) => one.stopped_reason !== null);
  const unknown = async (): Promise<Hex[]> =>
    (await look()).flatMap((one) => one.unknown_transactions.map(({ hash }) => hash as Hex));
  return {
    look,
    cancel,
    isStopped,
    /** `wallet restore --cancel`, and waiting until all of it is explained. @param meanwhile blocks, and the gateway */
    restore: async (meanwhile: () => Promise<unknown>): Promise<void> => {
      await cancel();
      await waitThroughFaults('the end of the restore', async () => {
        await meanwhile();
        return !(await isStopped());
      });
    },
    /** `wallet restore --cancel`, and waiting until a transaction that fits no payout is shown. */
    cancelUntilUnknown: async (meanwhile: () => Promise<unknown>): Promise<void> => {
      await cancel();
      await waitThroughFaults('the unknown transaction', async () => {
        await meanwhile();
        return (await unknown()).length > 0;
      });
    },
    unknown,
  };
}
