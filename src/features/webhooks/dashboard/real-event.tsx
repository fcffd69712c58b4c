/** Make an event happen in test mode with a real object, which the sandbox plays (domain/test-events.ts). */
import {
  TEST_EVENTS,
  TEST_PAYMENT,
  TEST_PAYOUT,
  type TestEventType,
} from '../../../domain/test-events';
import { readPaymentRequest } from '../../payments/payments-contract';
import { readPayoutRequest } from '../../payouts/payouts-contract';
import type { DashboardServices } from '../../../shell/dashboard/services';
import { Card } from '../../../kit/pages/components';
import { EMPTY_FORM, Select } from '../../../kit/pages/forms';
import { PageRefusal } from '../../../kit/pages/problems';
import { redirect } from '../../../kit/pages/site';
import {
  formKey,
  MAKE,
  newFormKey,
  type Outcome,
  personOf,
  RefusalAlert,
  tryForm,
} from '../../../kit/pages/creation';
import { type MerchantRoute, type MerchantVisit, post } from '../../../kit/pages/merchant-page';

export type RefusedEvent = Pick<Outcome<string>, 'form' | 'refusal'>;

/** @param show the page with the form again, with what was refused */
export function realEventPage(
  { money }: DashboardServices,
  show: (visit: MerchantVisit, refused: RefusedEvent) => ReturnType<MerchantRoute['run']>,
): MerchantRoute {
  const create = (visit: MerchantVisit, type: TestEventType, key: string) => {
    const event = TEST_EVENTS[type];
    // The second request of a double click is the same one.
    const reference = key;
    if (event.object === 'payment') {
      const metadata = { scenario: event.scenario };
      const request = { ...TEST_PAYMENT, reference, metadata };
      return money.createPayment(personOf(visit), key, readPaymentRequest(request, 'test'));
    }
    const request = { ...TEST_PAYOUT, amount: event.amount, reference };
    return money.createPayout(personOf(visit), key, readPayoutRequest(request));
  };
  return post(
    '/webhooks/:id/real-event',
    { cost: 'delivery', needs: MAKE.needs },
    async (visit) => {
      const type = typeOf(visit.form.get('type'));
      if (type === undefined || visit.mode !== 'test') throw new PageRefusal('page_not_found');
      const { result, ...refused } = await tryForm(visit.form, () =>
        create(visit, type, formKey(visit.form)),
      );
      if (result === null) return show(visit, refused);
      return redirect(`${visit.base}/${TEST_EVENTS[type].object}s/${result}`);
    },
  );
}

const TYPES = Object.keys(TEST_EVENTS) as TestEventType[];

const typeOf = (text: string | null) => TYPES.find((type) => type === text);

export function RealEvent({ path, refused }: { path: string; refused: RefusedEvent | null }) {
  return (
    <Card
      title="Make an event happen"
      lead="The gateway creates a payment or payout in test mode, and the sandbox does the rest. Every endpoint that is subscribed to the events receives them."
    >
      <RefusalAlert refusal={refused?.refusal ?? null} />
      <form method="post" action={`${path}/real-event`} class="stack">
        <input type="hidden" name="key" value={newFormKey()} />
        <Select
          name="type"
          label="Event"
          form={refused?.form ?? EMPTY_FORM}
          options={TYPES.map((type) => [type, type] as const)}
        />
        <p class="hint">
          A payout needs a test balance: payment.completed adds 100 USDT. Other events happen with{' '}
          <code>payments-gateway trigger</code>, except payout.rejected and payout_batch.rejected,
          which only an operator can cause. <a href="/docs/guides/cli">Install the command</a>
        </p>
        <div class="actions">
          <button class="btn">Make it happen</button>
        </div>
      </form>
    </Card>
  );
}
