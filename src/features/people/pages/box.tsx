import type { ComponentChildren } from 'preact';
import { Alert } from '../../../kit/pages/components';

interface BoxProps {
  product: string;
  title: string;
  problem: string | null;
  children: ComponentChildren;
}

/** The frame of a page for a person who is not signed in. */
export function Box({ product, title, problem, children }: BoxProps) {
  return (
    <section class="box">
      <div class="brand">
        <span class="logo" aria-hidden="true">
          G
        </span>
        <span>
          <b>Payments gateway</b>
          <small>{product}</small>
        </span>
      </div>
      <h1>{title}</h1>
      {problem === null ? null : <Alert tone="bad" title={problem} />}
      {children}
    </section>
  );
}
