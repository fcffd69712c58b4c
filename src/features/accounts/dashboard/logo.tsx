/** The page on which an owner uploads the logo that customers see. */
import { findLogoName } from '../../../db/accounts/logos';
import { LOGO_BYTES_MAX, LOGO_PIXELS, logoPath } from '../../../domain/logo';
import { Alert, Card, PageHead } from '../../../kit/pages/components';
import { merchantForm } from '../../../kit/pages/form-pages';
import { Confirm, FileField, FormActions, type FormState } from '../../../kit/pages/forms';
import { type MerchantRoute, type MerchantVisit, post } from '../../../kit/pages/merchant-page';
import { page, redirect } from '../../../kit/pages/site';
import { readAs } from '../../../kit/service/own';
import type { DashboardServices } from '../../../shell/dashboard/services';
import { changeLogo } from '../logo';

const NAV = { nav: 'payment-links' };

export function logoPages({ db }: DashboardServices): MerchantRoute[] {
  return [
    ...merchantForm({
      path: '/logo',
      ...changeLogo.access,
      recent: 'always',
      takesFile: true,
      show: async (visit, form) => {
        const logo = await findLogoName(readAs(db, visit), visit.accountId);
        const shown = logo === null ? null : logoPath(logo.sha256);
        return page('Logo', <Logo visit={visit} form={form} logo={shown} />, NAV);
      },
      send: async ({ by, accountId, file, base }) => {
        const content = file ?? Buffer.alloc(0);
        await changeLogo.make(db, by, { accountId, content }, {});
        return redirect(`${base}/logo?saved`);
      },
    }),
    post(
      '/logo/remove',
      { ...changeLogo.access, recent: ({ base }) => `${base}/logo` },
      async ({ by, accountId, base }) => {
        await changeLogo.make(db, by, { accountId, content: null }, {});
        return redirect(`${base}/logo`);
      },
    ),
  ];
}

interface LogoProps {
  visit: MerchantVisit;
  form: FormState;
  /** The path of the present one. */
  logo: string | null;
}

function Logo({ visit: { base, query }, form, logo }: LogoProps) {
  const links = `${base}/payment-links`;
  return (
    <>
      <PageHead
        back={{ href: links, label: 'Payment links' }}
        title="Logo"
        lead="Your customers see it beside the name of the account, in both modes."
      >
        {logo === null ? null : (
          <Confirm
            action={`${base}/logo/remove`}
            label="Remove logo"
            icon="x"
            effect="Your customers then see the first letter of the name instead."
            confirm="Remove this logo"
          />
        )}
      </PageHead>
      {query.has('saved') ? <Alert tone="good" title="The logo was saved." /> : null}
      <Card>
        <form method="post" action={`${base}/logo`} enctype="multipart/form-data" class="stack">
          {logo === null ? null : <img class="logo" src={logo} alt="The present logo" />}
          <FileField
            name="logo"
            label="File"
            hint={`PNG, JPEG or WebP with at most ${LOGO_BYTES_MAX / 1024} KiB, from ${LOGO_PIXELS.min} to ${LOGO_PIXELS.max} pixels wide and high. It is shown in a square.`}
            form={form}
            accept="image/png,image/jpeg,image/webp"
          />
          <FormActions submit="Save logo" cancel={links} />
        </form>
      </Card>
    </>
  );
}
