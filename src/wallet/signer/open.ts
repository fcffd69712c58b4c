/** Opens the signer that a network's configuration names. */
import type { SignerSettings } from '../networks';
import { openKeystore } from './keystore';
import type { Signer } from './port';
import { connectRemoteSigner } from './remote';

/** Of one signature by a signing service; signing again is always safe. */
const SIGNING_TIMEOUT_MS = 10_000;

export type OpenSigner = Signer & { close?(): Promise<void> };

/** @throws SetupError for a keystore that cannot be opened; a service is asked when it must sign */
export function openSigner(settings: SignerSettings): OpenSigner {
  switch (settings.kind) {
    case 'keystore':
      return openKeystore({ keystore: settings.file, password: settings.passwordFile });
    case 'remote':
      return connectRemoteSigner({ ...settings, timeoutMs: SIGNING_TIMEOUT_MS });
  }
}
