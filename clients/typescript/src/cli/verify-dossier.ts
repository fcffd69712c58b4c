/** `payments-gateway verify-dossier`, which needs no connection. */
import { readFileSync } from 'node:fs';
import { DossierError, verifyDossier, type VerifiedDossier } from '../dossier';
import type { Command } from './command';
import { CommandError, EXIT, UsageError } from './failure';
import { printOne } from './output';

const KEY_BYTES = 32;

export const VERIFY_DOSSIER: Command = {
  name: 'verify-dossier',
  argument: '<file>',
  summary: 'Checks the dossier of a payout, without a connection',
  options: {
    'public-key': {
      value: '<key>',
      help: 'a public key of the gateway in base64; repeat it for several',
      many: true,
    },
  },
  more: 'GET /api/v1/signing_keys of the gateway shows the public keys. Keep them with the dossiers.',
  examples: [
    'verify-dossier po_01M7YESA634WQFACSBWYSTKM76.json --public-key "$GATEWAY_PUBLIC_KEY"',
  ],
  run: ({ values, argument, asJson }) => {
    const keys = values.texts('public-key');
    if (keys.length === 0) throw new UsageError('The option --public-key <key> is required.');
    if (keys.some((key) => Buffer.from(key, 'base64').length !== KEY_BYTES)) {
      throw new UsageError('--public-key must be a public key of 32 bytes in base64.');
    }
    const { payout, createdAt, keyId } = check(read(argument), keys);
    const checked = { payout, created_at: createdAt, key_id: keyId, result: 'as signed' };
    printOne(checked, asJson);
  },
};

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`The file ${path} cannot be read: ${(error as Error).message}.`);
  }
}

function check(text: string, keys: readonly string[]): VerifiedDossier {
  try {
    return verifyDossier(text, keys);
  } catch (error) {
    if (!(error instanceof DossierError)) throw error;
    throw new CommandError(error.message, EXIT.refused, 'Do not rely on this file.');
  }
}
