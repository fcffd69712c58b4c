/** The amounts above which another person approves, and that person's approval. */
import type { Payout } from '../../domain/payout';
import type { DashboardServices } from '../../services/dashboard';
import { approveAsSecondPerson, ruleSecondPerson, textsOf } from '../../services/second-person';
import { ChangeFields, readFields } from '../../web/change-form';
import { Alert, Card, PageHead, Time } from '../../web/components';
import { Confirm, fieldErrors, FormActions, type FormState } from '../../web/forms';
import { page, redirect } from '../../web/site';
import { personOf } from '../creation';
import type { MerchantRoute, MerchantVisit } from '../merchant-page';

const NAV = { nav: 'second-person' };

export function secondPersonPages(services: DashboardServices): MerchantRoute[] {
  const { db, money, payout, secondPersonRule } = services;
  return [
    {
      method: 'get',
      path: '/second-person',
      ...ruleSecondPerson.access,
      run: async (visit) => {
        const above = textsOf(await secondPersonRule(visit)).join(', ');
        const values = visit.draft ?? new URLSearchParams({ above });
        return page('Second person', <Rule base={visit.base} form={{ values, errors: {} }} />, NAV);
      },
    },
    {
      method: 'post',
      path: '/second-person',
      ...ruleSecondPerson.access,
      liveRecent: ({ base }) => `${base}/second-person`,
      run: async (visit) => {
        const { accountId, form, base } = visit;
        const errors = await fieldErrors(async () => {
          const input = readFields(ruleSecondPerson, form);
          await ruleSecondPerson.make(db, visit.by, { accountId, mayLoosen: false }, input);
          return redirect(`${base}/second-person`);
        });
        if (errors.answer !== null) return errors.answer;
        const body = <Rule base={base} form={{ values: form, errors: errors.fields }} />;
        return page('Second person', body, { ...NAV, status: 422 });
      },
    },
    {
      method: 'post',
      path: '/payouts/:id/second_approve',
      ...approveAsSecondPerson.access,
      liveRecent: ({ base, params }) => `${base}/payouts/${params['id'] ?? ''}`,
      run: async (visit) => {
        const { accountId, mode, userId } = visit;
        const { object } = await payout(visit, visit.params['id'] ?? '');
        const subject = { accountId, mode, userId, id: object.id };
        await approveAsSecondPerson.make(db, visit.by, subject, {});
        await money.lookAgain(personOf(visit), object.id);
        return redirect(`${visit.base}/payouts/${object.id}`);
      },
    },
  ];
}

function Rule({ base, form }: { base: string; form: FormState }) {
  return (
    <>
      <PageHead
        title="Second person"
        lead="A payout that a person requests here above the amount waits for another owner, in both modes. Payouts of API keys do not wait. You can lower an amount; the operator raises or removes it."
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

/** What a payout says while it waits for another person. */
export function SecondPerson({ payout, visit }: { payout: Payout; visit: MerchantVisit }) {
  const condition = payout.conditions?.find(({ kind }) => kind === 'second_person');
  if (payout.awaitsRelease !== true || condition?.metAt !== null) return null;
  const isMaker = payout.apiKeyId === visit.userId;
  return (
    <Alert tone="wait" title="Waiting for a second person">
      <p>
        The amount is above the limit of your account for one person. Another owner of the account
        approves it on this page. The funds are returned if nobody does
        {payout.releaseExpiresAt === null ? null : (
          <>
            {' '}
            until <Time at={payout.releaseExpiresAt} seconds />
          </>
        )}
        , or when the payout is cancelled.
      </p>
      {!isMaker && visit.may(approveAsSecondPerson.access.needs) ? (
        <Confirm
          action={`${visit.base}/payouts/${payout.id}/second_approve`}
          label="Approve"
          icon="check"
          effect="You confirm the amount and the destination. Payouts cannot be reversed."
          confirm="Approve this payout now"
        />
      ) : null}
    </Alert>
  );
}
