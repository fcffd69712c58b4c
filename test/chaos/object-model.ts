/** What clients may be told about the object of one idempotency key, such as a payout. */
import { PAYMENT_TRANSITIONS } from '../../src/domain/payment';
import { PAYOUT_TRANSITIONS } from '../../src/domain/payout';
import { PAYOUT_BATCH_TRANSITIONS } from '../../src/domain/payout-batch';
import { PAYOUT_SCHEDULE_TRANSITIONS } from '../../src/domain/payout-schedule';
import type { Model } from './linearizability';

export type Kind = 'payout' | 'payment' | 'payout_batch' | 'payout_schedule' | 'refund';

export type Action =
  /** `answer` null: none, or one that says nothing about the outcome. */
  | { type: 'create'; answer: Shown | { refused: string } | null }
  /** `answer` null: not found. */
  | { type: 'read'; answer: Shown | null }
  | { type: 'cancel'; answer: Shown | null };

export interface Shown {
  id: string;
  status: string;
}

interface State {
  /** The object that the key made. */
  object: Shown | null;
  /** The key's stored refusal. */
  refused: string | null;
}

const TABLES: Record<Kind, Record<string, Record<string, string>>> = {
  payout: PAYOUT_TRANSITIONS,
  payment: PAYMENT_TRANSITIONS,
  payout_batch: PAYOUT_BATCH_TRANSITIONS,
  payout_schedule: PAYOUT_SCHEDULE_TRANSITIONS,
  refund: { pending: { complete: 'completed', fail: 'failed' }, completed: {}, failed: {} },
};

export function objectModel(kind: Kind): Model<State, Action> {
  const reachable = reachableStatuses(TABLES[kind]);
  /** The gateway may change an object between any two requests, along its transitions. */
  const seen = (state: State, shown: Shown): State[] => {
    const { object } = state;
    const isPossible =
      object !== null &&
      object.id === shown.id &&
      (reachable.get(object.status)?.has(shown.status) ?? false);
    return isPossible ? [{ ...state, object: shown }] : [];
  };
  return {
    initial: { object: null, refused: null },
    step: (state, { type, answer }) => {
      if (type === 'create') return create(state, answer);
      if (type === 'read' && answer === null) return state.object === null ? [state] : [];
      // A refused cancellation, or one without an answer, may leave the object as it is.
      return answer === null ? [state, ...cancelled(state)] : seen(state, answer);
    },
  };

  function create(state: State, answer: (Action & { type: 'create' })['answer']): State[] {
    if (answer === null) return [state];
    if ('refused' in answer) {
      if (state.object !== null) return [];
      return state.refused === null || state.refused === answer.refused
        ? [{ object: null, refused: answer.refused }]
        : [];
    }
    if (state.refused !== null) return [];
    // The stored answer is repeated word for word, however far the object has come since.
    if (state.object !== null) return state.object.id === answer.id ? [state] : [];
    return [{ object: answer, refused: null }];
  }

  function cancelled(state: State): State[] {
    return state.object === null ? [] : seen(state, { id: state.object.id, status: 'cancelled' });
  }
}

function reachableStatuses(
  table: Record<string, Record<string, string>>,
): Map<string, ReadonlySet<string>> {
  const from = (status: string, found: Set<string>): Set<string> => {
    if (found.has(status)) return found;
    found.add(status);
    for (const next of Object.values(table[status] ?? {})) from(next, found);
    return found;
  };
  return new Map(Object.keys(table).map((status) => [status, from(status, new Set())]));
}
