/** Answers of the on-chain provider that decide nothing. */
import { statusSentence } from '../provider-http';
import { readOnchainErrorCode } from './answers';

export interface Unclear {
  kind: 'unknown';
  reason: string;
}

export const NOT_UNDERSTOOD: Unclear = {
  kind: 'unknown',
  reason: 'The provider answered with something other than what was asked.',
};

export function unclear(status: number, body: unknown): Unclear {
  if (status === 409 && readOnchainErrorCode(body) === 'client_reference_conflict') {
    return { kind: 'unknown', reason: 'The provider has a different order under this reference.' };
  }
  return { kind: 'unknown', reason: statusSentence(status) };
}
