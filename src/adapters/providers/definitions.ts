/** The providers, one line each. The registry checks that every ProviderCode has its line. */
export { ONCHAIN as onchain_provider } from './onchain/adapter';
export { EXCHANGE_PAY as exchange_pay } from './exchange-pay/adapter';
