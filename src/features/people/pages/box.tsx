import type { ComponentChildren } from 'preact';
import { Alert } from '../../../kit/pages/components';

interface BoxProps {
  /** In whose name the page is shown, by default the gateway's. */
  owner?: string;
  /** The path of the owner's logo, by default the first letter. */
  logo?: string | null;
  product: string;
  title: string;
  problem: string | null;
  children: ComponentChildren;
}

/** The frame of a page for a person who is not signed in. */
export function Box(props: BoxProps) {
  const { owner = 'Payments gateway', logo = null, product, title, problem, children } = props;
  return (
    <section class="box">
      <div class="brand">
        {logo === null ? (
          <span class="logo" aria-hidden="true">
            {owner.slice(0, 1).toUpperCase()}
          </span>
        ) : (
          <img class="logo" src={logo} alt="" />
        )}
        <span>
          <b>{owner}</b>
          <small>{product}</small>
        </span>
      </div>
      <h1>{title}</h1>
      {problem === null ? null : <Alert tone="bad" title={problem} />}
      {children}
    </section>
  );
}
