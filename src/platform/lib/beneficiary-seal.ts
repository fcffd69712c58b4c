/** Encrypts the beneficiary of a payout or a recipient for the database (decisions/payouts#beneficiaries). */
import type { Beneficiary, SealedBeneficiary, StoredBeneficiary } from '../../domain/beneficiary';
import type { SecretBox } from './secret-box';

/** Encrypts it. @param owner the id of the object that it belongs to */
export function sealBeneficiary(
  box: Pick<SecretBox, 'seal'>,
  { name, kind, institution }: Beneficiary,
  owner: string,
): SealedBeneficiary {
  const { sealed, keyId } = box.seal(JSON.stringify({ name, kind, institution }), owner);
  return { sealed: sealed.toString('base64'), keyId };
}

/**
 * Null if there is none, or it was erased.
 * @param stored undefined if it was not read, so that nobody knows whether there is one
 * @throws Error then, and when it cannot be decrypted
 */
export function openBeneficiary(
  box: Pick<SecretBox, 'open'>,
  stored: StoredBeneficiary | null | undefined,
  owner: string,
): Beneficiary | null {
  if (stored === undefined) throw new Error(`${owner} was read without its beneficiary`);
  if (stored === null || stored.sealed === null) return null;
  const { sealed, keyId } = stored;
  const text = box.open({ sealed: Buffer.from(sealed, 'base64'), keyId }, owner);
  return JSON.parse(text) as Beneficiary;
}

/** The owner of the beneficiary of a batch's row until the row has a payout. */
export function beneficiaryOwnerOfRow(batchId: string, row: number): string {
  return `${batchId}:${row}`;
}

/** Decrypts it for one object and encrypts it for another; null if there is none. */
export function resealBeneficiary(
  box: Pick<SecretBox, 'open' | 'seal'>,
  stored: StoredBeneficiary | null,
  from: string,
  to: string,
): SealedBeneficiary | null {
  const opened = openBeneficiary(box, stored, from);
  return opened === null ? null : sealBeneficiary(box, opened, to);
}
