/** The API shows merchants their requests, as the dashboard does (decisions/api#request-log). */
export const sql = /* sql */ `
GRANT SELECT ON request_log TO gateway_api;
`;
