/**
 * The environment of the gateway's processes in development. It is the same set of variables that
 * an operator sets in production (src/config.ts), filled in for this machine.
 */
import type { DataLayout } from './layout';
import type { Ports } from './ports';
import { PROVIDER_MODES, PROVIDERS } from './secrets';
import { TEMPORAL_NAMESPACE } from './servers';

export interface GatewayAddresses {
  databaseUrl: string;
  temporalAddress: string;
}

export function sandboxEnvironment(
  layout: DataLayout,
  ports: Ports,
  secrets: Record<string, string>,
  webhookSecret: string,
): NodeJS.ProcessEnv {
  return {
    ...sharedEnvironment(secrets),
    SANDBOX_WEBHOOK_SECRET: webhookSecret,
    SANDBOX_PORT: ports.sandbox.toString(),
    SANDBOX_DATA_DIR: layout.sandbox,
    SANDBOX_CALLBACK_BASE_URL: `http://127.0.0.1:${ports.api}`,
  };
}

export function gatewayEnvironment(
  ports: Ports,
  secrets: Record<string, string>,
  { databaseUrl, temporalAddress }: GatewayAddresses,
): NodeJS.ProcessEnv {
  const sandboxUrl = `http://127.0.0.1:${ports.sandbox}`;
  const providerUrls = PROVIDERS.flatMap(({ prefix, sandboxPath }) =>
    PROVIDER_MODES.map((mode): [string, string] => [
      `${prefix}_${mode}_URL`,
      `${sandboxUrl}${sandboxPath}`,
    ]),
  );
  return {
    ...sharedEnvironment(secrets),
    // Development keys open it: for this machine alone, unless somebody says otherwise.
    HOST: process.env['HOST'] ?? '127.0.0.1',
    PORT: ports.api.toString(),
    PUBLIC_URL: `http://localhost:${ports.api}`,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE,
    // Ctrl-C ends everything within ten seconds (supervisor.ts).
    WORKER_GRACE_MS: '1500',
    ...Object.fromEntries(providerUrls),
  };
}

function sharedEnvironment(secrets: Record<string, string>): NodeJS.ProcessEnv {
  // The owner's connection is for migrations alone, and the password is in DATABASE_URL.
  const { DATABASE_OWNER_URL, ...inherited } = process.env;
  const { DATABASE_PASSWORD, ...needed } = secrets;
  return { ...inherited, GATEWAY_ENV: 'development', ...needed };
}
