/** What every page of the dashboard knows: the account, the mode and the role of its visitor. */
import { MODES, type Mode } from '../../domain/mode';
import { mayDo, type Permission } from '../../domain/users';
import type { ChangedBy } from '../service/audit';
import type { Cost } from './limits';
import { PageRefusal } from './problems';
import { type Route, routeMaker, signInAgain, type SignedInAnswer } from './site';
import type { SignedInVisit } from './visit';

export const PREFIX = '/dashboard';

export interface MerchantVisit extends SignedInVisit {
  accountId: string;
  userId: string;
  mode: Mode;
  /** `/dashboard/test` */
  base: string;
  may: (permission: Permission) => boolean;
  /** The person, for the audit log. */
  by: ChangedBy;
}

export interface MerchantRoute {
  method: 'get' | 'post';
  /** Below the mode: `/payments` is /dashboard/test/payments and /dashboard/live/payments. */
  path: string;
  cost?: Cost;
  takesLargeForm?: true;
  takesFile?: true;
  needs: Permission;
  /** The permission that live mode needs instead of `needs`. */
  liveNeeds?: Permission;
  /** In live mode, a form that needs a recent sign-in: the page that opens again after it. */
  liveRecent?: (visit: MerchantVisit) => string;
  /** The same in both modes, for a form whose change holds for live mode as well. */
  recent?: (visit: MerchantVisit) => string;
  run: (visit: MerchantVisit) => SignedInAnswer | Promise<SignedInAnswer>;
}

/** Writes a route as `get('/payments', 'read', (visit) => …)`. */
export const get = routeMaker<MerchantRoute>('get');
export const post = routeMaker<MerchantRoute>('post');

export function merchantRoute(route: MerchantRoute): Route {
  const { path, liveNeeds, liveRecent, recent, run, ...rest } = route;
  return {
    ...rest,
    path: `/:mode${path}`,
    run: (plain: SignedInVisit) => {
      const visit = merchantVisit(plain);
      if (visit.mode === 'live' && liveNeeds !== undefined && !visit.may(liveNeeds)) {
        throw new PageRefusal('not_allowed');
      }
      const pageAfter = visit.mode === 'live' ? (recent ?? liveRecent) : recent;
      if (pageAfter !== undefined) {
        const again = signInAgain(visit, pageAfter(visit));
        if (again !== null) return again;
      }
      return run(visit);
    },
  };
}

/** @throws PageRefusal when the path has no mode */
function merchantVisit(visit: SignedInVisit): MerchantVisit {
  const mode = modeOf(visit.params['mode']);
  const { actor, email, userId } = visit.session;
  if (mode === null || actor.kind !== 'merchant') throw new PageRefusal('page_not_found');
  return {
    ...visit,
    mode,
    accountId: actor.accountId,
    userId,
    base: `${PREFIX}/${mode}`,
    may: (permission) => mayDo(actor, permission),
    by: { actor: email, reason: null, via: 'dashboard', address: visit.address },
  };
}

export function modeOf(text: string | undefined): Mode | null {
  return MODES.find((mode) => mode === text) ?? null;
}
