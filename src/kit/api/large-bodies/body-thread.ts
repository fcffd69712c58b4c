/** The thread that parses and checks large bodies, one after the other (started by thread.ts). */
import { parentPort } from 'node:worker_threads';
import { ApiError } from '../../../domain/errors';
import { parseJsonObject } from '../json-text';
import { READERS } from './readers';
import type { BodyAnswer, BodyToRead } from './thread';

parentPort?.on('message', (body: BodyToRead) => {
  parentPort?.postMessage(answerTo(body));
});

function answerTo({ name, bytes }: BodyToRead): BodyAnswer {
  try {
    const json = parseJsonObject(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return { request: READERS[name](json) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { refusal: error.refusal };
  }
}
