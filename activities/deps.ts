/** The dependencies of the payout and payment activities; src/deps.ts builds them once. */
import { hasOpenDeliveries } from '../src/db/repositories/events';
import { inTransaction, type Db, type Tx } from '../src/db/transaction';
import type { Payout } from '../src/domain/payout';
import { PROVIDER_CODES } from '../src/domain/provider-codes';
import type { Provider } from '../src/providers/port';
import type { ProviderRegistry } from '../src/providers/registry';
import type { LocalCalls } from './local-calls';

export interface Deps {
  db: Db;
  providers: ProviderRegistry;
  localCalls: LocalCalls;
  /** Base URL of the console for links in workflows, such as https://ops.example.com/console. */
  consoleUrl: string | null;
  /** Starts the deliveries of the object's events in the background. */
  announceEvents: (objectId: string) => void;
}

/** @param object a payout or a payment */
export function providerOf(
  { providers }: Pick<Deps, 'providers'>,
  object: Pick<Payout, 'id' | 'provider' | 'mode'>,
): Provider {
  const code = PROVIDER_CODES.find((one) => one === object.provider);
  if (code === undefined)
    throw new Error(`${object.id} has an unknown provider: ${object.provider}`);
  return providers.get(code, object.mode);
}

/** A transaction that can append events of the object, and then announces them. */
export async function inEventTransaction<T>(
  { db, announceEvents }: Pick<Deps, 'db' | 'announceEvents'>,
  objectId: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  let last: Tx | undefined;
  try {
    const result = await inTransaction(db, (tx) => work((last = tx)));
    if (last !== undefined && (await hasOpenDeliveries(last))) announceEvents(objectId);
    return result;
  } catch (error) {
    // It may have occurred after the commit.
    announceEvents(objectId);
    throw error;
  }
}
