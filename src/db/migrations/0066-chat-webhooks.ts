/** Addresses of chats, in Slack's format, which are told what an account or the operators have chosen. */
export const sql = /* sql */ `
CREATE TABLE chat_webhooks (
  id text PRIMARY KEY,
  -- Null: the operators'.
  account_id text REFERENCES accounts,
  mode text CHECK (mode IN ('test', 'live')),
  name text NOT NULL,
  -- What is shown of the address, which is a secret.
  hint text NOT NULL,
  kinds text[] NOT NULL,
  -- The address and the secret of the signature.
  sealed bytea NOT NULL,
  sealed_key_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((account_id IS NULL) = (mode IS NULL))
);
CREATE INDEX chat_webhooks_of_account ON chat_webhooks (account_id, mode);
GRANT SELECT (id, account_id, mode, name, hint, kinds, created_at), INSERT, DELETE
  ON chat_webhooks TO gateway_dashboard;
GRANT SELECT ON chat_webhooks TO gateway_worker;
-- For a new encryption key.
GRANT SELECT (id, sealed, sealed_key_id), UPDATE (sealed, sealed_key_id) ON chat_webhooks TO gateway_admin;

-- One message to one chat. It can tell several occasions of a kind.
CREATE TABLE chat_messages (
  id text PRIMARY KEY,
  chat_id text NOT NULL REFERENCES chat_webhooks ON DELETE CASCADE,
  -- Or test.
  kind text NOT NULL,
  -- As of notifications.
  status text NOT NULL DEFAULT 'waiting'
    CHECK (status IN ('waiting', 'sending', 'sent', 'refused', 'unclear', 'dropped')),
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX chat_messages_waiting ON chat_messages (created_at) WHERE status = 'waiting';
CREATE INDEX chat_messages_of_chat ON chat_messages (chat_id, kind, created_at);
CREATE INDEX chat_messages_by_age ON chat_messages (created_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON chat_messages TO gateway_worker;
GRANT SELECT, INSERT ON chat_messages TO gateway_dashboard;

-- A chat is told an occasion once: this row decides.
CREATE TABLE told_chats (
  occasion_key text NOT NULL REFERENCES occasions ON DELETE CASCADE,
  chat_id text NOT NULL REFERENCES chat_webhooks ON DELETE CASCADE,
  -- Null: it waits for the next message of its kind.
  message_id text REFERENCES chat_messages ON DELETE SET NULL,
  PRIMARY KEY (occasion_key, chat_id)
);
CREATE INDEX told_chats_waiting ON told_chats (chat_id) WHERE message_id IS NULL;
CREATE INDEX told_chats_of_message ON told_chats (message_id);
GRANT SELECT, INSERT, UPDATE ON told_chats TO gateway_worker;
`;
