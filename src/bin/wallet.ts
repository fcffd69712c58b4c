/**
 * The wallet: moves coins on EVM chains for the gateway, which calls it as its on-chain provider. It
 * holds keys, so it runs apart from the gateway, with a database login of its own.
 */
import { createLogger } from '../platform/lib/logger';
import { createRegistry, scrape } from '../platform/lib/metrics';
import { startMetricsServer } from '../platform/lib/metrics-server';
import { readSetting } from '../platform/settings/read-settings';
import { runProcess } from '../platform/lib/run-process';
import { chooseSdkExporter } from '../platform/lib/temporal-sdk-metrics';
import { createTemporalClient } from '../temporal/client';
import { readTemporal } from '../temporal/connection';
import { openNativeConnection } from '../temporal/probe';
import { installTemporalRuntime } from '../temporal/worker';
import { type Log, readWalletConfig } from '../rails/wallet/config';
import { startDurable } from '../rails/wallet/durable/workers';
import { openSigner } from '../rails/wallet/signer/open';
import { startWallet } from '../rails/wallet/wallet';

const HELP = `Usage: wallet [--help]

Sends payouts and receives payments on EVM chains. Serves the API of an on-chain provider at /v1, the
payment pages at /checkout and /healthz (docs/onchain-provider.md). docs/wallet.md describes networks, keys and operation.

Environment (each secret may also be read from a file: WALLET_DATABASE_URL_FILE=/path):
  WALLET_DATABASE_URL         PostgreSQL login of the wallet, a member of the role wallet_app
  WALLET_DATABASE_OWNER_URL   login that owns the schema; with it, the start runs the migrations
  WALLET_NETWORKS_FILE        JSON file with the networks, their RPC URLs, tokens and signers
  WALLET_HOST                 address to listen on (127.0.0.1)
  WALLET_PORT                 port to listen on, 0 for any (3002)
  WALLET_PUBLIC_URL           where browsers open the payment pages (the listening address)
  WALLET_TEST_XPUB, WALLET_LIVE_XPUB   extended public keys of the deposit addresses; none: no deposits
  WALLET_SCREENING_URL, WALLET_SCREENING_TOKEN   a service that clears or holds each deposit (none)
  WALLET_CALLBACK_BASE_URL    the gateway; callbacks go to <it>/provider-callbacks/onchain_provider/<mode>
  ONCHAIN_TEST_API_KEY, ONCHAIN_TEST_CALLBACK_SECRET   as in the gateway; and the same with LIVE
  METRICS_PORT                private port for /metrics, 0 for any (not served)
  METRICS_HOST                address of that port (127.0.0.1)
  LOG_LEVEL                   trace, debug, info, warn, error or silent (info)
  TEMPORAL_ADDRESS            host:port of the Temporal frontend: its workflows drive sweeps
  TEMPORAL_NAMESPACE          default
  TEMPORAL_PROFILE, TEMPORAL_TLS_…, TEMPORAL_API_KEY   as in the gateway (docs/operations.md, "Connecting to Temporal")
  WALLET_WORKFLOW_BUNDLE      the bundle of \`npm run build\`; none: the workflows are bundled at the start
  GATEWAY_ENV                 development allows a network with one RPC URL
`;

runProcess(HELP, async (env) => {
  const logger = createLogger('wallet', readSetting('LOG_LEVEL', env));
  const log: Log = (level, message, fields) => {
    logger[level](fields ?? {}, message);
  };
  const config = readWalletConfig(env, log);
  const exporter = config.metrics.port === null ? null : await chooseSdkExporter();
  installTemporalRuntime(logger, exporter);
  const registry = createRegistry('wallet');
  const temporal = readTemporal(env);
  const client = createTemporalClient(temporal);
  const temporalParts = {
    ...{ namespace: temporal.namespace, workflowBundle: config.workflowBundle },
    connect: () => openNativeConnection(temporal),
  };
  const wallet = await startWallet(config, {
    openSigner,
    registry,
    sweep: (parts) => startDurable({ ...temporalParts, client }, parts),
  });
  log('info', 'wallet listening', { url: wallet.url });
  const metrics = await startMetricsServer(config.metrics, () =>
    scrape(registry, exporter?.url ?? null),
  );
  if (metrics !== null) log('info', 'metrics listening', { port: metrics.port });
  return {
    stop: async () => {
      await metrics?.stop();
      await wallet.stop();
      await client.close();
    },
  };
});
