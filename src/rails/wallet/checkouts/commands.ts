/** `wallet refund`: where a rejected payment goes back to, which nobody but an operator may say. */
import type { Command } from '@commander-js/extra-typings';
import { UsageError } from '../../../platform/lib/command-line';
import { findSetting } from '../../../platform/settings/read-settings';
import { BY, type CommandParts, readAddress, readMode, REASON } from '../command-options';
import { nameRefundAddress } from './steps';
import { findCheckout } from './store';

export function addRefundCommands(
  command: Command,
  { env, out, withDatabase }: CommandParts,
): void {
  command
    .command('refund')
    .description('says where a rejected payment goes back to')
    .command('address')
    .description(
      'Sends what was rejected to this address. Ask the customer, and screen the address before.',
    )
    .argument('<REFERENCE>', 'the client reference of the checkout: the id of the payment')
    .requiredOption('--mode <MODE>', 'test or live')
    .requiredOption('--to <ADDRESS>', 'where it goes')
    .requiredOption(...BY)
    .requiredOption(...REASON)
    .action(async (reference, { mode, to, by, reason }) => {
      const of = readMode(mode);
      const publicUrl = findSetting('WALLET_PUBLIC_URL', env) ?? '';
      const address = readAddress(to);
      const isNamed = await withDatabase(async (db) => {
        const facts = await findCheckout(db, of, reference);
        if (facts === null) throw new UsageError(`There is no checkout ${reference}.`);
        const pageUrl = (id: string) => `${publicUrl}/checkout/${id}`;
        return nameRefundAddress({ db, pageUrl }, facts.checkout.id, { address, by, reason });
      });
      out(
        isNamed
          ? `${reference} goes back to ${address}.\n`
          : `Nothing of ${reference} waits for an address.\n`,
      );
    });
}
