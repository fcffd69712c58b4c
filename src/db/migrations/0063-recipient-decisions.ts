/** An operator decides about the screening of a recipient in the console (decisions/controls#screening). */
export const sql = /* sql */ `
GRANT UPDATE (screening) ON recipients TO gateway_dashboard;
`;
