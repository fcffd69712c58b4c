/** Everything that waits for a second person, of all kinds. */
import { approversOf } from '../../../domain/second-person';
import type { DashboardServices } from '../../../shell/dashboard/services';
import {
  Card,
  Empty,
  Money,
  PageHead,
  personText,
  Table,
  Time,
  words,
} from '../../../kit/pages/components';
import { sinceText } from '../../../kit/pages/since';
import { page } from '../../../kit/pages/site';
import { get, type MerchantRoute } from '../../../kit/pages/merchant-page';
import { nameOfWaiting, pathOfWaiting } from './waiting';

/** More than a person approves at once; the oldest come first. */
export const WAITING_MAX = 100;

type WaitingRow = Awaited<ReturnType<DashboardServices['waitingForPerson']>>[number];
type Approvers = Awaited<ReturnType<DashboardServices['approvers']>>;

export function approvalPages(services: DashboardServices): MerchantRoute[] {
  return [
    get('/approvals', 'read', async (visit) => {
      const rows = await services.waitingForPerson(visit, WAITING_MAX);
      const approvers = await services.approvers(visit);
      const body = (
        <>
          <PageHead
            title="Approvals"
            lead="Objects that one person created and another person must approve. Open one to review and approve it."
          />
          <Card flush>
            <WaitingTable rows={rows} approvers={approvers} base={visit.base} />
          </Card>
        </>
      );
      return page('Approvals', body, { nav: 'approvals' });
    }),
  ];
}

interface WaitingTableProps {
  rows: readonly WaitingRow[];
  approvers: Approvers;
  base: string;
}

function WaitingTable({ rows, approvers, base }: WaitingTableProps) {
  return (
    <Table
      caption="Approvals"
      rows={rows}
      empty={
        <Empty icon="user-check" title="Nothing waits for two-person approval">
          <p>Objects above your account’s amounts appear here when one person creates them.</p>
        </Empty>
      }
      columns={[
        {
          label: 'What',
          cell: (row) => (
            <>
              {words(nameOfWaiting(row))} <a href={pathOfWaiting(base, row)}>{row.name}</a>
            </>
          ),
        },
        {
          label: 'Amount',
          right: true,
          cell: ({ amounts }) =>
            amounts.map(({ currency, amount }) => (
              <div>
                <Money amount={amount} currency={currency} />
              </div>
            )),
        },
        { label: 'Waits for', cell: ({ since }) => sinceText(since) },
        {
          label: 'Requested by',
          wide: true,
          cell: ({ person }) => <span class="break">{personText(person)}</span>,
        },
        {
          label: 'May approve',
          wide: true,
          cell: ({ maker }) => <span class="break">{othersText(approvers, maker)}</span>,
        },
        {
          label: 'Until',
          wide: true,
          cell: ({ until }) => (until === null ? 'No end' : <Time at={until} />),
        },
      ]}
    />
  );
}

function othersText(approvers: Approvers, maker: string): string {
  const others = approversOf(approvers, maker);
  return others.length === 0 ? 'Nobody yet' : others.map(personText).join(', ');
}
