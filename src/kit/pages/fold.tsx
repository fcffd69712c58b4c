/** A part of a page that is folded on a phone until it is asked for; without a script. */
import { Icon } from './icon';

interface FoldProps {
  id: string;
  label: string;
  icon: string;
  isOpen?: boolean;
}

/** Stands before the part that it opens, among the same children (`.fold ~` in app.css). */
export function Fold({ id, label, icon, isOpen = false }: FoldProps) {
  return (
    <>
      <input type="checkbox" class="fold" id={`fold-${id}`} checked={isOpen} />
      <label class="btn fold-button" data-variant="outline" data-size="sm" for={`fold-${id}`}>
        <Icon name={icon} /> {label}
      </label>
    </>
  );
}
