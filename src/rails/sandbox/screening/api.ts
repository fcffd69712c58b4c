/** A simulated screening service (docs/screening.md): one question with a bearer key, one answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import Router from '@koa/router';
import type { Context } from 'koa';
import { isSameSecret } from '../../../platform/lib/same-secret';
import { hang } from '../outages';
import { parseBody, readBody, readText } from '../request';
import { type ScreeningScenario, screeningScenario } from './scenarios';

const SLOW_MS = 1_500;
/** How many questions about one reference fail in `limited` and `error_5xx`. */
const FAILURES = 2;
const REFERENCES_MAX = 10_000;

const REASONS: Partial<Record<ScreeningScenario, string[]>> = {
  review: ['Received 12 % of its funds from a mixer.', 'First seen 3 days ago.'],
  block: ['Belongs to a sanctioned entity.'],
};

/** @param apiKey null if the service answers nobody */
export function screeningApi(apiKey: string | null): Router {
  const router = new Router({ prefix: '/sandbox/screening' });
  const failures = new Map<string, number>();
  router.use(parseBody());
  router.post('/', async (ctx: Context) => {
    const isCaller = apiKey !== null && isSameSecret(ctx.get('authorization'), `Bearer ${apiKey}`);
    if (!isCaller) ctx.throw(401, 'The API key is not valid.');
    const body = readBody(ctx);
    const reference = readText(body, 'reference');
    const destination = body.destination;
    const address =
      typeof destination === 'object' && destination !== null
        ? readText(destination as Record<string, unknown>, 'value')
        : null;
    if (reference === null || address === null) {
      ctx.throw(400, 'reference and destination.value are required.');
    }
    const scenario = screeningScenario(address);
    if (scenario === 'limited' || scenario === 'error_5xx') {
      const failed = failures.get(reference) ?? 0;
      if (failed < FAILURES) {
        if (failures.size >= REFERENCES_MAX) failures.clear();
        failures.set(reference, failed + 1);
        fail(ctx, scenario);
        return;
      }
    }
    if (scenario === 'slow') await sleep(SLOW_MS);
    answer(ctx, { reference, address, scenario });
  });
  return router;
}

function fail(ctx: Context, scenario: 'limited' | 'error_5xx'): void {
  ctx.status = scenario === 'limited' ? 429 : 500;
  if (scenario === 'limited') ctx.set('Retry-After', '1');
  ctx.body = { error: scenario };
}

interface Question {
  reference: string;
  address: string;
  scenario: ScreeningScenario | null;
}

function answer(ctx: Context, { reference, address, scenario }: Question): void {
  if (scenario === 'hangs') {
    hang(ctx);
    return;
  }
  if (scenario === 'nonsense') {
    ctx.type = 'html';
    ctx.body = '<html><body>Welcome</body></html>';
    return;
  }
  ctx.body = {
    id: `scr_${reference}`,
    reference,
    destination: address,
    verdict: verdictOf(scenario),
    reasons: scenario === null ? [] : (REASONS[scenario] ?? []),
  };
}

function verdictOf(scenario: ScreeningScenario | null): string {
  if (scenario === 'review' || scenario === 'block') return scenario;
  return scenario === 'unknown_verdict' ? 'probably_fine' : 'clear';
}
