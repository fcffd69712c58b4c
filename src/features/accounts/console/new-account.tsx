/** A new account: its name and a reason. It has no people and no keys yet. */
import type { ConsoleServices } from '../../../shell/console/services';
import { ChangeFields, readFields } from '../../../kit/pages/change-form';
import { Card, PageHead } from '../../../kit/pages/components';
import { EMPTY_FORM, fieldErrors, FormActions, type FormState } from '../../../kit/pages/forms';
import { type OperatorRoute, PREFIX } from '../../../kit/pages/operator-page';
import { page, redirect } from '../../../kit/pages/site';
import { createAccount } from '../accounts';
import { Reason } from './account-changes';

const PATH = `${PREFIX}/accounts`;

export function newAccountPages({ db }: ConsoleServices): OperatorRoute[] {
  const route = { path: '/accounts/new', needs: 'administer' } as const;
  const show = (form: FormState, status: number) =>
    page('New account', <NewAccount form={form} />, { nav: 'accounts', status });
  return [
    { ...route, method: 'get', run: () => show(EMPTY_FORM, 200) },
    {
      ...route,
      method: 'post',
      run: async (visit) => {
        const { answer, fields } = await fieldErrors(async () => {
          const input = readFields(createAccount, visit.form);
          const { id } = await createAccount.make(db, visit.withReason(), {}, input);
          return redirect(`${PATH}/${id}`);
        });
        return answer ?? show({ values: visit.form, errors: fields }, 422);
      },
    },
  ];
}

function NewAccount({ form }: { form: FormState }) {
  return (
    <>
      <PageHead
        back={{ href: PATH, label: 'Accounts' }}
        title="New account"
        lead="The account works in test mode at once; live keys need a verified account. Its owner gets access with the command users create."
      />
      <Card>
        <form method="post" action={`${PATH}/new`} class="stack">
          <ChangeFields change={createAccount} form={form} />
          <Reason form={form} />
          <FormActions submit="Create account" cancel={PATH} />
        </form>
      </Card>
    </>
  );
}
