/**
 * What the wallet refuses at its start in production about the keys that it signs with: files that other
 * users can read, and a signing service that is asked without TLS.
 */
import { statSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import type { Network, SignerSettings } from '../networks';

/** One sentence for each fault, without a URL, which may hold a password. */
export function signerFaults(networks: readonly Network[]): string[] {
  const faults = networks.flatMap(({ name, mode, payouts }) =>
    (payouts?.signers ?? []).flatMap((signer) => faultsOf(signer, `${name} in ${mode} mode`)),
  );
  // Networks may share a keystore.
  return [...new Set(faults)];
}

function faultsOf(signer: SignerSettings, network: string): string[] {
  if (signer.kind === 'keystore') return [signer.file, signer.passwordFile].flatMap(fileFaults);
  const { keyFile } = signer.tls;
  const own = keyFile === null ? [] : fileFaults(keyFile);
  if (!signer.url.startsWith('http://') || isThisMachine(new URL(signer.url).hostname)) return own;
  return [
    `The signer of ${network} has a url with http://. Who reads or answers in its place decides what is signed: use https://, or a service on this machine, such as http://127.0.0.1:9000.`,
    ...own,
  ];
}

function fileFaults(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  // The code that opens the file reports that it is missing.
  if (stats === undefined || !isExposed(stats)) return [];
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  return [
    `${path} has the mode ${mode}: other users can read or change it. Give it to the user that runs the wallet, and run chmod 600 ${path}.`,
  ];
}

/**
 * The rule of PostgreSQL and libpq for private keys: its owner alone, or, where root owns it, a group may read
 * it, as in the Secrets that Kubernetes mounts.
 */
export function isExposed({ uid, mode }: { uid: number; mode: number }): boolean {
  return (mode & (uid === 0 ? 0o037 : 0o077)) !== 0;
}

function isThisMachine(hostname: string): boolean {
  const isLoopback = isIPv4(hostname) ? hostname.startsWith('127.') : hostname === '[::1]';
  return isLoopback || hostname === 'localhost';
}
