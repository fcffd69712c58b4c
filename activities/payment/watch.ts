/**
 * Looks at a payment now and then, for as long as there is nothing new. Temporal repeats the
 * activity at the times that the payment asks for: a look without news costs no workflow task and
 * no history event, so ten thousand open payments are cheap to keep.
 */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { PaymentState, Wait } from '../../workflows/messages';
import type { PayoutDeps } from '../payout/deps';
import { checkPayment } from './check';

/**
 * @param seen what the workflow has seen already
 * @returns how the payment stands once that is something else
 * @throws ApplicationFailure of type `NothingNew`: Temporal calls again when it is time to look
 */
export async function watchPayment(
  deps: PayoutDeps,
  paymentId: string,
  seen: PaymentState,
): Promise<PaymentState> {
  // The workflow looked just before: the first call is there to set the time of the next.
  if (activityInfo().attempt === 1 && seen.wait !== null) throw nothingNew(seen.wait);
  const state = await checkPayment(deps, paymentId);
  if (state.wait === null || isUpdate(seen, state)) return state;
  throw nothingNew(state.wait);
}

/** When to look next is no news. */
function isUpdate(seen: PaymentState, state: PaymentState): boolean {
  const shown = ({ wait, ...rest }: PaymentState) => JSON.stringify({ ...rest, why: wait?.why });
  return shown(seen) !== shown(state);
}

function nothingNew({ why, ms }: Wait): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'NothingNew',
    message: `nothing new: it ${why}`,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: ms,
  });
}
