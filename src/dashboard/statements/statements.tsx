/** The monthly statement of a currency: on the screen, and to print or save as PDF. */
import { add, type Amount } from '../../domain/money';
import type { DashboardServices } from '../../services/dashboard';
import { Card, Empty, Money, PageHead, words } from '../../web/components';
import { EMPTY_FORM, Select } from '../../web/forms';
import { Icon } from '../../web/icon';
import { page } from '../../web/site';
import type { MerchantRoute } from '../merchant-page';

type Books = DashboardServices['books'];
type Statement = Awaited<ReturnType<Books['statement']>>;
type Held = Statement['opening'];

const NAV = { nav: 'statements' };

export function statementPages({ books }: DashboardServices): MerchantRoute[] {
  return [
    {
      method: 'get',
      path: '/statements',
      needs: 'read',
      run: async (visit) => {
        const { query, base, session, accountId } = visit;
        const known = await books.months(visit);
        const currencies = known.map(({ currency }) => currency);
        const currency = currencies.find((one) => one === query.get('currency')) ?? currencies[0];
        const months = known.find((one) => one.currency === currency)?.months ?? [];
        const month = months.find((one) => one === query.get('month')) ?? months[0];
        if (currency === undefined || month === undefined) {
          return page('Statements', <NoStatement />, NAV);
        }
        const statement = await books.statement(visit, currency, month);
        const { actor } = session;
        const owner = actor.kind === 'merchant' ? actor.accountName : '';
        return page(
          `Statement ${currency} ${month}`,
          <StatementPage
            statement={statement}
            path={`${base}/statements`}
            choices={{ currencies, months }}
            head={{ owner, accountId, mode: visit.mode }}
          />,
          NAV,
        );
      },
    },
  ];
}

function NoStatement() {
  return (
    <>
      <PageHead title="Statements" />
      <Card>
        <Empty icon="file-text" title="No statement yet">
          <p>The first one is there when the first money moves.</p>
        </Empty>
      </Card>
    </>
  );
}

interface StatementPageProps {
  statement: Statement;
  path: string;
  choices: { currencies: readonly string[]; months: readonly string[] };
  head: { owner: string; accountId: string; mode: string };
}

function StatementPage({ statement, path, choices, head }: StatementPageProps) {
  const { currency, month } = statement;
  const form = { ...EMPTY_FORM, values: new URLSearchParams({ currency, month }) };
  const same = (values: readonly string[]) => values.map((value) => [value, value] as const);
  return (
    <>
      <PageHead
        title={`Statement ${month}`}
        lead={`${head.owner} · ${head.accountId} · ${head.mode} mode · ${currency}`}
      >
        <button type="button" class="btn js-only" data-variant="outline" data-print>
          <Icon name="printer" /> Print or save as PDF
        </button>
      </PageHead>
      <form class="filters" action={path}>
        <Select name="currency" label="Currency" form={form} options={same(choices.currencies)} />
        <Select name="month" label="Month (UTC)" form={form} options={same(choices.months)} />
        <button class="btn" data-variant="outline">
          Show
        </button>
      </form>
      <Card flush>
        <Movements statement={statement} />
      </Card>
      <Card title="Fees" lead="Included in the amounts above.">
        <dl class="facts">
          <div>
            <dt>Service fees</dt>
            <dd>
              <Money amount={statement.serviceFees} currency={currency} exact />
            </dd>
          </div>
          <div>
            <dt>Network fees</dt>
            <dd>
              <Money amount={statement.networkFees} currency={currency} exact />
            </dd>
          </div>
        </dl>
      </Card>
      <p class="muted">
        All times are UTC. Created {new Date().toISOString().slice(0, 16).replace('T', ' ')}.
      </p>
    </>
  );
}

function Movements({ statement }: { statement: Statement }) {
  const { opening, movements, closing, month } = statement;
  return (
    <div class="table-scroll" tabindex={0} role="region" aria-label="Movements">
      <table class="rows">
        <caption class="sr-only">Movements of {month}</caption>
        <thead>
          <tr>
            <th scope="col">Movement</th>
            <th scope="col" class="right wide">
              Postings
            </th>
            <th scope="col" class="right">
              Available
            </th>
            <th scope="col" class="right">
              Reserved
            </th>
            <th scope="col" class="right">
              Total
            </th>
          </tr>
        </thead>
        <tbody>
          <Line name="Opening balance" held={opening} bold />
          {movements.map(({ type, postings, ...held }) => (
            <Line name={words(type)} held={held} postings={postings} />
          ))}
          <Line name="Closing balance" held={closing} bold />
        </tbody>
      </table>
    </div>
  );
}

interface LineProps {
  name: string;
  held: Held;
  postings?: number;
  bold?: boolean;
}

function Line({ name, held, postings, bold = false }: LineProps) {
  const cell = (amount: Amount) => (
    <td class="right">{bold ? <b>{grouped(amount)}</b> : grouped(amount)}</td>
  );
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="right wide">{postings}</td>
      {cell(held.available)}
      {cell(held.reserved)}
      {cell(add(held.available, held.reserved))}
    </tr>
  );
}

function grouped(amount: Amount): string {
  const [whole = '', decimals = ''] = amount.split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',').replace('-', '−')}.${decimals}`;
}
