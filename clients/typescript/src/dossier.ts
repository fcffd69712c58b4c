/**
 * Checks a payout's dossier offline: that the gateway signed it, and that nothing in it was changed. It only
 * needs Node's crypto, so it can be copied as a single file. docs/guides/evidence.md describes the format.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';

export type DossierErrorCode =
  /** It is no dossier in JSON, or readers could take it for different ones. */
  | 'malformed'
  /** The gateway had no signing key. */
  | 'not_signed'
  /** None of the public keys is the one that the signature names. */
  | 'unknown_key'
  /** A field is not the one that was signed. */
  | 'changed'
  /** The signature is not that of the key. */
  | 'wrong_signature'
  /** An audit entry is not at its place in the chain. */
  | 'wrong_audit_entry';

export class DossierError extends Error {
  override readonly name = 'DossierError';

  constructor(
    readonly code: DossierErrorCode,
    message: string,
    /** The field that was changed, such as `payout.amount` or `events.2`; null: none can be named. */
    readonly field: string | null = null,
  ) {
    super(message);
  }
}

export interface VerifiedDossier {
  payout: string;
  createdAt: string;
  keyId: string;
}

interface Signature {
  algorithm: string;
  key_id: string;
  digests: Record<string, string>;
  value: string;
}

type Json = Record<string, unknown>;

/**
 * @param text the file as it was downloaded, or the answer of the API; spaces between members do not count
 * @param publicKeys of the gateway, in base64, as `GET /api/v1/signing_keys` shows them
 * @throws DossierError whose `code` is the reason
 */
export function verifyDossier(text: string, publicKeys: readonly string[]): VerifiedDossier {
  const { signature, ...content } = readDossier(text);
  const signed = readSignature(signature);
  const { value, ...head } = signed;
  const key = publicKeys.find((one) => keyIdOf(one) === signed.key_id);
  if (key === undefined) {
    const message = `The dossier is signed with the key ${signed.key_id}, which is none of the given ones.`;
    throw new DossierError('unknown_key', message, 'signature.key_id');
  }
  if (!isSigned(signedText(content, head), value, key)) throw whyNotSigned(content, signed);
  checkAudit(content['audit']);
  return {
    payout: String(content['id']),
    createdAt: String(content['created_at']),
    keyId: signed.key_id,
  };
}

/** RFC 8785. @param value as JSON.parse returns it */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${canonicalJson(one)}`).join(',')}}`;
}

/**
 * A digest for each field: of the members of an object and the elements of a list, one level down. They only
 * tell which field was changed; the signature is about the content itself.
 */
export function digestsOf(content: Json): Record<string, string> {
  const digests: Record<string, string> = {};
  for (const [name, value] of Object.entries(content)) {
    if (typeof value !== 'object' || value === null) digests[name] = sha256(canonicalJson(value));
    else {
      digests[name] = sha256(Array.isArray(value) ? `list of ${value.length}` : 'object');
      for (const [part, one] of Object.entries(value)) {
        digests[`${name}.${part}`] = sha256(canonicalJson(one));
      }
    }
  }
  return digests;
}

/** What the signature is about: all of the dossier but the signature's value. */
export function signedText(content: Json, head: Omit<Signature, 'value'>): string {
  return canonicalJson({ ...content, signature: head });
}

function readDossier(text: string): Json {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new DossierError('malformed', `The file is not JSON: ${(error as Error).message}.`);
  }
  // Of two members with one name a program takes the last, and a reader perhaps the first.
  if (namesIn(text) !== namesOf(parsed)) {
    throw new DossierError('malformed', 'A member occurs twice in the file.');
  }
  const other = numbersIn(text).find((one) => !/^(0|[1-9]\d{0,14})$/.test(one));
  if (other !== undefined) {
    throw new DossierError('malformed', `The number ${other} cannot be in a dossier.`);
  }
  const data = unwrap(parsed);
  if (!isObject(data) || data['object'] !== 'payout_dossier') {
    throw new DossierError('malformed', 'The file is not the dossier of a payout.', 'object');
  }
  const dotted = namesToSecondLevel(data).find((name) => name.includes('.'));
  if (dotted === undefined) return data;
  throw new DossierError('malformed', `The name of the member ${dotted} has a dot.`, dotted);
}

