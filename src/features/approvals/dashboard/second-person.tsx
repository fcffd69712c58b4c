/** The amounts above which another person approves, and that person's approval. */
import type { DashboardServices } from '../../../shell/dashboard/services';
import {
  approveAsSecondPerson,
  declineAsSecondPerson,
  ruleSecondPerson,
  textsOf,
} from '../second-person';
import { APPROVED_KINDS } from '../../../domain/second-person';
import { isId } from '../../../domain/ids';
import { ChangeFields, readFields } from '../../../kit/pages/change-form';
import { Card, PageHead } from '../../../kit/pages/components';
import { merchantForm } from '../../../kit/pages/form-pages';
import { FormActions, type FormState } from '../../../kit/pages/forms';
import { page, redirect } from '../../../kit/pages/site';
import { personOf } from '../../../kit/pages/creation';
import { type MerchantRoute, type MerchantVisit, post } from '../../../kit/pages/merchant-page';
import { checkReason } from '../../../kit/service/checks';
import { pathOfWaiting } from './waiting';

const NAV = { nav: 'second-person' };

export function secondPersonPages(services: DashboardServices): MerchantRoute[] {
  const { db, money, secondPersonRule } = services;
  return [
    ...merchantForm({
      path: '/second-person',
      ...ruleSecondPerson.access,
      recent: 'always',
      values: async (visit) =>
        new URLSearchParams({ above: textsOf(await secondPersonRule(visit)).join(', ') }),
      show: ({ base }, form) => page('Two-person approval', <Rule base={base} form={form} />, NAV),
      send: async ({ by, accountId, form, base }) => {
        const input = readFields(ruleSecondPerson, form);
        await ruleSecondPerson.make(db, by, { accountId, mayLoosen: false }, input);
        return redirect(`${base}/second-person`);
      },
    }),
    post(
      '/second-person/:id/approve',
      { ...approveAsSecondPerson.access, liveRecent: objectPath },
      async (visit) => {
        const subject = subjectOf(visit);
        const { kind, id } = await approveAsSecondPerson.make(db, visit.by, subject, {});
        await money.lookAgain(personOf(visit), kind, id);
        return redirect(pathOfWaiting(visit.base, { kind, id }));
      },
    ),
    post('/second-person/:id/decline', declineAsSecondPerson.access, async (visit) => {
      const reason = (visit.form.get('reason') ?? '').trim();
      const by = { ...visit.by, reason: reason === '' ? null : checkReason(reason) };
      const { kind, id } = await declineAsSecondPerson.make(db, by, subjectOf(visit), {});
      await money.end(personOf(visit), by, kind, id);
      return redirect(pathOfWaiting(visit.base, { kind, id }));
    }),
  ];
}

function subjectOf({ accountId, mode, userId, id, form }: MerchantVisit) {
  return { accountId, mode, userId, id, version: form.get('version') ?? '' };
}

function objectPath({ base, id }: MerchantVisit): string {
  const kind = APPROVED_KINDS.find((one) => isId(one, id));
  return kind === undefined ? base : pathOfWaiting(base, { kind, id });
}

function Rule({ base, form }: { base: string; form: FormState }) {
  return (
    <>
      <PageHead
        title="Two-person approval"
        lead="A payout, batch, schedule or refund that a person requests here waits for another person when it exceeds the amount together with what the person requested alone in the last 24 hours, in both modes. A schedule counts with the sum of a day. A recipient in a currency with an amount waits too, and an API key that a person made counts as that person until another one approves it. You can lower an amount; the operator raises or removes it."
      />
      <Card>
        <form method="post" action={`${base}/second-person`} class="stack">
          <ChangeFields change={ruleSecondPerson} form={form} />
          <FormActions submit="Save amounts" cancel={base} />
        </form>
      </Card>
    </>
  );
}
