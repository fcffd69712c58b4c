/** `admin cases`. */
import { listCases, resolveCase, showCase } from '../services/admin/cases';
import { listOf, verb, type Noun } from './command';
import type { Options } from './options';
import { showList, showObject } from './output';
import { LIMITED, readLimit } from './shared-options';

const THE_CASE = { id: { value: 'CASE_ID', help: 'the case' } };

const readId = (options: Options): string =>
  options.required('id', '`cases list` shows the ids, case_…');

export const CASES: Noun = {
  summary: 'What the gateway could not explain and will not mend by itself.',
  verbs: {
    list: verb({
      summary: 'Lists the open case, oldest first',
      options: { all: { help: 'also the resolved ones' }, ...LIMITED },
      examples: ['cases list', 'cases list --all --json'],
      read: (options) => ({ all: options.flag('all'), limit: readLimit(options) }),
      run: async ({ db }, { all, limit }) => listOf(await listCases(db, all, limit + 1), limit),
      show: (list) =>
        showList(
          list,
          ['id', 'kind', 'object_id', 'created_at', 'resolved_at'],
          'No case is open.',
        ),
    }),
    show: verb({
      summary: 'Shows a case with its details',
      subject: 'id',
      options: THE_CASE,
      examples: ['cases show case_…'],
      read: readId,
      run: ({ db }, id) => showCase(db, id),
      show: showObject,
    }),
    resolve: verb({
      summary: 'Notes what was found out and done; the books stay as they are',
      notes: ['Where money has to move, `adjustments create` moves it.'],
      subject: 'id',
      options: {
        ...THE_CASE,
        resolution: { value: 'TEXT', help: 'what was found out and done' },
      },
      examples: ['cases resolve case_… --resolution "provider confirms: booked twice, refunded"'],
      changes: 'reason optional',
      read: (options) => ({
        id: readId(options),
        resolution: options.required('resolution', 'what was found out and done'),
      }),
      run: ({ db, by }, { id, resolution }) => resolveCase(db, by, id, resolution),
      show: showObject,
    }),
  },
};
