/** What to say of an answer of Exchange Pay that decides nothing. */
import { statusSentence } from '../provider-http';
import { readFailureCode, REFERENCE_CONFLICT_CODES } from './answers';

export function describeUnclear(status: number, body: unknown): string {
  const code = readFailureCode(status, body);
  if (code !== undefined && REFERENCE_CONFLICT_CODES.includes(code)) {
    return 'The provider has a different order under this reference.';
  }
  if (status === 200) return 'The provider answered with something other than what was asked.';
  const isCode = code !== undefined && /^[0-9]{6}$/.test(code);
  return isCode ? `${statusSentence(status)} Its code is ${code}.` : statusSentence(status);
}
