/**
 * The API makes the changes of the pages by their definitions (change.ts). What a definition refuses
 * in the words of a form becomes an error of the API here, with the same sentence.
 */
import { ApiError, type FieldRule, validationFailed } from '../../domain/errors';
import { AdminRefusal, InvalidInput, type InputProblem } from './refusal';

/** @param names the fields of the form that have another name in the API @throws ApiError */
export async function refuseAsApi<T>(
  work: () => Promise<T>,
  names: Readonly<Record<string, string>> = {},
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InvalidInput) {
      throw validationFailed(
        error.faults.map(({ field, message, problem }) => ({
          field: names[field] ?? field,
          rule: RULES[problem.code] ?? 'format',
          message,
        })),
      );
    }
    throw error instanceof AdminRefusal ? (asApiError(error) ?? error) : error;
  }
}

/** A repeated change does nothing more, also when the first one is made at the same time. */
export async function unlessDone(
  work: Promise<unknown>,
  done: 'endpoint_deleted' | 'api_key_revoked',
): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof AdminRefusal) || error.refusal.code !== done) throw error;
  }
}

/** The field rules of problems that have another rule than `invalid_format`. */
const RULES: Partial<Record<InputProblem['code'], FieldRule>> = {
  empty: 'too_short',
  too_long: 'too_long',
  out_of_range: 'out_of_range',
  in_the_past: 'out_of_range',
  too_many_addresses: 'too_long',
  none_chosen: 'too_short',
  unknown_name: 'unsupported',
  not_a_choice: 'unsupported',
  unsupported_currency: 'unsupported',
  url_refused: 'unsupported',
};

/** Null means the API makes no change that is refused like this. */
function asApiError({ refusal, message }: AdminRefusal): ApiError | null {
  const invalidState = (status: string) =>
    new ApiError({ code: 'invalid_state', details: { status }, message });
  const tooMany = (resource: string, { max: maximum }: { max: number }) =>
    new ApiError({ code: 'too_many_objects', details: { resource, maximum } });
  switch (refusal.code) {
    case 'not_found':
      return new ApiError({ code: 'not_found', details: { resource: refusal.object } });
    case 'too_many_endpoints':
      return tooMany('webhook_endpoint', refusal);
    case 'too_many_keys':
      return tooMany('api_key', refusal);
    case 'api_key_revoked':
      return invalidState('revoked');
    case 'api_key_expired':
      return invalidState('expired');
    case 'endpoint_deleted':
      return invalidState('deleted');
    case 'endpoint_disabled':
      return invalidState('disabled');
    case 'delivery_body_deleted':
      return invalidState('expired');
    default:
      return null;
  }
}
