/** The console of a gateway over HTTP, with two admins and a reviewer. */
import {
  makeUser,
  type PageClient,
  signedIn,
  type TestUser,
} from '../support/merchant/page-client';
import { type Gateway, type Harness, startHarness } from './http-harness';

/** Markup that somebody wrote. */
export const PROBE = '"><script>alert(1)</script>';

export interface ConsoleWorld {
  harness: Harness;
  gateway: Gateway;
  admin: TestUser;
  second: TestUser;
  reviewer: TestUser;
  signedIn: (user: TestUser) => Promise<PageClient>;
  /** What was recorded about an object, newest first. */
  auditOf: (objectId: string) => Promise<Record<string, unknown>[]>;
  stop: () => Promise<void>;
}

export async function startConsoleWorld(): Promise<ConsoleWorld> {
  const harness = await startHarness();
  const gateway = await harness.startGateway({
    env: { TRUSTED_PROXY_HOPS: '1', TEMPORAL_UI_URL: 'https://temporal.example.com/' },
  });
  const operator = (role: string) => makeUser(harness.owner, 'operator', role);
  return {
    harness,
    gateway,
    admin: await operator('admin'),
    second: await operator('admin'),
    reviewer: await operator('reviewer'),
    signedIn: (user) => signedIn(gateway.url, user),
    auditOf: (objectId) =>
      harness.owner.query(
        `SELECT actor, action, via, host(address) AS address, reason FROM audit_log
          WHERE object_id = ? ORDER BY id DESC`,
        [objectId],
      ),
    stop: () => harness.stop(),
  };
}

/** A page of the console, which must be there. */
export async function read(client: PageClient, path: string, status = 200): Promise<string> {
  return client.read(`/console${path}`, status);
}
