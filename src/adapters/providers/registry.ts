/**
 * All providers of this installation, built once at the start (src/shell/deps.ts) and found by code and
 * mode. To add a provider: its folder, its code in domain/provider-codes.ts, a line in
 * definitions.ts.
 */
import { MODES, type Mode } from '../../domain/mode';
import { PROVIDER_CODES, type ProviderCode } from '../../domain/provider-codes';
import { providerByNetwork } from './by-network';
import * as definitions from './definitions';
import type { ProviderDefinition } from './definition';
import type { Provider, ProviderModeConfig } from './port';
import {
  type CallObserver,
  createProviderAgent,
  createProviderCaller,
  observed,
} from './provider-http';

export type { Limited, Provider } from './port';
export type { ObservedCall } from './provider-http';

export interface ProviderRegistry {
  /** @throws RangeError when the provider is not enabled in the mode */
  get(code: ProviderCode, mode: Mode): Provider;
  /** The enabled ones; the first that fits is the default (Specification, "POST /payouts"). */
  list(mode: Mode): readonly Provider[];
  /** Drops the open connections. Calls under way end as unknown. */
  close(): Promise<void>;
}

/** Null when the provider is not used in that mode. */
export type ProviderConfig = Record<ProviderCode, Record<Mode, ProviderModeConfig | null>>;

type Definitions = { [Code in ProviderCode]: ProviderDefinition & { code: Code } };

/** A code without a definition, or with another provider's, does not compile. */
export const PROVIDERS: Definitions = definitions;

/** @param onCall told of each call to a provider */
export function createProviders(
  config: ProviderConfig,
  onCall: CallObserver = () => undefined,
): ProviderRegistry {
  const agent = createProviderAgent();
  const build = (mode: Mode): Provider[] =>
    PROVIDER_CODES.flatMap((code) => {
      const own = config[code][mode];
      if (own === null) return [];
      const create = (program: ProviderModeConfig, who?: string) => {
        const call = createProviderCaller(agent, own.timeoutMs, who);
        return PROVIDERS[code].create(program, observed(call, { provider: code, mode }, onCall));
      };
      const others = (own.programs ?? []).map(({ networks, ...program }) => {
        const label = networks.join(',');
        const who = `The provider of ${label}`;
        return { label, networks, provider: create({ ...own, ...program }, who) };
      });
      return [providerByNetwork(create(own), others)];
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
    close: () => agent.close(),
  };
}
