/** A customer names the address of a refund. The page opens by a link, without a sign-in. */
import type { Naming, NamingRequest, RefundAddresses } from '../refund-addresses';
import { logoPath } from '../../../domain/logo';
import { memoShape } from '../../../domain/networks';
import { Box } from '../../people/pages/box';
import { Alert, Facts, Money, Time, words } from '../../../kit/pages/components';
import { EMPTY_FORM, Field, type FormState } from '../../../kit/pages/forms';
import { PageRefusal } from '../../../kit/pages/problems';
import { page, type Route } from '../../../kit/pages/site';
import type { Visit } from '../../../kit/pages/visit';
import { PREFIX } from '../../../kit/pages/merchant-page';

const PATH = `${PREFIX}/refund-address`;
const TITLE = 'Your refund';
const NOT_NOW =
  'Your refund cannot be sent at the moment. Try again later with the same link, or ask the shop.';
const UNCLEAR = 'No answer has come yet. Open your link again in a minute.';

export function refundAddressPages(addresses: RefundAddresses): Route[] {
  const tokenOf = (visit: Visit) => visit.form.get('token') ?? visit.query.get('token') ?? '';

  /** @throws PageRefusal when the link is not valid */
  const show = async (visit: Visit, form: FormState, problem: string | null, status = 200) => {
    const token = tokenOf(visit);
    const request = await addresses.find(token);
    if (request === null) throw new PageRefusal('refund_link_gone');
    const body = (
      <Box
        {...{ owner: request.accountName, product: 'Refund', title: TITLE, problem }}
        logo={request.logo === null ? null : logoPath(request.logo)}
      >
        <Name request={request} token={token} form={form} />
      </Box>
    );
    return page(TITLE, body, { status });
  };

  const answer = (visit: Visit, naming: Naming) => {
    const form = { values: visit.form, errors: {} };
    switch (naming.kind) {
      case 'accepted':
        return page(
          TITLE,
          <Box product="" title={TITLE} problem={null}>
            <Alert
              tone="good"
              title="The address is stored. The money is sent there once it was checked."
            />
            <p>You can close this page. The link does not work again.</p>
          </Box>,
        );
      case 'gone':
        throw new PageRefusal('refund_link_gone');
      case 'invalid':
        return show(visit, { ...form, errors: { [naming.field]: naming.message } }, null, 422);
      case 'not_now':
        return show(visit, form, NOT_NOW, 409);
      case 'unclear':
        return show(visit, form, UNCLEAR, 503);
    }
  };

  return [
    {
      method: 'get',
      path: '/refund-address',
      needs: null,
      run: (visit) => show(visit, EMPTY_FORM, null),
    },
    {
      method: 'post',
      path: '/refund-address',
      needs: null,
      run: async (visit) => {
        const named = (name: string) => (visit.form.get(name) ?? '').trim();
        const address = { value: named('value'), memo: named('memo') };
        return answer(visit, await addresses.name(tokenOf(visit), address));
      },
    },
  ];
}

interface NameProps {
  request: NamingRequest;
  token: string;
  form: FormState;
}

function Name({ request, token, form }: NameProps) {
  const { amount, currency, network, until, accountName } = request;
  const hasMemo = memoShape(network) !== 'absent';
  return (
    <form method="post" action={PATH} class="stack">
      <p>
        {accountName} sends you money back. Enter the address of your own wallet or account on this
        network.
      </p>
      <Facts
        rows={[
          ['Amount', <Money amount={amount} currency={currency} />],
          ['Network', network === null ? null : words(network)],
          ['The link works until', <Time at={until} />],
        ]}
      />
      <input type="hidden" name="token" value={token} />
      <Field
        name="value"
        label="Address"
        hint="Check every character. Money that was sent to a wrong address is lost."
        form={form}
        required
        autocomplete="off"
        maxLength={255}
      />
      {hasMemo ? (
        <Field
          name="memo"
          label="Memo or destination tag"
          hint={`Leave it empty if the address has none; otherwise ${memoShape(network)}.`}
          form={form}
          autocomplete="off"
          maxLength={64}
        />
      ) : null}
      <button class="btn">Send my refund to this address</button>
    </form>
  );
}
