/** A new account: its name and a reason. It has no people and no keys yet. */
import type { ConsoleServices } from '../../../shell/console/services';
import { ChangeFields, readFields } from '../../../kit/pages/change-form';
import { Card, PageHead } from '../../../kit/pages/components';
import { operatorForm } from '../../../kit/pages/form-pages';
import { FormActions, type FormState } from '../../../kit/pages/forms';
import { type OperatorRoute, PREFIX } from '../../../kit/pages/operator-page';
import { page, redirect } from '../../../kit/pages/site';
import { createAccount } from '../accounts';
import { Reason } from './account-changes';

const PATH = `${PREFIX}/accounts`;

export function newAccountPages({ db }: ConsoleServices): OperatorRoute[] {
  return operatorForm({
    path: '/accounts/new',
    needs: 'administer',
    show: (_, form) => page('New account', <NewAccount form={form} />, { nav: 'accounts' }),
    send: async (visit) => {
      const input = readFields(createAccount, visit.form);
      const { id } = await createAccount.make(db, visit.withReason(), {}, input);
      return redirect(`${PATH}/${id}`);
    },
  });
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
