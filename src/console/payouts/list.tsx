/** Payouts of all accounts in every status: the list, its search and its filters. */
import { ESCALATION_AFTER_MS } from '../../domain/provider-checks';
import { MODES } from '../../domain/mode';
import { type Payout, PAYOUT_STATUSES } from '../../domain/payout';
import {
  type ConsolePayout,
  PAYOUT_WAITS,
  type PayoutReviews,
} from '../../services/payout-reviews';
import { Card, Empty, PageHead, Status, Table, Time, words } from '../../web/components';
import {
  chosen,
  daysOf,
  Filters,
  isFiltered,
  ListPager,
  NoMatch,
  PER_PAGE,
  positionOf,
  textOf,
} from '../../web/lists';
import { page } from '../../web/site';
import { type OperatorRoute, PREFIX } from '../operator-page';
import { AmountLink, durationText, ReferenceOf, sinceText } from './parts';

const PATH = `${PREFIX}/payouts`;

export function payoutListPage(reviews: PayoutReviews): OperatorRoute {
  return {
    method: 'get',
    path: '/payouts',
    needs: 'read',
    run: async ({ query }) => {
      const filters = {
        mode: chosen(query, 'mode', MODES),
        status: chosen(query, 'status', PAYOUT_STATUSES),
        wait: chosen(query, 'wait', PAYOUT_WAITS),
        accountId: textOf(query, 'account'),
        currency: textOf(query, 'currency')?.toUpperCase(),
        search: textOf(query, 'search'),
        ...daysOf(query),
      };
      const list = { limit: PER_PAGE, after: positionOf(query), filters };
      const { items, next } = await reviews.list(list);
      return page('Payouts', <PayoutList rows={items} query={query} next={next} />, {
        nav: 'payouts',
      });
    },
  };
}

interface PayoutListProps {
  rows: readonly ConsolePayout[];
  query: URLSearchParams;
  next: Parameters<typeof ListPager>[0]['next'];
}

function PayoutList({ rows, query, next }: PayoutListProps) {
  return (
    <>
      <PageHead title="Payouts" lead="Of all accounts, newest first." />
      <Filters
        path={PATH}
        query={query}
        options={[
          ['mode', 'Mode', MODES],
          ['status', 'Status', PAYOUT_STATUSES],
          ['wait', 'Needs attention', PAYOUT_WAITS, 'Any'],
        ]}
        texts={[
          ['search', 'ID, reference, address or hash'],
          ['account', 'Account ID'],
          ['currency', 'Currency'],
        ]}
      />
      <Card flush>
        <Table
          caption="Payouts"
          rows={rows}
          empty={
            isFiltered(query) ? (
              <NoMatch path={PATH} what="payouts" />
            ) : (
              <Empty icon="arrow-up-right" title="No payouts yet">
                <p>A payout appears here when a merchant requests one.</p>
              </Empty>
            )
          }
          columns={COLUMNS}
        />
      </Card>
      <ListPager path={PATH} query={query} next={next} />
    </>
  );
}

const COLUMNS: Parameters<typeof Table<ConsolePayout>>[0]['columns'] = [
  {
    label: 'Amount',
    right: true,
    cell: ({ id, ...payout }) => <AmountLink href={`${PATH}/${id}`} {...payout} />,
  },
  {
    label: 'Status',
    cell: (payout) => {
      const waits = waitText(payout);
      return (
        <>
          <Status value={payout.status} />
          {waits === null ? null : <small>{waits}</small>}
        </>
      );
    },
  },
  {
    label: 'Reference',
    cell: (payout) => <ReferenceOf {...payout} />,
  },
  {
    label: 'Destination',
    wide: true,
    cell: ({ destinationValue, network, destinationType }) => (
      <>
        <code class="break">{destinationValue}</code>
        <small>{words(network ?? destinationType)}</small>
      </>
    ),
  },
  { label: 'Provider', wide: true, cell: ({ provider }) => words(provider) },
  {
    label: 'Age',
    wide: true,
    cell: ({ createdAt }) => (
      <>
        {sinceText(createdAt)}
        <small>
          <Time at={createdAt} />
        </small>
      </>
    ),
  },
];

/** That it is in doubt or stuck, for how long, and how far it has escalated; null: it is neither. */
export function waitText(payout: Payout): string | null {
  const { inDoubtSince, processingSince, attentionLevel, status } = payout;
  const isStuck = status === 'processing' && attentionLevel > 0;
  if (inDoubtSince === null && !isStuck) return null;
  const since = sinceText(inDoubtSince ?? processingSince ?? payout.updatedAt);
  const level = attentionLevel === 0 ? '' : `, ${levelText(attentionLevel)}`;
  return `${isStuck ? 'Stuck' : 'In doubt'} for ${since}${level}`;
}

export function levelText(level: number): string {
  return `attention level ${level} of ${ESCALATION_AFTER_MS.length}`;
}

/** How long a payout has waited at least when it reaches a level; level 0 is the beginning. */
export function levelAge(level: number): string {
  return durationText(ESCALATION_AFTER_MS[level - 1] ?? 0);
}
