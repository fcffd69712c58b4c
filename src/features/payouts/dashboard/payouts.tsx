/** Payouts: the list with its filters, and one payout. */
import type { ComponentChildren } from 'preact';
import type { Beneficiary } from '../../../domain/beneficiary';
import { isFinalPayout, type Payout, payoutStatusesBefore } from '../../../domain/payout';
import type {
  Creator,
  DashboardServices,
  PersonDecision,
  HistoryEvent,
  WithHistory,
} from '../../../shell/dashboard/services';
import { BeneficiaryFacts } from '../../../kit/pages/beneficiary';
import {
  Alert,
  Card,
  Empty,
  Facts,
  Id,
  Money,
  PageHead,
  ReviewReasons,
  Time,
  words,
  metadataRows,
} from '../../../kit/pages/components';
import { WaitsFor } from '../../../kit/pages/conditions';
import { Follows, FollowSwitch, LiveStatus } from '../../../kit/pages/follow';
import { Confirm } from '../../../kit/pages/forms';
import { jsonDownload, page, redirect } from '../../../kit/pages/site';
import { MAKE, mayMake, personOf } from '../../../kit/pages/creation';
import { Dossier } from '../../../kit/pages/evidence';
import { creatorRow, creatorText, LedgerLines, Timeline } from '../../../kit/pages/history';
import {
  controlsOf,
  CreateLink,
  filtersOf,
  ListPage,
  PER_PAGE,
  positionOf,
  ToExport,
} from '../../../kit/pages/lists';
import { ObjectTable, type ObjectRowsProps } from '../../../kit/pages/object-table';
import { get, type MerchantRoute, post } from '../../../kit/pages/merchant-page';
import { waitingPayout } from '../../approvals/second-person';
import { decisionRows, secondPersonOf } from '../../approvals/dashboard/waiting';
import { PAYOUT_FILTERS } from '../payouts-contract';
import { newPayoutPages } from './new-payout';

export function payoutPages(services: DashboardServices): MerchantRoute[] {
  const { payouts, payout, money } = services;
  return [
    ...newPayoutPages(services),
    get('/payouts', 'read', async (visit) => {
      const { query, base } = visit;
      const filters = filtersOf(PAYOUT_FILTERS, query);
      const list = { limit: PER_PAGE, after: positionOf(query), filters };
      const { items, next } = await payouts(visit, list);
      const path = `${base}/payouts`;
      return page(
        'Payouts',
        <ListPage
          title="Payouts"
          lead="Money that you send to wallets and exchange accounts."
          path={path}
          query={query}
          next={next}
          {...controlsOf(PAYOUT_FILTERS)}
          none={<NoPayouts />}
          table={(empty) => <PayoutTable rows={items} path={path} empty={empty} />}
        >
          <ToExport base={visit.base} kind="payouts" query={query} />
          {mayMake(visit) ? <CreateLink path={path} label="Request a payout" /> : null}
        </ListPage>,
        { nav: 'payouts' },
      );
    }),
    get('/payouts/:id', 'read', async (visit) => {
      const found = await payout(visit, visit.id);
      const secondPerson = await secondPersonOf(services, visit, waitingPayout(found.object));
      const body = (
        <Detail
          {...found}
          decisions={await services.decisions(visit, found.object.id)}
          base={visit.base}
          secondPerson={secondPerson}
          mayChange={mayMake(visit)}
          beneficiary={
            mayMake(visit) ? money.payoutBeneficiary(personOf(visit), found.object) : undefined
          }
        />
      );
      return page(`Payout ${found.object.reference}`, body, { nav: 'payouts' });
    }),
    get('/payouts/:id/dossier.json', { cost: 'export', needs: 'read' }, async (visit) => {
      const { id } = visit;
      const data = await money.payoutDossier(personOf(visit), id);
      return jsonDownload(`dossier-${id}.json`, { data });
    }),
    post('/payouts/:id/cancel', MAKE, async (visit) => {
      const { id } = visit;
      await money.cancelPayout(personOf(visit), id);
      return redirect(`${visit.base}/payouts/${id}`);
    }),
  ];
}

