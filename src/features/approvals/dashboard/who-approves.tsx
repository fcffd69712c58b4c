/** Who has to approve a payout, a batch or a schedule after it was created. */
import type { ReviewReason } from '../../../domain/review';
import { type Approver, approversOf } from '../../../domain/second-person';
import { Card, personText, ReviewReasons } from '../../../kit/pages/components';

interface ApprovalsProps {
  needsSecondPerson: boolean;
  reviewReasons: readonly ReviewReason[];
  approvers: readonly Approver[];
  /** The person who makes it. */
  userId: string;
  /** What happens when nobody has to approve it. */
  otherwise: string;
}

export function Approvals(props: ApprovalsProps) {
  const { needsSecondPerson, reviewReasons, approvers, userId, otherwise } = props;
  const others = approversOf(approvers, userId);
  return (
    <Card title="Who must approve">
      {needsSecondPerson ? (
        <p class="break">
          {others.length === 0
            ? 'Another person of your account, but nobody may approve yet. Invite a person first.'
            : `Another person of your account: ${others.map(personText).join(' or ')}.`}
        </p>
      ) : null}
      {reviewReasons.length === 0 ? null : (
        <div>
          <p>An operator of the gateway, because of these rules:</p>
          <ReviewReasons reasons={reviewReasons} requester={userId} />
        </div>
      )}
      {needsSecondPerson || reviewReasons.length > 0 ? null : <p>{otherwise}</p>}
    </Card>
  );
}
