/** Parts of a page that the script in the browser replaces while what they show changes (web/assets/app.js). */
import type { ComponentChildren } from 'preact';
import { Status } from './components';

interface FollowsProps {
  /** Of this part in the page. */
  id: string;
  /** It can still change. */
  isOpen: boolean;
  /** The layout of what it has. */
  class?: string;
  children: ComponentChildren;
}

export function Follows({ id, isOpen, class: layout = 'follows', children }: FollowsProps) {
  return (
    <div id={id} class={layout} {...(isOpen ? { 'data-follow': '' } : {})}>
      {children}
    </div>
  );
}

/** The status in a page's title. */
export function LiveStatus({ value, isOpen }: { value: string; isOpen: boolean }) {
  return (
    <span id="status" {...(isOpen ? { 'data-follow': '' } : {})}>
      <Status value={value} />
    </span>
  );
}

/** Turns following off in this browser, on all pages. */
export function FollowSwitch() {
  return (
    <label class="tick js-only">
      <input class="input" type="checkbox" data-follow-switch checked /> Update automatically
    </label>
  );
}
