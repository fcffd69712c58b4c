/**
 * Builds and starts the sandbox: two payment providers and a screening service, which the gateway
 * treats as third parties, for development and tests. Started by src/bin/sandbox.ts as a process, and by tests in theirs.
 */
import type { Middleware } from 'koa';
import { isFromOtherSite, isOwnHost } from '../../platform/lib/own-host';
import { onchainApi } from '../onchain-api/api';
import { listen } from '../onchain-api/listen';
import { Book } from './book';
import { CallbackDelivery } from './callback-delivery';
import { CheckoutCallbacks } from './checkouts/callbacks';
import { Checkouts } from './checkouts/checkouts';
import { checkoutPages } from './checkouts/pages';
import { SANDBOX_DEFAULTS, type SandboxConfig, type SandboxSettings } from './config';
import { controlApi } from './control-api';
import { exchangePayApi } from './exchange-pay/api';
import { inbox } from './inbox';
import { createOnchainProvider } from './onchain/provider';
import { Outages } from './outages';
import { screeningApi } from './screening/api';
import { TransferCallbacks } from './transfers/callbacks';
import { Transfers } from './transfers/transfers';

export interface Sandbox {
  /** `http://127.0.0.1:3001`; the providers are at `onchainUrl` and `exchangePayUrl`. */
  url: string;
  onchainUrl: string;
  exchangePayUrl: string;
  screeningUrl: string;
  port: number;
  /** Where callbacks go from now on: a test's gateway often starts after its sandbox. */
  setCallbackBaseUrl(url: string | null): void;
  stop(): Promise<void>;
}

export type SandboxOptions = Partial<SandboxConfig> & Pick<SandboxConfig, 'credentials'>;

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const config: SandboxConfig = { ...SANDBOX_DEFAULTS, ...options };
  const settings: SandboxSettings = { ...config };
  const book = await Book.open(config.dataDir);
  const delivery = new CallbackDelivery(config.credentials, settings, config.log);
  const transferCallbacks = new TransferCallbacks(book, delivery);
  const transfers = new Transfers(book, transferCallbacks, settings);
  const checkoutCallbacks = new CheckoutCallbacks(book, delivery, settings);
  const checkouts = new Checkouts(book, checkoutCallbacks, settings);
  const outages = new Outages();

  const { credentials } = config;
  const onError = (error: Error): void => {
    config.log('request failed', { error: error.message });
  };
  const server = await listen({ host: config.host, port: config.port, onError }, [
    refuseOtherSites(settings),
    onchainApi({
      prefix: '/onchain/v1',
      credentials: credentials.onchain_provider,
      provider: createOnchainProvider({ transfers, checkouts, settings }),
      middleware: outages.middleware('onchain_provider'),
    }),
    exchangePayApi({ transfers, checkouts, credentials, outages, settings }),
    controlApi({
      book,
      transfers,
      transferCallbacks,
      checkouts,
      checkoutCallbacks,
      outages,
      settings,
    }),
    screeningApi(config.screeningKey),
    checkoutPages(checkouts, settings),
    inbox(config.webhookSecret),
  ]);
  const { url, port } = server;
  settings.publicUrl ??= url;
  transfers.resume();
  checkouts.resume();

  return {
    url,
    onchainUrl: `${url}/onchain`,
    exchangePayUrl: `${url}/exchange-pay`,
    screeningUrl: `${url}/sandbox/screening`,
    port,
    setCallbackBaseUrl: (callbackBaseUrl) => {
      settings.callbackBaseUrl = callbackBaseUrl;
    },
    stop: async () => {
      transfers.stop();
      checkouts.stop();
      delivery.stop();
      // Some connections hang on purpose.
      await server.stop('cut');
      await book.close();
    },
  };
}

const READING = ['GET', 'HEAD'];

/** Nothing here asks for a login, so a website must neither read nor change anything. */
function refuseOtherSites(settings: SandboxSettings): Middleware {
  return async (ctx, next) => {
    if (
      !isOwnHost(ctx.headers.host, settings.publicUrl) &&
      !settings.hosts.includes(ctx.hostname)
    ) {
      ctx.throw(421, 'Use the host name localhost, or set SANDBOX_PUBLIC_URL or SANDBOX_HOSTS.');
    }
    if (!READING.includes(ctx.method) && isFromOtherSite(ctx.headers, settings.publicUrl)) {
      ctx.throw(403, 'Requests from other sites are not accepted.');
    }
    await next();
  };
}
