/**
 * Reads a request's body as the exact bytes, at most 64 KiB (decision W6): what is hashed, checked
 * against a signature or parsed is what was sent.
 */
import bodyParser from 'koa-bodyparser';
import { ApiError } from '../../domain/errors';
import type { GatewayContext } from '../context';

const EMPTY = Buffer.alloc(0);

/** Without an encoding the parser hands over a Buffer; its own types do not know the option. */
type BytesOptions = bodyParser.Options & { encoding: null };

/** @throws ApiError payload_too_large, unsupported_media_type, invalid_json (it broke off) */
export type ReadBytes = (ctx: GatewayContext) => Promise<Buffer>;

/** @param mediaTypes a body of another type is not read and counts as empty */
export function bytesReader(mediaTypes: string[]): ReadBytes {
  const options: BytesOptions = {
    enableTypes: ['text'],
    extendTypes: { text: mediaTypes },
    textLimit: '64kb',
    encoding: null,
  };
  const read = bodyParser(options);
  return async (ctx) => {
    // A compressed body could unpack to any size, and a signature covers the bytes as sent.
    if (ctx.get('Content-Encoding') !== '' && ctx.get('Content-Encoding') !== 'identity') {
      throw new ApiError('unsupported_media_type', undefined, {
        message: 'Send the body without Content-Encoding: compressed bodies are not accepted.',
      });
    }
    try {
      await read(ctx, () => Promise.resolve());
    } catch (error) {
      throw refusal(error);
    }
    const bytes: unknown = ctx.request.rawBody;
    return Buffer.isBuffer(bytes) ? bytes : EMPTY;
  };
}

/** raw-body's errors carry the status of what went wrong with the transfer. */
function refusal(error: unknown): unknown {
  const status: unknown = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status === 413) return new ApiError('payload_too_large');
  if (status === 400) {
    return new ApiError('invalid_json', undefined, {
      message: 'The body ended before its Content-Length. Send the request again.',
    });
  }
  return error;
}
