/** A request for a page as the site has read it. */
import type { SignedIn } from '../service/sessions';

export interface Visit {
  requestId: string;
  method: string;
  /** The path as it was sent, without the query. */
  path: string;
  params: Readonly<Record<string, string | undefined>>;
  /** The part `:id` of the path; empty without one. */
  id: string;
  query: URLSearchParams;
  /** Empty for GET. */
  form: URLSearchParams;
  /** The file of the form; null if it has none. */
  file: Buffer | null;
  address: string;
  userAgent: string;
  /** The page that a form was on, if the browser tells. */
  referrer: string;
  /** Chosen by the user; null follows the system. */
  theme: 'light' | 'dark' | null;
  session: SignedIn | null;
  cookies: { get(name: string): string | undefined };
}

export type SignedInVisit = Visit & {
  session: SignedIn;
  /** The fields of this page's form, which the person sent before signing in again. */
  draft: URLSearchParams | null;
};

export interface SetCookie {
  name: string;
  /** Null deletes it. */
  value: string | null;
  maxAgeSeconds: number;
  /** Default: the site's own path. */
  path?: string;
}
