/** A case about a recipient: what it is now, and an operator's decision about its screening. */
import { REASON_LENGTH_MAX } from '../../../kit/service/checks';
import { type Case, requireCase } from '../cases';
import { AdminRefusal, InvalidInput } from '../../../kit/service/refusal';
import type { ConsoleServices } from '../../../shell/console/services';
import { decideRecipient, isHeld } from '../../recipients/recipient-screenings';
import type { Recipient } from '../../../domain/recipient';
import { ChangeFields, readFields } from '../../../kit/pages/change-form';
import { Alert, Card, Facts, Status, Time, words } from '../../../kit/pages/components';
import { Field, type FormState } from '../../../kit/pages/forms';
import { redirect, signInAgain, type SignedInAnswer } from '../../../kit/pages/site';
import {
  type OperatorRoute,
  type OperatorVisit,
  post,
  PREFIX,
} from '../../../kit/pages/operator-page';

/** @param show the page of the case, with the form that was sent */
export function recipientDecision(
  { db }: Pick<ConsoleServices, 'db'>,
  show: (visit: OperatorVisit, form: FormState, status: number) => Promise<SignedInAnswer>,
): OperatorRoute {
  return post('/cases/:id/recipient', decideRecipient.access, async (visit) => {
    const { form, id } = visit;
    const page = `${PREFIX}/cases/${id}`;
    // Only live recipients are screened.
    const refused = signInAgain(visit, page);
    if (refused !== null) return refused;
    try {
      const { objectId } = await requireCase(db, id);
      const held = { id: objectId, seen: form.get('seen') ?? '' };
      const by = visit.withReason('decision_reason');
      await decideRecipient.make(db, by, held, readFields(decideRecipient, form));
      return redirect(page);
    } catch (error) {
      const isRefused = error instanceof AdminRefusal && error.refusal.code !== 'not_found';
      if (!isRefused && !(error instanceof InvalidInput)) throw error;
      const field =
        error instanceof InvalidInput && error.field === 'verdict' ? 'verdict' : 'decision_reason';
      const errors = { [field]: error.message };
      return show(visit, { values: form, errors }, isRefused ? 409 : 422);
    }
  });
}

interface OurRecipientProps {
  found: Case;
  recipient: Recipient;
  form: FormState;
  mayDecide: boolean;
}

export function OurRecipient({ found, recipient, form, mayDecide }: OurRecipientProps) {
  const { id, accountId, destinationSince, screening, deletedAt } = recipient;
  const status = deletedAt === null ? screening : 'deleted';
  return (
    <Card title="Our recipient">
      <Facts
        rows={[
          ['Name', recipient.name],
          ['Screening', status === null ? 'Not asked about' : <Status value={status} />],
          ['Destination', <code class="break">{recipient.destinationValue}</code>],
          ['Network', words(recipient.network ?? 'none')],
          ['Since', <Time at={destinationSince} seconds />],
          [
            'Account',
            <a class="link" href={`${PREFIX}/accounts/${accountId}/recipients`}>
              {accountId}
            </a>,
          ],
          ['ID', <code>{id}</code>],
        ]}
      />
      {isHeld(recipient) && mayDecide ? (
        <form method="post" action={`${PREFIX}/cases/${found.id}/recipient`} class="stack">
          <input type="hidden" name="seen" value={recipient.destinationVersion} />
          <ChangeFields change={decideRecipient} form={form} />
          <Field
            name="decision_reason"
            label="Why"
            hint="Recorded in the audit log and in the case, which the decision resolves. A payout to the recipient is screened again before it is sent."
            form={form}
            maxLength={REASON_LENGTH_MAX}
            required
          />
          <div>
            <button class="btn">Decide about the recipient</button>
          </div>
        </form>
      ) : (
        <Refused text={form.errors['decision_reason']} />
      )}
    </Card>
  );
}

/** Shows that somebody else decided before this form was sent. */
function Refused({ text }: { text: string | undefined }) {
  return text === undefined ? null : <Alert tone="wait" title={text} />;
}
