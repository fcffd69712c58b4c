/** The filters that an operator has given a name, as links above the list of payouts. */
import { InvalidInput } from '../../../kit/service/refusal';
import type { ConsoleServices } from '../../../shell/console/services';
import {
  FILTER_NAME_LENGTH_MAX,
  forgetFilter,
  keepFilter,
  type SavedFilter,
} from '../saved-filters';
import { Action, EMPTY_FORM, Field, type FormState } from '../../../kit/pages/forms';
import { isFiltered } from '../../../kit/pages/lists';
import { type Answer, redirect } from '../../../kit/pages/site';
import {
  type OperatorRoute,
  type OperatorVisit,
  post,
  PREFIX,
} from '../../../kit/pages/operator-page';

const PATH = `${PREFIX}/payouts`;
/** The longest query; all filters of the list together are shorter. */
const QUERY_LENGTH_MAX = 2_000;

/** @param show the list with these filters and this form */
export function savedFilterRoutes(
  db: ConsoleServices['db'],
  show: (visit: OperatorVisit, query: URLSearchParams, form: FormState) => Promise<Answer>,
): OperatorRoute[] {
  return [
    post('/payouts/filters', 'read', async (visit) => {
      const { form, session } = visit;
      const query = filterOf(
        new URLSearchParams((form.get('query') ?? '').slice(0, QUERY_LENGTH_MAX)),
      );
      try {
        const wish = { name: form.get('name') ?? '', query: query.toString() };
        await keepFilter(db, session, wish);
        return redirect(`${PATH}?${query.toString()}`);
      } catch (error) {
        if (!(error instanceof InvalidInput)) throw error;
        return show(visit, query, { values: form, errors: { [error.field]: error.message } });
      }
    }),
    post('/payouts/filters/remove', 'read', async ({ form, session }) => {
      await forgetFilter(db, session, form.get('name') ?? '');
      return redirect(PATH);
    }),
  ];
}

/** What the URL filters by, whatever page of the list it shows. */
function filterOf(query: URLSearchParams): URLSearchParams {
  return new URLSearchParams(
    [...query].filter(([name, value]) => name !== 'after' && value !== ''),
  );
}

interface SavedFiltersProps {
  saved: readonly SavedFilter[];
  query: URLSearchParams;
  form: FormState;
}

export function SavedFilters({ saved, query, form }: SavedFiltersProps) {
  const shown = filterOf(query).toString();
  const current = saved.find((one) => one.query === shown);
  const isRefused = form.errors['name'] !== undefined;
  const canSave = isRefused || (isFiltered(filterOf(query)) && current === undefined);
  if (saved.length === 0 && !canSave) return null;
  return (
    <nav class="chips" aria-label="Saved filters">
      {saved.map((one) => (
        <a
          class="chip"
          href={`${PATH}?${one.query}`}
          aria-current={one === current ? 'page' : undefined}
        >
          {one.name}
        </a>
      ))}
      {current === undefined ? null : (
        <Action
          action={`${PATH}/filters/remove`}
          label={`Remove “${current.name}”`}
          hidden={{ name: current.name }}
        />
      )}
      {canSave ? (
        <details class="confirm" open={isRefused}>
          <summary class="btn" data-variant="outline" data-size="sm">
            Save these filters …
          </summary>
          <form method="post" action={`${PATH}/filters`} class="confirm-body">
            <input type="hidden" name="query" value={shown} />
            <Field
              name="name"
              label="Name of the filter"
              hint="Only you see it. Send its URL to share it."
              form={isRefused ? form : EMPTY_FORM}
              maxLength={FILTER_NAME_LENGTH_MAX}
              required
            />
            <button class="btn">Save the filter</button>
          </form>
        </details>
      ) : null}
    </nav>
  );
}
