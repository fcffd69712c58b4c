/** A form of the dashboard or the console: its page, and what happens when it is sent. */
import type { ApiError } from '../../domain/errors';
import { tryForm } from './creation';
import { fieldErrors, type FormState } from './forms';
import type { MerchantRoute, MerchantVisit } from './merchant-page';
import type { OperatorRoute, OperatorVisit } from './operator-page';
import { type Page, signInAgain, type SignedInAnswer } from './site';
import type { SignedInVisit } from './visit';

interface Form<Visit extends SignedInVisit> {
  /** What the fields contain at first; by default nothing. */
  values?: (visit: Visit) => URLSearchParams | Promise<URLSearchParams>;
  /** @param refusal what the API would refuse as a whole */
  show: (visit: Visit, form: FormState, refusal: ApiError | null) => Page | Promise<Page>;
  /** Makes the change. @throws InvalidInput, ApiError, which the form shows */
  send: (visit: Visit) => Promise<SignedInAnswer>;
}

interface MerchantForm extends Form<MerchantVisit>, Omit<MerchantRoute, Handled> {
  /** Whether sending it needs a recent sign-in: in live mode, or in both modes because it holds for both. */
  recent?: 'live' | 'always';
}

interface OperatorForm extends Form<OperatorVisit>, Omit<OperatorRoute, 'method' | 'run'> {
  /** Whether the form, and sending it, need a recent sign-in. */
  recent?: true;
}

type Handled = 'method' | 'run' | 'recent' | 'liveRecent';

/** What was sent is shown again after a sign-in, or with what is wrong with it. */
export function merchantForm(form: MerchantForm): MerchantRoute[] {
  const { values, show, send, recent, takesLargeForm, takesFile, cost, ...route } = form;
  const own = ({ base, params }: MerchantVisit) =>
    base + route.path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '');
  return [
    { ...route, method: 'get', run: (visit) => opened(form, visit) },
    {
      ...route,
      ...(takesLargeForm === undefined ? {} : { takesLargeForm }),
      ...(takesFile === undefined ? {} : { takesFile }),
      ...(cost === undefined ? {} : { cost }),
      ...(recent === undefined ? {} : { [recent === 'live' ? 'liveRecent' : 'recent']: own }),
      method: 'post',
      run: (visit) => sent(form, visit),
    },
  ];
}

export function operatorForm(form: OperatorForm): OperatorRoute[] {
  const { values, show, send, recent, ...route } = form;
  const again = (visit: OperatorVisit) => (recent === true ? signInAgain(visit) : null);
  return [
    { ...route, method: 'get', run: (visit) => again(visit) ?? opened(form, visit) },
    { ...route, method: 'post', run: (visit) => again(visit) ?? sent(form, visit) },
  ];
}

async function opened<Visit extends SignedInVisit>(form: Form<Visit>, visit: Visit) {
  const values = visit.draft ?? (await form.values?.(visit)) ?? new URLSearchParams();
  return form.show(visit, { values, errors: {} }, null);
}

async function sent<Visit extends SignedInVisit>(
  form: Form<Visit>,
  visit: Visit,
): Promise<SignedInAnswer> {
  const { answer, fields } = await fieldErrors(() => tryForm(visit.form, () => form.send(visit)));
  const { result, refusal, ...refused } = answer ?? {
    ...{ result: null, refusal: null },
    form: { values: visit.form, errors: fields },
  };
  if (result !== null) return result;
  return {
    ...(await form.show(visit, refused.form, refusal)),
    status: refusal?.status ?? 422,
  };
}
