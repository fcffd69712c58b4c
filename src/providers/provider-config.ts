/** Where the providers are and how the gateway makes itself known to them, per mode. */
import type { Mode } from '../domain/mode';
import type { ProviderCode } from '../domain/provider-codes';

export interface ProviderModeConfig {
  /** Without a slash at the end, up to where the provider's versioned paths begin. */
  baseUrl: string;
  apiKey: string;
  callbackSecret: string;
  /** For one call in all: connecting, sending, waiting and reading. */
  timeoutMs: number;
}

/** Null: the provider is not used in that mode. */
export type ProviderConfig = Record<ProviderCode, Record<Mode, ProviderModeConfig | null>>;
