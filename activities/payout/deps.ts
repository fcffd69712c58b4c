/** What the payout's activities work with; built once by src/deps.ts. */
import type { Db } from '../../src/db/transaction';
import type { Payout } from '../../src/domain/payout';
import { PROVIDER_CODES } from '../../src/domain/provider-codes';
import type { Provider } from '../../src/providers/port';
import type { ProviderRegistry } from '../../src/providers/registry';

export interface PayoutDeps {
  db: Db;
  providers: ProviderRegistry;
}

/** @param object a payout or a payment */
export function providerOf(
  { providers }: PayoutDeps,
  object: Pick<Payout, 'id' | 'provider' | 'mode'>,
): Provider {
  const code = PROVIDER_CODES.find((one) => one === object.provider);
  if (code === undefined) throw new Error(`${object.id} has no known provider`);
  return providers.get(code, object.mode);
}
