/** The first steps of a new merchant, each with its state, until all are done or somebody hides them. */
import type { DashboardServices } from './services';
import { listOwnKeys } from '../../features/api-keys/api-keys';
import { listOwnEndpoints } from '../../features/webhooks/webhook-endpoints';
import { Card, Status } from '../../kit/pages/components';
import { Action } from '../../kit/pages/forms';
import { redirect } from '../../kit/pages/site';
import { type MerchantRoute, type MerchantVisit, post } from '../../kit/pages/merchant-page';

/** The cookie in which the browser remembers that the steps are hidden. */
const COOKIE = 'gateway_first_steps';
const HIDDEN_FOR_S = 365 * 24 * 60 * 60;

interface Step {
  isDone: boolean;
  label: string;
  href: string;
  button: string;
}

export const firstStepPages: MerchantRoute[] = [
  post('/first-steps/hide', 'read', (visit) => {
    const value = hiddenOf(visit);
    const hidden = { name: COOKIE, value, maxAgeSeconds: HIDDEN_FOR_S, path: visit.base };
    return redirect(visit.base, [hidden]);
  }),
];

function hiddenOf({ accountId, mode }: MerchantVisit): string {
  return `${accountId}.${mode}`;
}

/** @returns null when they are done, hidden, or not for this person */
export async function readFirstSteps(
  services: DashboardServices,
  visit: MerchantVisit,
): Promise<Step[] | null> {
  const { base, mode } = visit;
  const isHidden = visit.cookies.get(COOKIE) === hiddenOf(visit);
  if (isHidden || !visit.may(mode === 'live' ? 'manage' : 'integrate')) return null;
  const one = { limit: 1, after: null, filters: {} };
  const [keys, payments, endpoints] = await Promise.all([
    listOwnKeys(services.db, visit),
    services.payments(visit, one),
    listOwnEndpoints(services.db, visit),
  ]);
  const steps = [
    {
      isDone: keys.length > 0,
      label: 'Create an API key',
      href: `${base}/keys/new`,
      button: 'Create key',
    },
    {
      isDone: keys.some(({ lastUsedAt }) => lastUsedAt !== null),
      label: 'Call the API with it, as the documentation shows',
      href: '/docs',
      button: 'Open the documentation',
    },
    {
      isDone: payments.items.length > 0,
      label: 'Create the first payment, by API or as a link',
      href: `${base}/payment-links/new`,
      button: 'New payment link',
    },
    {
      isDone: endpoints.length > 0,
      label: 'Add a webhook endpoint that receives events',
      href: `${base}/webhooks/new`,
      button: 'Add endpoint',
    },
  ];
  return steps.every(({ isDone }) => isDone) ? null : steps;
}

export function FirstSteps({ steps, base }: { steps: readonly Step[]; base: string }) {
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <Card
      title="First steps"
      lead={`${done} of ${steps.length} are done.`}
      action={<Action action={`${base}/first-steps/hide`} label="Hide" icon="x" />}
    >
      <ol class="attention">
        {steps.map(({ isDone, label, href, button }) => (
          <li>
            <span>
              <Status value={isDone ? 'done' : 'to_do'} /> {label}
            </span>
            {isDone ? null : (
              <a class="link" href={href}>
                {button}
              </a>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}
