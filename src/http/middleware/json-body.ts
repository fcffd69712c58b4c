/** Reads a JSON body and leaves its object on the state. */
import { ApiError } from '../../domain/errors';
import type { GatewayMiddleware } from '../context';
import { parseJsonObject } from '../json-text';
import { bytesReader } from './body-bytes';

const readBytes = bytesReader(['application/json']);

export const jsonBody: GatewayMiddleware = async (ctx, next) => {
  const [mediaType = ''] = ctx.get('Content-Type').split(';');
  const charset = ctx.request.charset.toLowerCase();
  const isJson = mediaType.trim().toLowerCase() === 'application/json';
  if (!isJson || !['', 'utf-8', 'utf8'].includes(charset)) {
    throw new ApiError('unsupported_media_type');
  }
  ctx.state.json = parseJsonObject(await readBytes(ctx));
  await next();
};
