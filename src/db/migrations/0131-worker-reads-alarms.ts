/** While one of several programs of a provider is silent, the worker keeps the alarms that it has noted of it. */
export const sql = /* sql */ `
GRANT SELECT ON provider_alarms TO gateway_worker;
`;
