/** The environment variables that the programs look up, including those whose names they compose. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readApiConfig } from '../../src/config';
import { readLogLevel } from '../../src/lib/logger';
import { readTemporal } from '../../src/temporal/connection';
import { readWalletConfig } from '../../src/wallet/config';

/** @param read of `api`, which reads all that a worker reads, or of `worker` */
export function variablesOfGateway(
  read: (env: NodeJS.ProcessEnv) => unknown = readApiConfig,
): Set<string> {
  const names = new Set<string>();
  // A provider's other variables are read only if its URL is set.
  const env = recorder(names, (name) =>
    name.endsWith('_URL') ? 'https://example.com' : undefined,
  );
  expect(() => read(env)).toThrow('The environment is invalid');
  return names;
}

export function variablesOfWallet(): Set<string> {
  const names = new Set<string>();
  withNetworksFile((path) => {
    const values: Record<string, string> = {
      ...{ GATEWAY_ENV: 'development', WALLET_NETWORKS_FILE: path, WALLET_PORT: '1' },
    };
    const env = recorder(
      names,
      (name) =>
        values[name] ?? (name.endsWith('_URL') ? 'https://example.com' : `value of ${name}`),
    );
    expect(readWalletConfig(env, () => {})).toBeDefined();
  });
  // The program reads these beside the configuration.
  readTemporal(
    recorder(names, (name) => (name === 'TEMPORAL_ADDRESS' ? 'temporal:7233' : undefined)),
  );
  readLogLevel(recorder(names, () => undefined));
  return names.add('METRICS_PORT').add('METRICS_HOST');
}

/** @param use gets the path of a file with one network */
export function withNetworksFile<Result>(use: (path: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'networks-'));
  const path = join(folder, 'networks.json');
  writeFileSync(path, ONE_NETWORK);
  try {
    return use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const ONE_NETWORK = JSON.stringify({
  networks: [
    {
      mode: 'test',
      name: 'chain',
      chain_id: 31337,
      rpc_urls: ['http://127.0.0.1:8545'],
      finality: 1,
      native: { asset: 'ETH' },
      tokens: [],
    },
  ],
});

function recorder(names: Set<string>, valueOf: (name: string) => string | undefined) {
  return new Proxy<NodeJS.ProcessEnv>(
    {},
    {
      get: (_target, name) => {
        names.add(String(name));
        return valueOf(String(name));
      },
    },
  );
}
