-- Creates the login of the wallet, a member of the role of its first migration.
\getenv password WALLET_PASSWORD
SELECT 'CREATE ROLE wallet_1 LOGIN'
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'wallet_1') \gexec
ALTER ROLE wallet_1 PASSWORD :'password';
ALTER ROLE wallet_1 SET statement_timeout = '15s';
GRANT wallet_app TO wallet_1;
