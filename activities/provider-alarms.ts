/**
 * Asks the providers for their open alarms and the balances of their wallets, notes them, and tells the providers what
 * it can to end the alarms.
 */
import { listPayoutsPaidBy } from '../src/db/payouts/payouts';
import { listProviderAlarms, noteProviderAlarms } from '../src/db/cases/provider-alarms';
import { forgetProviderWallets, noteProviderWallets } from '../src/db/operations/provider-wallets';
import { type Mode, MODES } from '../src/domain/mode';
import { type ProviderCode, PROVIDER_CODES } from '../src/domain/provider-codes';
import type { Provider } from '../src/adapters/providers/port';
import type { Deps } from './deps';
import { orderOf } from './payout/provider';

type AlarmDeps = Pick<Deps, 'db' | 'providers'>;

/** @returns how many alarms are open; a provider that does not answer keeps those that are noted */
export async function noteAlarms(deps: AlarmDeps): Promise<number> {
  const { db, providers } = deps;
  const counts = await Promise.all(
    MODES.flatMap((mode) =>
      PROVIDER_CODES.map(async (code) => {
        const enabled = providers.list(mode).find((one) => one.code === code);
        await noteWallets(db, enabled, { provider: code, mode });
        // A provider that is no longer enabled has no alarms.
        const answer = (await enabled?.listAlarms()) ?? { kind: 'alarms', alarms: [] };
        if (answer.kind !== 'alarms') return 0;
        const { alarms, isSilent } = answer;
        const noted = isSilent === undefined ? [] : await listProviderAlarms(db);
        const kept = noted.filter(
          (one) => one.provider === code && one.mode === mode && isSilent?.(one.id),
        );
        await noteProviderAlarms(db, { provider: code, mode }, [...alarms, ...kept]);
        if (enabled !== undefined && answer.alarms.length > 0) {
          await explainTransactions(deps, enabled, mode);
        }
        return answer.alarms.length;
      }),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** What a provider without an answer told before stays, with its time. */
async function noteWallets(
  db: AlarmDeps['db'],
  enabled: Provider | undefined,
  key: { provider: ProviderCode; mode: Mode },
): Promise<void> {
  const answer = await enabled?.listWallets();
  if (answer === undefined) await forgetProviderWallets(db, key);
  else if (answer.kind === 'wallets') await noteProviderWallets(db, key, answer.wallets);
}

/**
 * A provider whose database was restored does not know the payouts that have ended since its backup, and the
 * gateway does not submit them again. The transactions that paid them are known here by their hashes.
 */
async function explainTransactions(
  { db }: AlarmDeps,
  provider: Provider,
  mode: Mode,
): Promise<void> {
  const unknown = await provider.listUnknownTransactions();
  if (unknown.kind !== 'transactions' || unknown.hashes.length === 0) return;
  const paid = await listPayoutsPaidBy(db, { provider: provider.code, mode }, unknown.hashes);
  for (const payout of paid) {
    const claim = await provider.claimTransaction(orderOf(payout, null), payout.txHash);
    // The schedule runs again soon.
    if (claim.kind === 'unknown' || claim.kind === 'limited') return;
  }
}
