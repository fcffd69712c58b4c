/** Deliveries of events: the list, one delivery, and a retry. Its attempts are in attempt.tsx. */
import type { DashboardServices } from '../../../shell/dashboard/services';
import { findOwnDelivery, readOwnDelivery, retryDelivery } from '../webhook-deliveries';
import {
  Alert,
  Card,
  Empty,
  Facts,
  Id,
  PageHead,
  Status,
  Table,
  Time,
  words,
} from '../../../kit/pages/components';
import { Action } from '../../../kit/pages/forms';
import { Follows, LiveStatus } from '../../../kit/pages/follow';
import { justNow, justNowAt } from '../../../kit/pages/just-now';
import { page, redirect } from '../../../kit/pages/site';
import { get, type MerchantRoute, post } from '../../../kit/pages/merchant-page';
import { type Attempt, AttemptCard } from './attempt';
import { wallClockMs } from '../../../platform/lib/wall-clock';

type Delivery = Awaited<ReturnType<typeof findOwnDelivery>>;

export function deliveryPages({ db, webhookTools }: DashboardServices): MerchantRoute[] {
  return [
    get('/webhooks/deliveries/:id', 'read', async (visit) => {
      const { id } = visit;
      const { delivery, attempts, body } = await readOwnDelivery(db, visit, id);
      const shown = (
        <DeliveryPage
          delivery={delivery}
          attempts={attempts}
          body={body}
          base={visit.base}
          mayRetry={visit.may('resend')}
          requestedAt={justNowAt(visit.query, 'requested')}
        />
      );
      return page(`Delivery of ${delivery.eventType}`, shown, { nav: 'webhooks' });
    }),
    post(
      '/webhooks/deliveries/:id/retry',
      { cost: 'delivery', ...retryDelivery.access },
      async (visit) => {
        const { id } = await findOwnDelivery(db, visit, visit.id);
        const at = wallClockMs();
        await retryDelivery.make(db, visit.by, { ...webhookTools, id }, {});
        return redirect(`${visit.base}/webhooks/deliveries/${id}?${justNow('requested', at)}`);
      },
    ),
  ];
}

export function DeliveryTable({ rows, base }: { rows: readonly Delivery[]; base: string }) {
  return (
    <Table
      caption="Deliveries"
      rows={rows}
      empty={
        <Empty icon="inbox" title="No deliveries">
          <p>They appear with the next status change. You can send a test event now.</p>
        </Empty>
      }
      columns={[
        {
          label: 'Event',
          cell: ({ id, eventType, objectId }) => (
            <>
              <a href={`${base}/webhooks/deliveries/${id}`}>{eventType}</a>
              <small>{objectId}</small>
            </>
          ),
        },
        {
          label: 'Status',
          cell: ({ status, lastError }) => (
            <>
              <Status value={status} />
              {lastError === null || status === 'succeeded' ? null : (
                <small>{errorText(lastError)}</small>
              )}
            </>
          ),
        },
        { label: 'Attempts', right: true, wide: true, cell: ({ attempts }) => attempts },
        {
          label: 'Next attempt',
          wide: true,
          cell: ({ nextAttemptAt }) =>
            nextAttemptAt === null ? '' : <Time at={nextAttemptAt} seconds />,
        },
        { label: 'Created', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
      ]}
    />
  );
}

/** An error code of an attempt: `http_4xx` is "4xx response". */
function errorText(code: string): string {
  const [, group] = /^http_(\dxx)$/.exec(code) ?? [];
  return group === undefined ? words(code) : `${group} response`;
}

interface DeliveryPageProps {
  delivery: Delivery;
  attempts: Attempt[];
  body: Buffer | null;
  base: string;
  mayRetry: boolean;
  /** When the person has just had it sent again. */
  requestedAt: Date | null;
}

function DeliveryPage(props: DeliveryPageProps) {
  const { delivery, attempts, body, base, mayRetry, requestedAt } = props;
  const isRequested =
    requestedAt !== null && attempts.every(({ startedAt }) => startedAt < requestedAt);
  const isOpen = isRequested || delivery.status === 'pending';
  const { id, endpointId, objectId, nextAttemptAt, finishedAt } = delivery;
  const list = objectId.startsWith('pay_') ? 'payments' : 'payouts';
  const isPing = objectId === delivery.eventId;
  return (
    <>
      <PageHead
        back={[
          { href: `${base}/webhooks`, label: 'Webhooks' },
          { href: `${base}/webhooks/${endpointId}`, label: 'Endpoint' },
        ]}
        here={delivery.eventType}
        title={
          <>
            {delivery.eventType} <LiveStatus value={delivery.status} isOpen={isOpen} />
          </>
        }
      >
        {mayRetry && delivery.bodyKept ? (
          <Action
            action={`${base}/webhooks/deliveries/${id}/retry`}
            label="Send again"
            icon="refresh-cw"
          />
        ) : null}
      </PageHead>
      <Follows id="delivery" isOpen={isOpen}>
        {isRequested ? (
          <Alert tone="wait" title="The event has not been sent again yet.">
            <p>This page updates automatically.</p>
          </Alert>
        ) : null}
        <Card title="Details">
          <Facts
            rows={[
              ['Delivery', <Id value={id} />],
              ['Event', <Id value={delivery.eventId} />],
              ['Object', isPing ? null : <a href={`${base}/${list}/${objectId}`}>{objectId}</a>],
              ['Attempts of the schedule', delivery.attempts],
              ['Next attempt', nextAttemptAt === null ? null : <Countdown at={nextAttemptAt} />],
              ['Last error', delivery.lastError === null ? null : errorText(delivery.lastError)],
              ['Created', <Time at={delivery.createdAt} seconds />],
              ['Finished', finishedAt === null ? null : <Time at={finishedAt} seconds />],
            ]}
          />
        </Card>
        {attempts.length === 0 ? (
          <Card>
            <Empty icon="clock" title="No attempt yet" />
          </Card>
        ) : (
          [...attempts].reverse().map((attempt) => <AttemptCard attempt={attempt} body={body} />)
        )}
      </Follows>
    </>
  );
}

/** The script counts down. */
function Countdown({ at }: { at: Date }) {
  const seconds = Math.max(0, Math.round((at.getTime() - wallClockMs()) / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return (
    <>
      <Time at={at} seconds />{' '}
      <span data-countdown={at.toISOString()}>
        in {hours} h {minutes} min {seconds % 60} s
      </span>
    </>
  );
}