/** The answer of the API has the dossier as its only member. Another member would not be signed. */
function unwrap(parsed: unknown): unknown {
  if (!isObject(parsed) || !isObject(parsed['data'])) return parsed;
  const other = Object.keys(parsed).find((name) => name !== 'data');
  if (other === undefined) return parsed['data'];
  throw new DossierError('malformed', `The member ${other} is not part of the dossier.`, other);
}

/** A digest is named by these with a dot between, so that a dot within one would name two fields. */
function namesToSecondLevel(data: Json): string[] {
  const inner = Object.values(data).flatMap((value) => (isObject(value) ? Object.keys(value) : []));
  return [...Object.keys(data), ...inner].filter((name) => name !== '');
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * As they are written. A reader that rounds, or that takes a number which is too large for infinity, would
 * see the signed one. A dossier only has counts; amounts are text.
 */
function numbersIn(text: string): string[] {
  return text.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/[-\d][-+.\deE]*/g) ?? [];
}

/** The strings that a colon follows. */
function namesIn(text: string): number {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"\s*(:?)/g)].filter(([, colon]) => colon === ':')
    .length;
}

function namesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value).reduce<number>((sum, one) => sum + namesOf(one), 0);
  return inside + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

function readSignature(signature: unknown): Signature {
  if (signature === null || signature === undefined) {
    throw new DossierError('not_signed', 'The dossier has no signature.', 'signature');
  }
  const { algorithm, key_id, digests, value } = signature as Partial<Signature>;
  const isText = [algorithm, key_id, value].every((one) => typeof one === 'string');
  if (algorithm === 'Ed25519' && isText && isObject(digests)) return signature as Signature;
  throw new DossierError('malformed', 'The signature is not of a known form.', 'signature');
}

function whyNotSigned(content: Json, { digests }: Signature): DossierError {
  const changed = changedField(content, digests);
  if (changed !== null) {
    const message = `${changed} was changed after the dossier was signed.`;
    return new DossierError('changed', message, changed);
  }
  const message =
    'The signature is not that of the key: the signature or its digests were changed.';
  return new DossierError('wrong_signature', message, 'signature');
}

function changedField(content: Json, digests: Record<string, string>): string | null {
  const now = digestsOf(content);
  const names = [...new Set([...Object.keys(now), ...Object.keys(digests)])];
  // The inner field says more than the list or object around it.
  const changed = names.filter((name) => now[name] !== digests[name]);
  return changed.find((name) => name.includes('.')) ?? changed[0] ?? null;
}

interface AuditEntry {
  hash: string | null;
  previous_hash: string | null;
  sealed: string | null;
  salt: string | null;
  personal: string | null;
}

/** The gateway signed these as well; they show that its log has the entries at these places. */
function checkAudit(audit: unknown): void {
  for (const [index, entry] of ((audit ?? []) as AuditEntry[]).entries()) {
    if (entry.sealed === null) continue;
    const previous = Buffer.from(entry.previous_hash ?? '', 'hex');
    const isPlaced = sha256(Buffer.concat([previous, Buffer.from(entry.sealed)])) === entry.hash;
    const { personal_sha256 } = JSON.parse(entry.sealed) as { personal_sha256: string };
    const isOwn =
      entry.personal === null ||
      sha256(Buffer.concat([Buffer.from(entry.salt ?? '', 'hex'), Buffer.from(entry.personal)])) ===
        personal_sha256;
    if (isPlaced && isOwn) continue;
    const field = `audit.${index}`;
    throw new DossierError('wrong_audit_entry', `${field} is not what the chain has.`, field);
  }
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function keyIdOf(publicKey: string): string {
  return createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('hex').slice(0, 32);
}

const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex');

function isSigned(text: string, value: string, publicKey: string): boolean {
  const der = Buffer.concat([SPKI_HEADER, Buffer.from(publicKey, 'base64')]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  const signature = Buffer.from(value, 'base64');
  return signature.toString('base64') === value && verify(null, Buffer.from(text), key, signature);
}
