/**
 * All providers of this installation, built once at the start (src/deps.ts) and asked for by code
 * and mode ever after. To add a provider: its folder, its code in port.ts, one line here.
 */
import { MODES, type Mode } from '../domain/mode';
import { createExchangePayProvider } from './exchange-pay/adapter';
import { createOnchainProvider } from './onchain/adapter';
import { PROVIDER_CODES, type ProviderCode } from '../domain/provider-codes';
import type { Provider } from './port';
import type { ProviderConfig, ProviderModeConfig } from './provider-config';
import { createProviderAgent, createProviderCaller, type CallProvider } from './provider-http';

export type { Provider } from './port';

export interface ProviderRegistry {
  /** @throws RangeError when the provider is not enabled in the mode */
  get(code: ProviderCode, mode: Mode): Provider;
  /** The enabled ones; the first that fits is the default (Specification, "POST /payouts"). */
  list(mode: Mode): readonly Provider[];
  /** Drops the open connections. Calls under way end as unknown. */
  close(): Promise<void>;
}

const FACTORIES: Record<
  ProviderCode,
  (config: ProviderModeConfig, call: CallProvider) => Provider
> = {
  onchain_provider: createOnchainProvider,
  exchange_pay: createExchangePayProvider,
};

export function createProviders(config: ProviderConfig): ProviderRegistry {
  const agent = createProviderAgent();
  const build = (mode: Mode): Provider[] =>
    PROVIDER_CODES.flatMap((code) => {
      const own = config[code][mode];
      return own === null ? [] : [FACTORIES[code](own, createProviderCaller(agent, own.timeoutMs))];
    });
  const byMode = Object.fromEntries(MODES.map((mode) => [mode, build(mode)])) as Record<
    Mode,
    Provider[]
  >;
  return {
    get: (code, mode) => {
      const provider = byMode[mode].find((one) => one.code === code);
      if (provider === undefined) throw new RangeError(`${code} is not enabled in ${mode} mode.`);
      return provider;
    },
    list: (mode) => byMode[mode],
    close: () => agent.destroy(),
  };
}
