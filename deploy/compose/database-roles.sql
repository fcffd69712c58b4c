-- Creates the owners' roles and databases. Running it again only sets the passwords. Texts compare by bytes (LC_COLLATE), so that
-- another C library of the image changes no order and no unique index.
\getenv owner_password GATEWAY_OWNER_PASSWORD
\getenv temporal_password TEMPORAL_DATABASE_PASSWORD
\getenv wallet_password WALLET_OWNER_PASSWORD
SELECT 'CREATE ROLE gateway_owner LOGIN CREATEROLE'
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'gateway_owner') \gexec
ALTER ROLE gateway_owner PASSWORD :'owner_password';
SELECT 'CREATE DATABASE gateway OWNER gateway_owner TEMPLATE template0 LC_COLLATE ''C'''
 WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'gateway') \gexec
SELECT 'CREATE ROLE temporal LOGIN'
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'temporal') \gexec
ALTER ROLE temporal PASSWORD :'temporal_password';
SELECT 'CREATE DATABASE temporal OWNER temporal TEMPLATE template0 LC_COLLATE ''C'''
 WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'temporal') \gexec
SELECT 'CREATE DATABASE temporal_visibility OWNER temporal TEMPLATE template0 LC_COLLATE ''C'''
 WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'temporal_visibility') \gexec
SELECT 'CREATE ROLE wallet_owner LOGIN CREATEROLE'
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'wallet_owner') \gexec
ALTER ROLE wallet_owner PASSWORD :'wallet_password';
SELECT 'CREATE DATABASE wallet OWNER wallet_owner TEMPLATE template0 LC_COLLATE ''C'''
 WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'wallet') \gexec
-- The logins of the programs stay out of the databases of others. The migrations do this for their own.
REVOKE CONNECT, TEMPORARY ON DATABASE postgres, temporal, temporal_visibility, wallet FROM PUBLIC;
