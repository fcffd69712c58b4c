/** What the pages about the signed-in person are given by their site. */
import type { SingleSignOn } from '../single-sign-on';
import type { UserServices } from '../../../shell/user-services';
import type { Once } from '../../../kit/pages/once';
import type { Site } from '../../../kit/pages/site';

export interface AccountPages {
  site: Pick<Site, 'kind' | 'prefix' | 'home'>;
  /** Above the sign-in form, such as `Operator console`. */
  product: string;
  users: UserServices;
  /** Null if people sign in with passwords and passkeys. */
  singleSignOn: SingleSignOn | null;
  once: Once;
  /** `https://dashboard.example.com`: for links, and for passkeys. */
  publicUrl: string;
}
