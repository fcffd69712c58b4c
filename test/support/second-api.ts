/** One more API process of a gateway: same database, same Temporal namespace, perhaps other settings. */
import { findFreePort } from '../../src/dev/ports';
import { ChildProgram } from './child-program';
import type { TestGateway } from './gateway';

export interface SecondApi {
  /** Ends in /api/v1. */
  baseUrl: string;
  stop: () => Promise<void>;
}

/** @param without settings that this process does not have, by the start of their name */
export async function startSecondApi(
  { env }: TestGateway,
  without: readonly string[] = [],
): Promise<SecondApi> {
  const port = await findFreePort();
  const kept = Object.entries(env).filter(([name]) => !without.some((one) => name.startsWith(one)));
  const api = new ChildProgram('api', { ...Object.fromEntries(kept), PORT: String(port) });
  await api.start();
  return { baseUrl: `http://127.0.0.1:${port}/api/v1`, stop: () => api.stop() };
}
