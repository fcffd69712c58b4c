/** An invitation is mailed again: its mail starts anew, with another id (decisions/notifications#link-mails). */
export const sql = /* sql */ `
GRANT UPDATE (id, status, last_error, created_at, updated_at) ON link_mails TO gateway_dashboard;
`;
