-- Creates the logins of the API, the workers and the pages, members of the roles of the first migration.
\getenv api_password GATEWAY_API_PASSWORD
\getenv worker_password GATEWAY_WORKER_PASSWORD
\getenv dashboard_password GATEWAY_DASHBOARD_PASSWORD
SELECT 'CREATE ROLE gateway_api_1 LOGIN'
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'gateway_api_1') \gexec
ALTER ROLE gateway_api_1 PASSWORD :'api_password';
ALTER ROLE gateway_api_1 SET statement_timeout = '15s';
ALTER ROLE gateway_api_1 SET idle_in_transaction_session_timeout = '15s';
GRANT gateway_api TO gateway_api_1;
SELECT 'CREATE ROLE gateway_worker_1 LOGIN'
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'gateway_worker_1') \gexec
ALTER ROLE gateway_worker_1 PASSWORD :'worker_password';
ALTER ROLE gateway_worker_1 SET statement_timeout = '15s';
ALTER ROLE gateway_worker_1 SET idle_in_transaction_session_timeout = '15s';
GRANT gateway_worker TO gateway_worker_1;
SELECT 'CREATE ROLE gateway_dashboard_1 LOGIN'
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'gateway_dashboard_1') \gexec
ALTER ROLE gateway_dashboard_1 PASSWORD :'dashboard_password';
ALTER ROLE gateway_dashboard_1 SET statement_timeout = '15s';
ALTER ROLE gateway_dashboard_1 SET idle_in_transaction_session_timeout = '15s';
GRANT gateway_dashboard TO gateway_dashboard_1;
