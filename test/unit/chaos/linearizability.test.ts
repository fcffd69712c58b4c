/** The checker that the chaos run relies on: sound histories pass, planted violations do not. */
import { isLinearizable, type Operation } from '../../chaos/linearizability';
import { type Action, objectModel } from '../../chaos/object-model';

const payout = objectModel('payout');
const made = (status = 'approved', id = 'po_1') => ({ id, status });

/** @param times start and end of each operation; an end of null: no answer */
function history(...entries: [Action, number, number | null][]): Operation<Action>[] {
  return entries.map(([action, startedAt, endedAt]) => ({ action, startedAt, endedAt }));
}
const create = (answer: (Action & { type: 'create' })['answer']): Action => ({
  type: 'create',
  answer,
});
const read = (answer: (Action & { type: 'read' })['answer']): Action => ({ type: 'read', answer });
const cancel = (answer: (Action & { type: 'cancel' })['answer']): Action => ({
  type: 'cancel',
  answer,
});

describe('sound', () => {
  test.each([
    ['a retry after no answer', history([create(null), 0, null], [create(made()), 5, 9])],
    [
      'two requests at once, one object',
      history([create(made()), 0, 9], [create(made()), 1, 8], [read(made('processing')), 10, 11]),
    ],
    [
      'not found while it is being made',
      history([create(made()), 0, 10], [read(null), 1, 5], [read(made()), 8, 12]),
    ],
    [
      'a cancellation without an answer that took effect later',
      history(
        [create(made('requested')), 0, 1],
        [cancel(null), 2, null],
        [read(made('requested')), 3, 4],
        [read(made('cancelled')), 8, 9],
      ),
    ],
    [
      'a stored refusal',
      history([create({ refused: 'a' }), 0, 1], [create({ refused: 'a' }), 2, 3]),
    ],
  ])('%s', (_, operations) => {
    expect(isLinearizable(payout, operations)).toBe(true);
  });
});

describe('planted', () => {
  test.each([
    [
      'a second object for the same key',
      history([create(made()), 0, 1], [create(made('approved', 'po_2')), 2, 3]),
    ],
    [
      'a second object although the first request had no answer',
      history(
        [create(null), 0, null],
        [create(made()), 1, 2],
        [create(made('approved', 'po_2')), 3, 4],
      ),
    ],
    ['an acknowledged object that is lost', history([create(made()), 0, 1], [read(null), 2, 3])],
    [
      'a status that goes back',
      history(
        [create(made()), 0, 1],
        [read(made('completed')), 2, 3],
        [read(made('processing')), 4, 5],
      ),
    ],
    [
      'a cancelled payout that is sent',
      history(
        [create(made('requested')), 0, 1],
        [cancel(made('cancelled')), 2, 3],
        [read(made('completed')), 4, 5],
      ),
    ],
    [
      'a refusal after an acknowledgement',
      history([create(made()), 0, 1], [create({ refused: 'insufficient_funds' }), 2, 3]),
    ],
    [
      'two refusals that differ',
      history([create({ refused: 'a' }), 0, 1], [create({ refused: 'b' }), 2, 3]),
    ],
  ])('%s', (_, operations) => {
    expect(isLinearizable(payout, operations)).toBe(false);
  });
});
