/** Hand-over notes on the page of a payout or a case. */
import { type Note, NOTE_LENGTH_MAX } from '../notes';
import { Card, Time } from '../../../kit/pages/components';
import { Field, type FormState } from '../../../kit/pages/forms';

interface NotesProps {
  notes: readonly Note[];
  /** The path of the object's page. */
  path: string;
  form: FormState;
  mayWrite: boolean;
}

export function Notes({ notes, path, form, mayWrite }: NotesProps) {
  return (
    <Card id="notes" title="Notes" lead="For other operators. The merchant sees none of them.">
      {notes.length === 0 ? null : (
        <ol class="timeline">
          {notes.map(({ at, actor, text }) => (
            <li data-tone="quiet">
              <div class="line">
                <b class="break">{text}</b>
                <Time at={at} />
              </div>
              <small>{actor}</small>
            </li>
          ))}
        </ol>
      )}
      {mayWrite ? (
        <form method="post" action={`${path}/notes`} class="stack">
          <Field
            name="handover"
            label="New note"
            form={form}
            maxLength={NOTE_LENGTH_MAX}
            required
          />
          <div>
            <button class="btn" data-variant="outline">
              Add the note
            </button>
          </div>
        </form>
      ) : notes.length === 0 ? (
        <p class="muted">No notes yet.</p>
      ) : null}
    </Card>
  );
}
