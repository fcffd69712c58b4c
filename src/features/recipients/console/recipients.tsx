/** The recipients of one account, for operators to read. */
import { MODES } from '../../../domain/mode';
import type { ConsoleServices } from '../../../shell/console/services';
import {
  Card,
  Empty,
  Facts,
  PageHead,
  Status,
  Table,
  Time,
  words,
} from '../../../kit/pages/components';
import { chosen, ListPager, PER_PAGE, positionOf } from '../../../kit/pages/lists';
import { page } from '../../../kit/pages/site';
import { get, type OperatorRoute, PREFIX } from '../../../kit/pages/operator-page';

export function recipientPages({ recipients }: ConsoleServices): OperatorRoute[] {
  return [
    get('/accounts/:id/recipients', 'read', async ({ query, id }) => {
      const mode = chosen(query, 'mode', MODES) ?? 'live';
      const rules = await recipients.rules(id);
      const position = { limit: PER_PAGE, after: positionOf(query) };
      const { items, next } = await recipients.list({ accountId: id, mode }, position);
      const path = `${PREFIX}/accounts/${id}/recipients`;
      const other = mode === 'live' ? 'test' : 'live';
      const now = new Date();
      const body = (
        <>
          <PageHead
            back={{ href: `${PREFIX}/accounts/${id}`, label: 'Account' }}
            title={`Recipients in ${mode} mode`}
          >
            <a class="btn" data-variant="outline" href={`${path}?mode=${other}`}>
              Show {other} mode
            </a>
          </PageHead>
          <Card title="Rules" lead="The merchant sets them. They apply to live payouts.">
            <Facts
              rows={[
                ['A new destination waits', `${rules.waitHours} hours`],
                ['Live payouts to', rules.only ? 'Saved recipients only' : 'Any destination'],
              ]}
            />
          </Card>
          <Card flush>
            <Table
              caption="Recipients"
              rows={items}
              empty={<Empty icon="contact" title="No recipients" />}
              columns={[
                { label: 'Name', cell: ({ name }) => name },
                {
                  label: 'Status',
                  cell: ({ usableFrom }) => (
                    <Status value={usableFrom > now ? 'waiting' : 'usable'} />
                  ),
                },
                {
                  label: 'Screening',
                  cell: ({ id, screening }) =>
                    screening === null ? null : (
                      <a href={`${PREFIX}/cases?state=all&object=${id}`}>
                        <Status value={screening} />
                      </a>
                    ),
                },
                { label: 'Currency', cell: ({ currency }) => currency },
                { label: 'Network', wide: true, cell: ({ network }) => words(network ?? 'none') },
                {
                  label: 'Destination',
                  cell: ({ destinationValue }) => <code class="break">{destinationValue}</code>,
                },
                {
                  label: 'Since',
                  wide: true,
                  cell: ({ destinationSince }) => <Time at={destinationSince} />,
                },
                { label: 'ID', wide: true, cell: (one) => <code>{one.id}</code> },
              ]}
            />
          </Card>
          <ListPager path={path} query={query} next={next} />
        </>
      );
      return page('Recipients', body, { nav: 'accounts' });
    }),
  ];
}
