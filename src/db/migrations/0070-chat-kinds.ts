/** What a chat is told can be changed on its page. */
export const sql = /* sql */ `
GRANT UPDATE (kinds) ON chat_webhooks TO gateway_dashboard;
`;
