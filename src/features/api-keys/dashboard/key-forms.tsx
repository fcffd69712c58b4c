/** The forms that change a key: its settings, and the rules for its payouts. */
import type { TProperties } from 'typebox';
import { editKey, findOwnKey, limitKey } from '../api-keys';
import { fieldsOf } from '../key-rights';
import type { ChangedBy } from '../../../kit/service/audit';
import type { DashboardServices } from '../../../shell/dashboard/services';
import { ChangeFields, readFields, valuesOf } from '../../../kit/pages/change-form';
import { Card, PageHead } from '../../../kit/pages/components';
import { merchantForm } from '../../../kit/pages/form-pages';
import { FormActions, type FormState } from '../../../kit/pages/forms';
import { page, redirect } from '../../../kit/pages/site';
import type { MerchantRoute, MerchantVisit } from '../../../kit/pages/merchant-page';

type Db = DashboardServices['db'];
export type Key = Awaited<ReturnType<typeof findOwnKey>>;

interface KeyForm {
  /** The last part of the form's path. */
  name: string;
  title: string;
  lead: string;
  submit: string;
  change: { fields: TProperties; access: typeof editKey.access };
  save: (db: Db, by: ChangedBy, id: string, form: URLSearchParams) => Promise<unknown>;
}

const FORMS: readonly KeyForm[] = [
  {
    name: 'edit',
    title: 'Edit key',
    lead: 'Changes apply from the next request. Keys that were created with this key keep their own settings.',
    submit: 'Save changes',
    change: editKey,
    save: (db, by, id, form) => editKey.make(db, by, { id }, readFields(editKey, form)),
  },
  {
    name: 'limits',
    title: 'Rules for payouts',
    lead: 'They apply to payouts and batches that this key requests, from the next request.',
    submit: 'Save rules',
    change: limitKey,
    save: (db, by, id, form) => limitKey.make(db, by, { id }, readFields(limitKey, form)),
  },
];

export function keyFormPages(db: Db): MerchantRoute[] {
  return FORMS.flatMap((form) => pagesOf(db, form));
}

function pagesOf(db: Db, keyForm: KeyForm): MerchantRoute[] {
  const { name, title, change, save } = keyForm;
  const find = (visit: MerchantVisit) => findOwnKey(db, visit, visit.id);
  return merchantForm({
    path: `/keys/:id/${name}`,
    ...change.access,
    recent: 'live',
    values: async (visit) => valuesOf(change, fieldsOf(await find(visit))),
    show: async (visit, form) => {
      const props = { base: visit.base, apiKey: await find(visit), form, keyForm };
      return page(title, <KeyFormPage {...props} />, { nav: 'keys' });
    },
    send: async (visit) => {
      const { id } = await find(visit);
      await save(db, visit.by, id, visit.form);
      return redirect(`${visit.base}/keys/${id}`);
    },
  });
}

interface KeyFormPageProps {
  base: string;
  apiKey: Key;
  form: FormState;
  keyForm: KeyForm;
}

function KeyFormPage({ base, apiKey, form, keyForm }: KeyFormPageProps) {
  const { name, title, lead, submit, change } = keyForm;
  const path = `${base}/keys/${apiKey.id}`;
  return (
    <>
      <PageHead back={{ href: path, label: apiKey.name }} title={title} lead={lead} />
      <Card>
        <form method="post" action={`${path}/${name}`} class="stack">
          <ChangeFields change={change} form={form} />
          <FormActions submit={submit} cancel={path} />
        </form>
      </Card>
    </>
  );
}
