/**
 * The simulated payment providers as a process of their own. Development and tests only: never
 * beside a gateway that moves real money.
 */
import { pino } from 'pino';
import { runProcess } from '../platform/lib/run-process';
import { readSandboxConfig } from '../rails/sandbox/config';
import { startSandbox } from '../rails/sandbox/server';

const HELP = `Usage: sandbox [--help]

Simulates the two payment providers: /onchain, /exchange-pay, /checkout, /sandbox/book,
/sandbox/control, /healthz; a screening service: /sandbox/screening; and a merchant's webhook receiver: /inbox.
docs/sandbox.md describes the scenarios and how to call them.

Environment:
  SANDBOX_HOST                address to listen on (127.0.0.1)
  SANDBOX_PORT                port to listen on, 0 for any (3001)
  SANDBOX_DATA_DIR            where the book is stored; without it, in memory only
  SANDBOX_CALLBACK_BASE_URL   the gateway; callbacks go to <it>/provider-callbacks/<provider>/<mode>
  SANDBOX_PUBLIC_URL          where browsers open the checkout pages (the listening address)
  SANDBOX_HOSTS               other names that programs call it by, separated by commas
  SANDBOX_WEBHOOK_SECRET      of the endpoint that points at /inbox; without it, no verification
  SANDBOX_SETTLE_MS           time from acceptance to the outcome (300)
  SANDBOX_SLOW_MS             the same for slow transfers (5000)
  SANDBOX_ERROR_SUBMISSIONS   how many submissions scenario error_5xx answers with 500 (2)
  ONCHAIN_TEST_API_KEY, ONCHAIN_TEST_CALLBACK_SECRET            and the same with LIVE
  EXCHANGE_PAY_TEST_API_KEY, EXCHANGE_PAY_TEST_CALLBACK_SECRET  and the same with LIVE
  SCREENING_API_KEY           of the screening service; without it, it answers nobody
`;

const logger = pino({ name: 'sandbox' });

runProcess(HELP, async () => {
  const config = readSandboxConfig(process.env, (message, fields) => {
    logger.info(fields ?? {}, message);
  });
  const sandbox = await startSandbox(config);
  logger.info({ url: sandbox.url }, 'sandbox listening');
  return sandbox;
});
