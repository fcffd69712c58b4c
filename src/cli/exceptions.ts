/** `admin exceptions`. */
import { listExceptions, resolveException, showException } from '../services/admin/exceptions';
import { listOf, verb, type Noun } from './command';
import type { Options } from './options';
import { showList, showObject } from './output';
import { LIMITED, readLimit } from './shared-options';

const THE_EXCEPTION = { id: { value: 'EXC_ID', help: 'the exception' } };

const readId = (options: Options): string =>
  options.required('id', '`exceptions list` shows the ids, exc_…');

export const EXCEPTIONS: Noun = {
  summary: 'What the gateway could not explain and will not mend by itself.',
  verbs: {
    list: verb({
      summary: 'Lists the open exceptions, oldest first',
      options: { all: { help: 'also the resolved ones' }, ...LIMITED },
      examples: ['exceptions list', 'exceptions list --all --json'],
      read: (options) => ({ all: options.flag('all'), limit: readLimit(options) }),
      run: async ({ db }, { all, limit }) =>
        listOf(await listExceptions(db, all, limit + 1), limit),
      show: (list) =>
        showList(
          list,
          ['id', 'kind', 'object_id', 'created_at', 'resolved_at'],
          'No exception is open.',
        ),
    }),
    show: verb({
      summary: 'Shows an exception with its details',
      subject: 'id',
      options: THE_EXCEPTION,
      examples: ['exceptions show exc_…'],
      read: readId,
      run: ({ db }, id) => showException(db, id),
      show: showObject,
    }),
    resolve: verb({
      summary: 'Notes what was found out and done; the books stay as they are',
      notes: ['Where money has to move, `adjustments create` moves it.'],
      subject: 'id',
      options: {
        ...THE_EXCEPTION,
        resolution: { value: 'TEXT', help: 'what was found out and done' },
      },
      examples: [
        'exceptions resolve exc_… --resolution "provider confirms: booked twice, refunded"',
      ],
      changes: 'reason optional',
      read: (options) => ({
        id: readId(options),
        resolution: options.required('resolution', 'what was found out and done'),
      }),
      run: ({ db, by }, { id, resolution }) => resolveException(db, by, id, resolution),
      show: showObject,
    }),
  },
};
