/** Notifications: what people and chats are told, and by which way (decisions/notifications#notifications). */
export const notifications = /* sql */ `
CREATE TABLE occasions (
  -- The kind and the id of what happened: the same occasion is noted once.
  key text PRIMARY KEY,
  kind text NOT NULL,
  -- Null: the operators are told.
  account_id text,
  mode text,
  -- Null: everybody who may know is told.
  user_id text,
  object_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When it was decided who is told.
  addressed_at timestamptz,
  -- Not told: who made what waits cannot approve it.
  maker_id text
);
CREATE INDEX occasions_to_address ON occasions (created_at) WHERE addressed_at IS NULL;
CREATE INDEX occasions_by_age ON occasions (created_at);
GRANT SELECT, UPDATE (addressed_at), DELETE ON occasions TO gateway_worker;

-- One message to one person. It can tell several occasions of a kind.
CREATE TABLE notifications (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users,
  account_id text,
  kind text NOT NULL,
  -- sending: the server was asked, and the answer is not recorded yet.
  status text NOT NULL DEFAULT 'waiting'
    CHECK (status IN ('waiting', 'sending', 'sent', 'refused', 'unclear', 'dropped')),
  last_error text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX notifications_waiting ON notifications (created_at) WHERE status = 'waiting';
CREATE INDEX notifications_of_person ON notifications (user_id, kind, created_at);
CREATE INDEX notifications_by_age ON notifications (created_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON notifications TO gateway_worker;

-- A person is told an occasion once: this row decides.
CREATE TABLE told_occasions (
  occasion_key text NOT NULL REFERENCES occasions ON DELETE CASCADE,
  user_id text NOT NULL REFERENCES users,
  -- Null: it waits for the next message of its kind.
  notification_id text REFERENCES notifications ON DELETE SET NULL,
  PRIMARY KEY (occasion_key, user_id)
);
CREATE INDEX told_occasions_waiting ON told_occasions (user_id) WHERE notification_id IS NULL;
CREATE INDEX told_occasions_of_message ON told_occasions (notification_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON told_occasions TO gateway_worker;

-- What a person has chosen. Without a row, the default of the kind applies (src/domain/notifications.ts).
CREATE TABLE notification_choices (
  user_id text NOT NULL REFERENCES users,
  -- Empty for an operator.
  account_id text NOT NULL,
  kind text NOT NULL,
  by_email boolean NOT NULL,
  PRIMARY KEY (user_id, account_id, kind)
);
GRANT SELECT ON notification_choices TO gateway_worker, gateway_dashboard;
GRANT INSERT, UPDATE ON notification_choices TO gateway_dashboard;

-- The amounts below which an account's people are told.
CREATE TABLE balance_alerts (
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  currency text NOT NULL,
  below numeric(38,8) NOT NULL CHECK (below > 0),
  -- Since when it has been told; null: the balance was not below.
  low_since timestamptz,
  PRIMARY KEY (account_id, mode, currency)
);
GRANT SELECT, INSERT, UPDATE (below), DELETE ON balance_alerts TO gateway_dashboard;

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
GRANT SELECT ON chat_webhooks TO gateway_worker;
-- For a new encryption key.
GRANT SELECT (id, sealed, sealed_key_id), UPDATE (sealed, sealed_key_id) ON chat_webhooks TO gateway_admin;
GRANT SELECT (id, account_id, mode, name, hint, kinds, created_at), INSERT, UPDATE (kinds), DELETE ON chat_webhooks TO
  gateway_dashboard;

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
GRANT SELECT, INSERT ON chat_messages TO gateway_worker, gateway_dashboard;
GRANT UPDATE, DELETE ON chat_messages TO gateway_worker;

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

-- What the providers answered last.
CREATE TABLE provider_alarms (
  provider text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  -- The provider's. An alarm that ends and comes back has another one.
  alarm_id text NOT NULL,
  kind text NOT NULL,
  network text NOT NULL,
  subject text NOT NULL,
  detail text NOT NULL,
  raised_at timestamptz NOT NULL,
  PRIMARY KEY (provider, mode, alarm_id)
);
GRANT SELECT ON provider_alarms TO gateway_dashboard;
`;