export function PayoutTable(props: ObjectRowsProps<Payout>) {
  return (
    <ObjectTable
      {...props}
      caption="Payouts"
      statusOf={({ status }) => status}
      referenceOf={({ reference }) => reference}
      columns={[
        {
          label: 'Destination',
          wide: true,
          cell: ({ network, destinationType, destinationValue }) => (
            <>
              <code>{ends(destinationValue)}</code>
              <small>{words(network ?? destinationType)}</small>
            </>
          ),
        },
      ]}
    />
  );
}

/** In lists only; the page of the payout shows all of it. */
function ends(value: string): string {
  return value.length <= 20 ? value : `${value.slice(0, 8)}…${value.slice(-8)}`;
}

function NoPayouts() {
  return (
    <Empty icon="arrow-up-right" title="No payouts yet">
      <p>Request one here, or with your API key. The amount and the fees are reserved at once.</p>
      <pre>{`curl "$API/payouts" -H "Authorization: Bearer sk_test_…" \\
  -H "Content-Type: application/json" -H "Idempotency-Key: invoice-1" \\
  -d '{"amount": "10", "currency": "USDT", "network": "tron", "reference": "invoice-1",
       "destination": {"type": "crypto_address", "value": "T…"}}'`}</pre>
    </Empty>
  );
}

interface DetailProps extends WithHistory<Payout> {
  decisions: readonly PersonDecision[];
  base: string;
  secondPerson: ComponentChildren;
  mayChange: boolean;
  beneficiary: Beneficiary | null | undefined;
}

function Detail({ object: payout, base, secondPerson, mayChange, ...rest }: DetailProps) {
  const { events, transactions, creator, decisions, beneficiary } = rest;
  const { currency } = payout;
  const money = (amount: string) => <Money amount={amount} currency={currency} />;
  const isOpen = !isFinalPayout(payout.status);
  return (
    <>
      <PageHead
        back={{ href: `${base}/payouts`, label: 'Payouts' }}
        here={payout.reference}
        title={
          <>
            <Money amount={payout.amount} currency={currency} />{' '}
            <LiveStatus value={payout.status} isOpen={isOpen} />
          </>
        }
        lead={
          <>
            {payout.reference} · <Time at={payout.createdAt} />
          </>
        }
      >
        {isOpen ? <FollowSwitch /> : null}
        <Follows id="actions" isOpen={isOpen}>
          {mayChange && payoutStatusesBefore('cancel').includes(payout.status) ? (
            <Confirm
              action={`${base}/payouts/${payout.id}/cancel`}
              label="Cancel payout"
              icon="x"
              effect="The payout is not sent, and the reserved funds are available again at once."
              confirm="Cancel this payout"
            />
          ) : null}
        </Follows>
      </PageHead>
      <Follows id="situation" isOpen={isOpen}>
        {secondPerson}
        <Situation payout={payout} />
        <WaitsFor payout={payout} conditions={payout.conditions ?? []} />
      </Follows>
      <Follows id="story" isOpen={isOpen}>
        <div class="split">
          <div>
            <Timeline
              events={payout.status === 'rejected' ? events.filter(isNoApproval) : events}
              deliveryPage={(id) => `${base}/webhooks/deliveries/${id}`}
              explain={(event) => reasonOf(payout, creator, event)}
            />
            <LedgerLines transactions={transactions} />
          </div>
          <div>
            <Card title="Amounts">
              <Facts
                rows={[
                  ['Amount', money(payout.amount)],
                  ['Service fee', money(payout.serviceFee)],
                  ['Network fee', money(payout.networkFee)],
                  ['Total debit', money(payout.totalDebit)],
                ]}
              />
            </Card>
            <Details {...{ payout, creator, decisions, base }} />
            {beneficiary === undefined ? null : <BeneficiaryCard beneficiary={beneficiary} />}
            <Dossier href={`${base}/payouts/${payout.id}/dossier.json`} />
          </div>
        </div>
      </Follows>
    </>
  );
}

