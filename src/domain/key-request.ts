/** The body of a request that creates an API key, after validation. */
import type { KeyLimit } from './limits';
import type { Scope } from './scopes';

/** The settings of the new key; a field that is left out is as its maker has it. */
export interface KeyRequest {
  name: string;
  scopes: Scope[];
  allowed_addresses?: string[];
  requests_per_minute?: number;
  expires_at?: string;
  recipients_only?: boolean;
  currencies?: string[];
  payout_limits?: Record<string, Partial<Record<keyof KeyLimit, string>>>;
}
