/** The providers that the gateway knows, the default first (the specification, "POST /payouts"). */
export const PROVIDER_CODES = ['onchain_provider', 'exchange_pay'] as const;
export type ProviderCode = (typeof PROVIDER_CODES)[number];