/** Null if it was erased. */
function BeneficiaryCard({ beneficiary }: { beneficiary: Beneficiary | null }) {
  return (
    <Card title="Beneficiary">
      {beneficiary === null ? <p>It was erased.</p> : <BeneficiaryFacts {...beneficiary} />}
    </Card>
  );
}

interface DetailsProps {
  payout: Payout;
  creator: Creator;
  decisions: readonly PersonDecision[];
  base: string;
}

function Details({ payout, creator, decisions, base }: DetailsProps) {
  return (
    <Card title="Details">
      <Facts
        rows={[
          ['Payout', <Id value={payout.id} />],
          ['Reference', <Id value={payout.reference} />],
          [
            'Recipient',
            payout.recipientId === null ? null : (
              <a href={`${base}/recipients/${payout.recipientId}`}>{payout.recipientId}</a>
            ),
          ],
          [
            'Batch',
            payout.batchId === null ? null : (
              <a href={`${base}/batches/${payout.batchId}`}>{payout.batchId}</a>
            ),
          ],
          ['Destination', <Id value={payout.destinationValue} />],
          ['Memo', payout.destinationMemo],
          ['Network', payout.network === null ? null : words(payout.network)],
          ['Provider', words(payout.provider)],
          ['Transaction', payout.txHash === null ? null : <Id value={payout.txHash} />],
          ['Description', payout.description],
          creatorRow(creator, base),
          ...decisionRows(decisions),
          ['Created', <Time at={payout.createdAt} seconds />],
          ['Updated', <Time at={payout.updatedAt} seconds />],
          ...metadataRows(payout.metadata),
        ]}
      />
    </Card>
  );
}

/** A sentence about what the merchant should know now. */
function Situation({ payout }: { payout: Payout }) {
  if (payout.status === 'under_review') {
    return (
      <Alert tone="wait" title="Waiting for an operator">
        <ReviewReasons reasons={payout.reviewReasons} requester={payout.apiKeyId} />
      </Alert>
    );
  }
  if (payout.inDoubtSince !== null) {
    return (
      <Alert tone="wait" title="The provider has not confirmed the payout yet">
        <p>We keep checking. Do not send it again: the funds stay reserved.</p>
      </Alert>
    );
  }
  if (payout.releaseExpiredAt !== null) {
    return (
      <Alert tone="bad" title="Not released in time. The funds were returned.">
        <p>The payout could be released until {<Time at={payout.releaseExpiredAt} />}.</p>
      </Alert>
    );
  }
  const reason = payout.rejectionReason ?? payout.failureReason;
  if (reason === null) return null;
  return (
    <Alert tone="bad" title={`${words(payout.status)}. The funds were returned.`}>
      <p>{reason}</p>
    </Alert>
  );
}

/**
 * The approval of a rejected payout is left out: taken back within a second, it would reveal a screening
 * (decisions/controls#screening), and what the merchant has to know is the rejection.
 */
function isNoApproval({ type, actor }: HistoryEvent): boolean {
  return type !== 'payout.approved' && (type !== 'payout.requested' || actor === null);
}

function reasonOf(payout: Payout, creator: Creator, { type, actor }: HistoryEvent): string | null {
  switch (type) {
    case 'payout.requested':
      return actor === null
        ? `Requested ${creatorText(creator)}`
        : 'Approved by an operator; it waits for its conditions';
    case 'payout.cancelled':
      return payout.releaseExpiredAt === null ? null : 'Not released in time';
    case 'payout.rejected':
      return payout.rejectionReason;
    case 'payout.failed':
      return payout.failureReason;
    case 'payout.approved':
      return actor === null ? 'Approved automatically' : 'Approved by an operator';
    case 'payout.processing':
      return `Submitted to ${words(payout.provider)}`;
    default:
      return null;
  }
}
