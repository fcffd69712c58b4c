/** Where a checkout's hosted page is. */
import type { SandboxSettings } from '../config';
import type { Checkout } from './checkout';

export function checkoutUrl(settings: SandboxSettings, { id }: Checkout): string {
  return `${settings.publicUrl ?? ''}/checkout/${id}`;
}
