/** Opens the signer that a network's configuration names. */
import type { SignerSettings, SignerTls } from '../networks';
import { readSecretFile } from './keystore';
import type { Signer } from './port';
import { connectRemoteSigner, type RemoteSignerOptions } from './remote';
import { startKeystoreThread } from './threaded-keystore';

/** How long one signature by a signing service may take; signing again is always safe. */
const SIGNING_TIMEOUT_MS = 10_000;

export type OpenSigner = Signer & { close?(): Promise<void> };

/** @throws SetupError for a file that cannot be opened; a service is asked when it must sign */
export async function openSigner(settings: SignerSettings): Promise<OpenSigner> {
  switch (settings.kind) {
    case 'keystore':
      return startKeystoreThread({ keystore: settings.file, password: settings.passwordFile });
    case 'remote':
      return connectRemoteSigner({
        url: settings.url,
        address: settings.address,
        timeoutMs: SIGNING_TIMEOUT_MS,
        tls: readTls(settings.tls),
      });
  }
}

function readTls({
  caFile,
  certificateFile,
  keyFile,
}: SignerTls): NonNullable<RemoteSignerOptions['tls']> {
  return {
    ...(caFile === null ? {} : { ca: readSecretFile(caFile) }),
    ...(certificateFile === null ? {} : { cert: readSecretFile(certificateFile) }),
    ...(keyFile === null ? {} : { key: readSecretFile(keyFile) }),
  };
}
