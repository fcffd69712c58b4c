/** A signed-in person changes the own password. */
import { InvalidInput } from '../../services/admin/refusal';
import { Card, PageHead } from '../components';
import { EMPTY_FORM, Field, FormActions, type FormState } from '../forms';
import { page, redirect, type Route } from '../site';
import type { AccountPages } from './page-options';

export function passwordPages({ site, users }: AccountPages): Route[] {
  const security = `${site.prefix}/security`;
  const show = (form: FormState, status = 200) =>
    page('Change password', <ChangePassword security={security} form={form} />, {
      nav: 'security',
      status,
    });
  return [
    {
      method: 'get',
      path: '/security/password',
      needs: 'read',
      beforeEnrolment: true,
      recent: true,
      run: () => show(EMPTY_FORM),
    },
    {
      method: 'post',
      path: '/security/password',
      cost: 'password',
      needs: 'read',
      beforeEnrolment: true,
      recent: true,
      run: async ({ session, form }) => {
        try {
          await users.changePassword(session, form.get('password') ?? '');
          return redirect(`${security}?changed`);
        } catch (error) {
          if (!(error instanceof InvalidInput)) throw error;
          return show({ ...EMPTY_FORM, errors: { password: error.message } }, 422);
        }
      },
    },
  ];
}

function ChangePassword({ security, form }: { security: string; form: FormState }) {
  return (
    <>
      <PageHead
        back={{ href: security, label: 'Security' }}
        title="Change password"
        lead="All your other sessions end."
      />
      <Card>
        <form method="post" action={`${security}/password`} class="stack">
          <Field
            name="password"
            label="New password"
            type="password"
            hint="12 characters or more."
            form={form}
            required
            autocomplete="new-password"
            maxLength={200}
          />
          <FormActions submit="Change password" cancel={security} />
        </form>
      </Card>
    </>
  );
}
