/**
 * Finds out why Temporal cannot be used, in words that an operator can act on. Node's client only says
 * that it did not connect in time; the connection of the workers names the cause.
 */
import { NativeConnection } from '@temporalio/worker';
import { SetupError } from '../platform/lib/setup-error';
import { wallClockMs } from '../platform/lib/wall-clock';
import { readCredentials, type TemporalOptions } from './connection';

/** The codes of gRPC. */
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

const DEADLINE_MS = 10_000;

/** @throws SetupError that names the cause */
export async function openNativeConnection(options: TemporalOptions): Promise<NativeConnection> {
  const { address, namespace } = options;
  let connection: NativeConnection;
  try {
    connection = await NativeConnection.connect({ address, ...readCredentials(options) });
  } catch (error) {
    if (error instanceof SetupError) throw error;
    throw new SetupError(sentence(options, causes(error)));
  }
  try {
    await connection.withDeadline(wallClockMs() + DEADLINE_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return connection;
  } catch (error) {
    await connection.close();
    throw new SetupError(sentence(options, causes(error), (error as { code?: number }).code));
  }
}

function sentence({ address, namespace }: TemporalOptions, cause: string, code?: number): string {
  if (code === NOT_FOUND) {
    return `Temporal at ${address} has no namespace ${namespace}. Create it and its search attributes (docs/operations.md, “First installation”, step 5), or set TEMPORAL_NAMESPACE.`;
  }
  if (code === PERMISSION_DENIED || code === UNAUTHENTICATED) {
    return `Temporal at ${address} refuses these credentials for the namespace ${namespace} (${cause}). Check TEMPORAL_API_KEY, or the client certificate.`;
  }
  if (/refused/i.test(cause)) {
    return `Nothing listens at ${address} (${cause}). Check TEMPORAL_ADDRESS, and that the Temporal frontend runs.`;
  }
  if (/dns|lookup|resolve|not known/i.test(cause)) {
    return `The host of ${address} is not known (${cause}). Check TEMPORAL_ADDRESS.`;
  }
  if (
    // A server that requires a client certificate may close the connection before it says so.
    /certificate|tls|ssl|handshake|UnknownIssuer|InvalidContentType|h2 protocol|frame|connection closed/i.test(
      cause,
    )
  ) {
    return `No TLS connection with Temporal at ${address} (${cause}). Check TEMPORAL_TLS and the TEMPORAL_TLS_… certificates; the server may also expect no TLS, or a client certificate.`;
  }
  return `Temporal at ${address} cannot be used (${cause}).`;
}

/** The messages of an error and of its causes. */
function causes(error: unknown): string {
  const messages: string[] = [];
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    const { details } = one as { details?: unknown };
    messages.push(one.message, ...(typeof details === 'string' ? [details] : []));
  }
  return [...new Set(messages.filter((message) => message !== ''))].join(': ');
}
