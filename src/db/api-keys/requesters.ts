/** Whether the key or the person that requested payouts may still make them, at the time of the reservation. */
import type { Refusal } from '../../domain/errors';
import type { Owner } from '../../domain/mode';
import { PAYER_ROLES } from '../../domain/users';
import type { Reader, Tx } from '../transaction';

/** The id of a key, or of a person of the dashboard. */
interface Requester extends Owner {
  apiKeyId: string;
}

type RequesterFault = 'invalid_api_key' | 'account_suspended' | 'insufficient_scope';

/** @returns why the requester may not make payouts at this time; null if it may */
export async function findRequesterFault(
  db: Reader,
  requester: Requester,
): Promise<Refusal | null> {
  return refusalOf(await db.prepared<Found>(SQL, valuesOf(requester)));
}

/** The same, with the transaction's next statement. */
export function sendRequesterFault(tx: Tx, requester: Requester): Promise<Refusal | null> {
  return tx.sendWithNext<Found, Refusal | null>(SQL, valuesOf(requester), refusalOf);
}

const SQL = 'SELECT requester_fault(?, ?, ?::text[]) AS fault';

interface Found {
  fault: RequesterFault | null;
}

function valuesOf({ accountId, mode, apiKeyId }: Requester): [string, string, string[]] {
  return [accountId, apiKeyId, [...PAYER_ROLES[mode]]];
}

function refusalOf([found]: Found[]): Refusal | null {
  const code = found?.fault ?? null;
  if (code === null || code === 'account_suspended') return code === null ? null : { code };
  if (code === 'invalid_api_key') return { code, message: MESSAGES[code] };
  return { code, message: MESSAGES[code], details: { required_scope: 'payouts:write' } };
}

const MESSAGES = {
  invalid_api_key:
    'The API key that requested this has expired or was revoked. Request it again with an active key.',
  insufficient_scope:
    'The API key or the person that requested this may no longer make payouts. Another one can request it again.',
};
