/** Who receives the money of a payout, as the travel rule asks for it (decisions/payouts#beneficiaries). */
export const BENEFICIARY_KINDS = ['individual', 'business'] as const;

/** The longest name or institution, in characters. */
export const BENEFICIARY_TEXT_LENGTH_MAX = 100;

/** The person or business that receives a payout. It is personal data and is stored encrypted only. */
export interface Beneficiary {
  name: string;
  kind: (typeof BENEFICIARY_KINDS)[number];
  /** The institution that holds the destination; null if nobody said. */
  institution: string | null;
}

/** A beneficiary that is encrypted for one object; decrypting it needs the id of that object. */
export interface SealedBeneficiary {
  /** The ciphertext in base64. */
  sealed: string;
  keyId: string;
}

/** A beneficiary as the database has it; `sealed` is null after it was erased. */
export interface StoredBeneficiary {
  sealed: string | null;
  keyId: string;
}
