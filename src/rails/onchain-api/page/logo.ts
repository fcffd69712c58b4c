/** The merchant's logo on the hosted page. It comes from another origin, which the page's policy names. */
import type { CheckoutView } from '../present';

/** A host with other characters could be read as more than a source of the policy. */
const ORIGIN = /^https?:\/\/[a-z0-9._-]+(:\d+)?$/;

/** @returns null also for a logo that the page must not load: one over http is for pages over http, as in development */
export function logoOf({
  checkout,
  logoUrl,
}: {
  checkout: Pick<CheckoutView, 'url'>;
  logoUrl: string | null;
}): URL | null {
  const logo = URL.parse(logoUrl ?? '');
  if (logo === null || !ORIGIN.test(logo.origin)) return null;
  return logo.protocol === 'https:' || checkout.url.startsWith('http:') ? logo : null;
}
