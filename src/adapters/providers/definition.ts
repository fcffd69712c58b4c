import type { ProviderCode } from '../../domain/provider-codes';
import type { ProviderPrefix } from '../../platform/settings/read-settings';
import type { Provider, ProviderModeConfig } from './port';
import type { CallProvider } from './provider-http';

/** The exports of a provider's folder; definitions.ts lists the providers. */
export interface ProviderDefinition {
  code: ProviderCode;
  /** Its environment variables begin with it: `<prefix>_TEST_URL`, `<prefix>_LIVE_API_KEY`. */
  variablePrefix: ProviderPrefix;
  create(config: ProviderModeConfig, call: CallProvider): Provider;
}
