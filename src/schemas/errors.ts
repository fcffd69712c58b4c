/** The error envelope (the specification, "Errors"; decisions/api#errors). */
import { type TSchema, Type } from 'typebox';
import { ERROR_CODES, type ErrorCode, errorEntry } from '../domain/errors';
import { Id, Shape } from './common';

/** The bodies of all refusals. */
export const ERROR_BODIES = Object.fromEntries(
  ERROR_CODES.map((code) => [code, errorBody(code)]),
) as Record<ErrorCode, TSchema>;

/** The path of the page about an error code. */
export function errorPagePath(code: ErrorCode): string {
  return `/docs/errors/${code}`;
}

function errorBody(code: ErrorCode): TSchema {
  const { message, details } = errorEntry(code);
  return Shape(
    {
      error: Shape(
        {
          code: Type.Literal(code),
          message: Type.String({ description: 'What is wrong and what to do' }),
          ...(details === undefined ? {} : { details }),
          request_id: Id('request'),
          doc_url: Type.String({ format: 'uri', description: 'A page about this error code' }),
        },
        message,
      ),
    },
    `Error ${code}`,
  );
}
