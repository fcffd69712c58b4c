/** A signed-in person changes their own password. */
import { InvalidInput } from '../../../kit/service/refusal';
import { Card, PageHead } from '../../../kit/pages/components';
import { EMPTY_FORM, FormActions, type FormState } from '../../../kit/pages/forms';
import { get, page, post, redirect, type Route } from '../../../kit/pages/site';
import type { AccountPages } from './page-options';
import { NewPasswordField } from './new-password-field';

export function passwordPages({ site, users }: AccountPages): Route[] {
  const security = `${site.prefix}/security`;
  const show = (form: FormState, status = 200) =>
    page('Change password', <ChangePassword security={security} form={form} />, {
      nav: 'security',
      status,
    });
  return [
    get('/security/password', { needs: 'read', beforeEnrolment: true, recent: true }, () =>
      show(EMPTY_FORM),
    ),
    post(
      '/security/password',
      { cost: 'password', needs: 'read', beforeEnrolment: true, recent: true },
      async ({ session, form }) => {
        try {
          await users.changePassword(session, form.get('password') ?? '');
          return redirect(`${security}?changed`);
        } catch (error) {
          if (!(error instanceof InvalidInput)) throw error;
          return show({ ...EMPTY_FORM, errors: { password: error.message } }, 422);
        }
      },
    ),
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
          <NewPasswordField form={form} />
          <FormActions submit="Change password" cancel={security} />
        </form>
      </Card>
    </>
  );
}
