/** Payouts of all accounts in every status: the list, its search and its filters. */
import { MODES } from '../../../domain/mode';
import { type Payout, PAYOUT_STATUSES, payoutStatusGroup } from '../../../domain/payout';
import { ESCALATION_AFTER_MS } from '../../../domain/provider-checks';
import { PROVIDER_CODES } from '../../../domain/provider-codes';
import { wallClockMs } from '../../../platform/lib/wall-clock';
import { positiveAmount } from '../../../kit/service/checks';
import type { ConsoleServices } from '../../../shell/console/services';
import {
  type ConsolePayout,
  type ConsolePayoutFilters,
  PAYOUT_WAITS,
  type PayoutReviews,
} from '../payout-reviews';
import { listFilters, type SavedFilter } from '../saved-filters';
import { Card, Empty, PageHead, Status, Table, Time, words } from '../../../kit/pages/components';
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
} from '../../../kit/pages/lists';
import { Follows, FollowSwitch } from '../../../kit/pages/follow';
import { EMPTY_FORM, type FormState } from '../../../kit/pages/forms';
import { page } from '../../../kit/pages/site';
import {
  get,
  type OperatorRoute,
  type OperatorVisit,
  PREFIX,
} from '../../../kit/pages/operator-page';
import { AmountLink, ReferenceOf } from './parts';
import { durationText, sinceText } from '../../../kit/pages/since';
import { SavedFilters, savedFilterRoutes } from './saved-filters';

const PATH = `${PREFIX}/payouts`;

const HOUR_MS = 3_600_000;
/** "Older than", as the URL and the page name it. */
const AGES_MS = {
  '15_minutes': HOUR_MS / 4,
  '1_hour': HOUR_MS,
  '6_hours': 6 * HOUR_MS,
  '1_day': 24 * HOUR_MS,
  '7_days': 7 * 24 * HOUR_MS,
} as const;
const AGES = Object.keys(AGES_MS) as (keyof typeof AGES_MS)[];
const LEVELS = ESCALATION_AFTER_MS.map((_, index) => String(index + 1));

/** No index over all accounts has the provider or the amount, so these filters look at days. */
const UNINDEXED_DAYS = 30;

export function payoutListPages(
  reviews: PayoutReviews,
  { db }: Pick<ConsoleServices, 'db'>,
): OperatorRoute[] {
  const show = async (visit: OperatorVisit, query: URLSearchParams, form: FormState) => {
    const asked = filtersOf(query);
    const filters = withinReach(asked);
    const [{ items, next }, saved] = await Promise.all([
      reviews.list({ limit: PER_PAGE, after: positionOf(query), filters }),
      listFilters(db, visit.session),
    ]);
    const isCut = filters.createdFrom !== asked.createdFrom;
    const body = <PayoutList {...{ rows: items, query, next, saved, form, isCut }} />;
    const status = Object.keys(form.errors).length === 0 ? 200 : 422;
    return page('Payouts', body, { nav: 'payouts', status });
  };
  return [
    get('/payouts', 'read', (visit) => show(visit, visit.query, EMPTY_FORM)),
    ...savedFilterRoutes(db, show),
  ];
}

/** @throws InvalidInput, PageRefusal */
function filtersOf(query: URLSearchParams): ConsolePayoutFilters {
  const age = chosen(query, 'older', AGES);
  const level = chosen(query, 'level', LEVELS);
  const { createdFrom, createdTo } = daysOf(query);
  const oldest = age === undefined ? [] : [new Date(wallClockMs() - AGES_MS[age]).toISOString()];
  const [latest] = [...oldest, createdTo ?? []].flat().sort();
  return {
    mode: chosen(query, 'mode', MODES),
    status: chosen(query, 'status', PAYOUT_STATUSES),
    wait: chosen(query, 'wait', PAYOUT_WAITS),
    level: level === undefined ? undefined : LEVELS.indexOf(level) + 1,
    provider: chosen(query, 'provider', PROVIDER_CODES),
    accountId: textOf(query, 'account'),
    currency: textOf(query, 'currency')?.toUpperCase(),
    amountMin: amountOf(query, 'min'),
    amountMax: amountOf(query, 'max'),
    search: textOf(query, 'search'),
    ...(createdFrom === undefined ? {} : { createdFrom }),
    ...(latest === undefined ? {} : { createdTo: latest }),
  };
}

function amountOf(query: URLSearchParams, name: string) {
  const text = textOf(query, name);
  return text === undefined ? undefined : positiveAmount(name, text);
}

/** Filters that have no index look at the newest payouts, unless something else leaves few. */
function withinReach(filters: ConsolePayoutFilters): ConsolePayoutFilters {
  const { provider, amountMin, amountMax, createdFrom, status, wait, level, search } = filters;
  const hasUnindexed = [provider, amountMin, amountMax].some((value) => value !== undefined);
  const isOpen = status !== undefined && payoutStatusGroup(status) === 'open';
  const hasFew = [createdFrom, wait, level, search].some((value) => value !== undefined) || isOpen;
  if (!hasUnindexed || hasFew) return filters;
  const from = wallClockMs() - UNINDEXED_DAYS * 24 * HOUR_MS;
  return { ...filters, createdFrom: new Date(from).toISOString() };
}

interface PayoutListProps {
  rows: readonly ConsolePayout[];
  query: URLSearchParams;
  next: Parameters<typeof ListPager>[0]['next'];
  saved: readonly SavedFilter[];
  form: FormState;
  /** The list shows the newest days only. */
  isCut: boolean;
}

function PayoutList({ rows, query, next, saved, form, isCut }: PayoutListProps) {
  return (
    <>
      <PageHead title="Payouts" lead="All accounts, newest first.">
        <FollowSwitch />
      </PageHead>
      <SavedFilters saved={saved} query={query} form={form} />
      <Filters
        path={PATH}
        query={query}
        options={[
          ['mode', 'Mode', MODES],
          ['status', 'Status', PAYOUT_STATUSES],
          ['wait', 'Needs attention', PAYOUT_WAITS, 'Any'],
          ['level', 'Attention level from', LEVELS, 'Any'],
          ['older', 'Older than', AGES, 'Any age'],
          ['provider', 'Provider', PROVIDER_CODES],
        ]}
        texts={[
          ['search', 'ID, reference, address or hash'],
          ['account', 'Account ID'],
          ['currency', 'Currency'],
          ['min', 'Amount from'],
          ['max', 'Amount to'],
        ]}
      />
      {isCut ? (
        <p class="muted">
          The last {UNINDEXED_DAYS} days. Choose days to filter older payouts by provider or amount.
        </p>
      ) : null}
      <Follows id="payouts" isOpen>
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
      </Follows>
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

/** That it is in doubt or stuck, for how long, and how far it has escalated; null if it is neither. */
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
