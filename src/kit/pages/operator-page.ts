/** What every page of the console knows about its visitor. */
import { mayDo, type Permission } from '../../domain/users';
import type { ChangedBy } from '../service/audit';
import { checkReason } from '../service/checks';
import type { Cost } from './limits';
import { PageRefusal } from './problems';
import { type Route, routeMaker, type SignedInAnswer } from './site';
import type { SignedInVisit } from './visit';

export const PREFIX = '/console';

export interface OperatorVisit extends SignedInVisit {
  may: (permission: Permission) => boolean;
  /** The operator, for the audit log. */
  by: ChangedBy;
  /** The same with the reason that the form requires, in the field `reason` or another. @throws InvalidInput */
  withReason: (field?: string) => ChangedBy & { reason: string };
}

export interface OperatorRoute {
  method: 'get' | 'post';
  /** Below /console, such as `/cases/:id`. */
  path: string;
  cost?: Cost;
  needs: Permission;
  run: (visit: OperatorVisit) => SignedInAnswer | Promise<SignedInAnswer>;
}

/** Writes a route as `get('/queue', 'read', (visit) => …)`. */
export const get = routeMaker<OperatorRoute>('get');
export const post = routeMaker<OperatorRoute>('post');

export function operatorRoute({ run, ...route }: OperatorRoute): Route {
  return { ...route, run: (visit: SignedInVisit) => run(operatorVisit(visit)) };
}

function operatorVisit(visit: SignedInVisit): OperatorVisit {
  const { actor, email } = visit.session;
  if (actor.kind !== 'operator') throw new PageRefusal('page_not_found');
  const by: ChangedBy = { actor: email, reason: null, via: 'console', address: visit.address };
  return {
    ...visit,
    may: (permission) => mayDo(actor, permission),
    by,
    withReason: (field = 'reason') => ({
      ...by,
      reason: checkReason(visit.form.get(field) ?? ''),
    }),
  };
}
