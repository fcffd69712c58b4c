/**
 * Certificates made at run time, for receivers that speak TLS: an authority of the test's own, and
 * whatever it signs. X.509 by hand, since Node can read certificates and not make them, and the
 * openssl command is not on every machine.
 */
import {
  createPrivateKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  type KeyObject,
} from 'node:crypto';
import { isIP } from 'node:net';
import { addressBytes } from '../../../src/platform/lib/cidr';

export interface Certificate {
  /** PEM. */
  key: string;
  /** PEM. */
  cert: string;
}

export interface CertificateWishes {
  /** Host names and addresses; the first is also the common name. */
  hosts: readonly string[];
  validFrom?: Date;
  validTo?: Date;
}

export interface CertificateAuthority extends Certificate {
  issue: (wishes: CertificateWishes) => Certificate;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const ECDSA_WITH_SHA256 = sequence(oid('06082a8648ce3d040302'));
const COMMON_NAME = oid('0603550403');
const BASIC_CONSTRAINTS = oid('0603551d13');
const SUBJECT_ALT_NAME = oid('0603551d11');

export function createAuthority(name = 'A throw-away authority'): CertificateAuthority {
  const own = makeCertificate({ name, extensions: [caExtension()] });
  return {
    ...own,
    issue: ({ hosts, ...validity }) =>
      makeCertificate({
        name: hosts[0]!,
        extensions: [altNames(hosts)],
        issuer: { name, key: own.key },
        ...validity,
      }),
  };
}

function makeCertificate(wishes: {
  name: string;
  extensions: Buffer[];
  /** Without it, the certificate signs itself. */
  issuer?: { name: string; key: string };
  validFrom?: Date;
  validTo?: Date;
}): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { validFrom = daysFromNow(-1), validTo = daysFromNow(1), issuer } = wishes;
  const signer: KeyObject = issuer === undefined ? privateKey : createPrivateKey(issuer.key);
  const content = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    // A zero in front, so that the number is not negative; a one, so that the zero is needed.
    integer(Buffer.concat([Buffer.from([0, 0x80]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    distinguishedName(issuer?.name ?? wishes.name),
    sequence(utcTime(validFrom), utcTime(validTo)),
    distinguishedName(wishes.name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...wishes.extensions)),
  );
  const signature = sign('sha256', content, signer);
  const bits = tagged(0x03, Buffer.from([0]), signature);
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem(sequence(content, ECDSA_WITH_SHA256, bits)),
  };
}

function caExtension(): Buffer {
  const isTrue = tagged(0x01, Buffer.from([0xff]));
  return sequence(BASIC_CONSTRAINTS, isTrue, tagged(0x04, sequence(isTrue)));
}

function altNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    isIP(host) === 0
      ? tagged(0x82, Buffer.from(host, 'latin1'))
      : tagged(0x87, Buffer.from(addressBytes(host)!)),
  );
  return sequence(SUBJECT_ALT_NAME, tagged(0x04, sequence(...names)));
}

function distinguishedName(name: string): Buffer {
  return sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from(name)))));
}

function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/\.\d+|\D/g, '');
  return tagged(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}

function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * DAY_MS);
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function oid(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

/** DER: a tag, the length, the content. */
function tagged(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const head = length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
