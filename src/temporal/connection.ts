/**
 * How the programs reach Temporal: by the variables and profiles of Temporal's own tools ("environment
 * configuration"). Certificates and API keys of files are read again while a program runs (reload.ts).
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import {
  type ClientConfigProfile,
  type ConfigDataSource,
  loadClientConfigProfile,
  toClientOptions,
} from '@temporalio/envconfig';
import { type Environment, ROWS } from '../platform/settings/settings';
import { SetupError } from '../platform/lib/setup-error';

type ConnectionOptions = ReturnType<typeof toClientOptions>['connectionOptions'];

export type TemporalCredentials = Pick<ConnectionOptions, 'tls' | 'apiKey' | 'metadata'>;

export interface TemporalOptions {
  address: string;
  namespace: string;
  /** The variables that the credentials are read from. Without them TLS is off. */
  variables?: Readonly<Record<string, string>>;
  /** Paths of the files with certificates, keys and profiles. */
  files?: readonly string[];
}

const VARIABLES = ROWS.filter(([, { kind }]) => kind === null).map(([name]) => name);
/** Variables of Temporal's tools, and of the system: the folder of the profiles depends on them. */
const OTHERS =
  /^(TEMPORAL_API_KEY_FILE|TEMPORAL_GRPC_META_.+|TEMPORAL_TLS_.+_DATA|TEMPORAL_TLS_DISABLE_HOST_VERIFICATION|HOME|XDG_CONFIG_HOME|APPDATA)$/;

/**
 * @param otherwise the address when TEMPORAL_ADDRESS is not set
 * @throws SetupError
 */
export function readTemporal(env: Environment, otherwise?: string): TemporalOptions {
  const variables = setVariables(env);
  const profile = readProfile(variables);
  const address = profile.address ?? otherwise;
  if (address === undefined) {
    throw new SetupError(
      'TEMPORAL_ADDRESS is not set. Set it to the host:port of the Temporal frontend.',
    );
  }
  const { TEMPORAL_ADDRESS: _address, TEMPORAL_NAMESPACE: _namespace, ...others } = variables;
  const options: TemporalOptions = {
    address,
    namespace: profile.namespace ?? 'default',
    variables: others,
    files: filesOf(variables, profile),
  };
  readCredentials(options);
  return options;
}

/**
 * Reads the credentials as the files are now.
 * @throws SetupError
 */
export function readCredentials({ variables = {} }: TemporalOptions): TemporalCredentials {
  return credentialsOf(readProfile(variables));
}

/** An empty variable is not set: an empty TEMPORAL_TLS would turn TLS off, an empty key would turn it on. */
function setVariables(env: Environment): Record<string, string> {
  const read = [
    ...VARIABLES.map((name) => [name, env[name]] as const),
    ...Object.entries(env).filter(([name]) => OTHERS.test(name)),
  ];
  return Object.fromEntries(
    read
      .map(([name, value]) => [name, value?.trim() ?? ''] as const)
      .filter(([, value]) => value !== ''),
  );
}

function readProfile(variables: Readonly<Record<string, string>>): ClientConfigProfile {
  const file = variables['TEMPORAL_CONFIG_FILE'];
  if (file !== undefined && !existsSync(file)) {
    throw new SetupError(`TEMPORAL_CONFIG_FILE: ${file} does not exist.`);
  }
  if (variables['TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'] !== undefined) {
    throw new SetupError(
      'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION is not supported. Set TEMPORAL_TLS_SERVER_CA_CERT_PATH to the authority of the server’s certificate.',
    );
  }
  const profile = named('The Temporal profile', () =>
    loadClientConfigProfile({
      // The file in a person's home directory is read only if a profile is asked for.
      disableFile: file === undefined && variables['TEMPORAL_PROFILE'] === undefined,
      configFileStrict: true,
      overrideEnvVars: { ...variables, ...apiKeyOfFile(variables) },
    }),
  );
  const { tls } = profile;
  if ((tls?.clientCert === undefined) !== (tls?.clientKey === undefined)) {
    const [has, lacks] = tls?.clientCert === undefined ? ['KEY', 'CERT'] : ['CERT', 'KEY'];
    throw new SetupError(
      `TEMPORAL_TLS_CLIENT_${has}_PATH is set without TEMPORAL_TLS_CLIENT_${lacks}_PATH. Set both, or neither.`,
    );
  }
  return profile;
}

/** The API key as its file is now; secret-files.ts has read it at the start. */
function apiKeyOfFile(variables: Readonly<Record<string, string>>): Record<string, string> {
  const path = variables['TEMPORAL_API_KEY_FILE'];
  if (path === undefined) return {};
  const key = named('TEMPORAL_API_KEY_FILE', () => readFileSync(path, 'utf8')).trim();
  if (key === '') throw new SetupError(`TEMPORAL_API_KEY_FILE: ${path} is empty.`);
  return { TEMPORAL_API_KEY: key };
}

function credentialsOf(profile: ClientConfigProfile): TemporalCredentials {
  const { tls, apiKey, metadata } = named(
    'The certificates for Temporal',
    () => toClientOptions(profile).connectionOptions,
  );
  if (typeof tls === 'object' && tls?.clientCertPair != null) checkPair(tls.clientCertPair);
  return {
    ...(tls !== undefined && { tls }),
    ...(apiKey !== undefined && { apiKey }),
    ...(metadata !== undefined && { metadata }),
  };
}

/**
 * Checks that certificate and key belong together: while files are being replaced, one can be newer
 * than the other.
 */
function checkPair({ crt, key }: { crt: Uint8Array; key: Uint8Array }): void {
  const matches = named('The client certificate for Temporal', () =>
    new X509Certificate(crt).checkPrivateKey(createPrivateKey(Buffer.from(key))),
  );
  if (!matches) {
    throw new SetupError(
      'The client certificate for Temporal (TEMPORAL_TLS_CLIENT_CERT_PATH) does not belong to its key (TEMPORAL_TLS_CLIENT_KEY_PATH).',
    );
  }
}

function filesOf(
  variables: Readonly<Record<string, string>>,
  { tls }: ClientConfigProfile,
): string[] {
  const pathOf = (source: ConfigDataSource | undefined) =>
    source !== undefined && 'path' in source ? source.path : undefined;
  return [
    variables['TEMPORAL_API_KEY_FILE'],
    variables['TEMPORAL_CONFIG_FILE'],
    pathOf(tls?.clientCert),
    pathOf(tls?.clientKey),
    pathOf(tls?.serverCACert),
  ].filter((path) => path !== undefined);
}

function named<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new SetupError(`${what} cannot be used: ${(error as Error).message}`);
  }
}
