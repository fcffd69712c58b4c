/** Who receives the money of a payout: shown on request, and the audit log has each look. */
import type { Beneficiary as BeneficiaryData } from '../../../domain/beneficiary';
import type { PayoutBeneficiaries } from '../payout-beneficiaries';
import { BeneficiaryFacts } from '../../../kit/pages/beneficiary';
import { Card } from '../../../kit/pages/components';
import { Action } from '../../../kit/pages/forms';
import { PREFIX } from '../../../kit/pages/operator-page';

export interface BeneficiaryProps {
  payoutId: string;
  state: Awaited<ReturnType<PayoutBeneficiaries['stateOf']>>;
  /** Null if nobody has asked for it. */
  shown: BeneficiaryData | null;
  maySee: boolean;
}

export function Beneficiary({ payoutId, state, shown, maySee }: BeneficiaryProps) {
  if (state === 'none') return null;
  const path = `${PREFIX}/payouts/${payoutId}/beneficiary`;
  return (
    <Card
      id="beneficiary"
      title="Beneficiary"
      lead="Who receives the money. Each view is recorded in the audit log."
      action={
        state === 'stored' && shown === null && maySee ? (
          <Action action={path} label="Show beneficiary" />
        ) : undefined
      }
    >
      {state === 'erased' ? <p>It was erased.</p> : null}
      {state === 'stored' && !maySee ? (
        <p class="muted">Your role does not include seeing it.</p>
      ) : null}
      {shown === null ? null : <BeneficiaryFacts {...shown} />}
    </Card>
  );
}
