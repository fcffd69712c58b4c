/** Asks the providers for their open alarms and notes them, so that operators are told. */
import { noteProviderAlarms } from '../src/db/repositories/provider-alarms';
import type { Db } from '../src/db/transaction';
import { MODES } from '../src/domain/mode';
import { PROVIDER_CODES } from '../src/domain/provider-codes';
import type { ProviderRegistry } from '../src/providers/registry';

interface AlarmDeps {
  db: Db;
  providers: ProviderRegistry;
}

/** @returns how many alarms are open; a provider that does not answer keeps those that are noted */
export async function noteAlarms({ db, providers }: AlarmDeps): Promise<number> {
  const counts = await Promise.all(
    MODES.flatMap((mode) =>
      PROVIDER_CODES.map(async (code) => {
        const enabled = providers.list(mode).find((one) => one.code === code);
        // A provider that is no longer enabled has no alarms.
        const answer = (await enabled?.listAlarms()) ?? { kind: 'alarms', alarms: [] };
        if (answer.kind !== 'alarms') return 0;
        await noteProviderAlarms(db, { provider: code, mode }, answer.alarms);
        return answer.alarms.length;
      }),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
