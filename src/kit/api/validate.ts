/**
 * Request bodies, read as exact bytes of at most 64 KiB (decisions/api#errors), so that hashes, signatures and the
 * parser use what was sent. Larger ones: large-body.ts.
 */
import type { Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { ApiError } from '../../domain/errors';
import type { Mode } from '../../domain/mode';
import type { GatewayContext, GatewayState } from './context';
import { parseJsonObject } from './json-text';

/** The input of the schemas: the body's object, with numbers as LosslessNumber. */
export type RequestReader<Request> = (
  json: Readonly<Record<string, unknown>>,
  mode: Mode,
) => Request;

/**
 * Reads a JSON body and stores the valid request on the state.
 * @param read throws validation_failed with every failing field
 */
export function validate<Request>(
  read: RequestReader<Request>,
): Middleware<GatewayState & { request: Request }> {
  return async (ctx, next) => {
    refuseOtherMediaTypes(ctx);
    ctx.state.request = read(parseJsonObject(await readJsonBytes(ctx)), ctx.state.caller.mode);
    await next();
  };
}

/** @throws ApiError unsupported_media_type */
export function refuseOtherMediaTypes(ctx: GatewayContext): void {
  const [mediaType = ''] = ctx.get('Content-Type').split(';');
  const charset = ctx.request.charset.toLowerCase();
  const isJson = mediaType.trim().toLowerCase() === 'application/json';
  if (!isJson || !['', 'utf-8', 'utf8'].includes(charset)) {
    throw new ApiError({ code: 'unsupported_media_type' });
  }
}

const EMPTY = Buffer.alloc(0);

/** Without an encoding, the parser returns a Buffer; its types do not have the option. */
type BytesOptions = bodyParser.Options & { encoding: null };

/** @throws ApiError payload_too_large, unsupported_media_type, invalid_json (incomplete) */
export type ReadBytes = (ctx: GatewayContext) => Promise<Buffer>;

/**
 * @param mediaTypes a body of another type is not read and is treated as empty
 * @param mebibytes the maximum; 64 KiB by default
 */
export function bytesReader(mediaTypes: string[], mebibytes?: number): ReadBytes {
  const options: BytesOptions = {
    enableTypes: ['text'],
    extendTypes: { text: mediaTypes },
    textLimit: mebibytes === undefined ? '64kb' : `${mebibytes}mb`,
    encoding: null,
  };
  const read = bodyParser(options);
  return async (ctx) => {
    // A compressed body can decompress to any size, and a signature covers the bytes as sent.
    if (ctx.get('Content-Encoding') !== '' && ctx.get('Content-Encoding') !== 'identity') {
      throw new ApiError({
        code: 'unsupported_media_type',
        message: 'Compressed bodies are not supported. Send the body without Content-Encoding.',
      });
    }
    try {
      await read(ctx, () => Promise.resolve());
    } catch (error) {
      throw refusal(error, { mebibytes, clientHasLeft: ctx.req.destroyed });
    }
    const bytes: unknown = ctx.request.rawBody;
    return Buffer.isBuffer(bytes) ? bytes : EMPTY;
  };
}

export const readJsonBytes = bytesReader(['application/json']);

/**
 * raw-body's errors contain a status for the problem. Of a client that has left, also after its whole body, it
 * only says that the stream cannot be read.
 */
function refusal(
  error: unknown,
  { mebibytes, clientHasLeft }: { mebibytes: number | undefined; clientHasLeft: boolean },
): unknown {
  const status: unknown = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status === 413) {
    const message = `The body exceeds ${mebibytes ?? 0} MiB. Send fewer rows in a batch.`;
    return new ApiError({
      code: 'payload_too_large',
      ...(mebibytes === undefined ? {} : { message }),
    });
  }
  return status === 400 || clientHasLeft ? incomplete() : error;
}

function incomplete(): ApiError {
  return new ApiError({
    code: 'invalid_json',
    message: 'The body is incomplete or malformed. Send the request again.',
  });
}
