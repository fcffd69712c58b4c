/** Opens the signer that a network's configuration names. */
import type { SignerSettings } from '../networks';
import type { Signer } from './port';
import { connectRemoteSigner } from './remote';
import { startKeystoreThread } from './threaded-keystore';

/** Of one signature by a signing service; signing again is always safe. */
const SIGNING_TIMEOUT_MS = 10_000;

export type OpenSigner = Signer & { close?(): Promise<void> };

/** @throws SetupError for a keystore that cannot be opened; a service is asked when it must sign */
export async function openSigner(settings: SignerSettings): Promise<OpenSigner> {
  switch (settings.kind) {
    case 'keystore':
      return startKeystoreThread({ keystore: settings.file, password: settings.passwordFile });
    case 'remote':
      return connectRemoteSigner({ ...settings, timeoutMs: SIGNING_TIMEOUT_MS });
  }
}
