/** The monthly statement of a currency: on the screen, and to print or save as PDF. */
import { runningUntil, type Statement } from '../../../domain/statement';
import { type StatementLine, statementLines } from '../statement';
import { type StatementHead, statementFileName, statementPdf } from '../statement-pdf';
import type { DashboardServices } from '../../../shell/dashboard/services';
import { Alert, Card, Empty, Money, PageHead } from '../../../kit/pages/components';
import { EMPTY_FORM, Select } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { page, redirect } from '../../../kit/pages/site';
import { get, type MerchantRoute, type MerchantVisit } from '../../../kit/pages/merchant-page';

const NAV = { nav: 'statements' };

export function statementPages({ books }: DashboardServices, publicUrl: string): MerchantRoute[] {
  const issuer = new URL(publicUrl).host;
  return [
    get('/statements', 'read', async (visit) => {
      const { currencies, months, currency, month } = await choose(books, visit);
      if (currency === undefined || month === undefined) {
        return page('Statements', <NoStatement />, NAV);
      }
      const statement = await books.statement(visit, currency, month);
      return page(
        `Statement ${currency} ${month}`,
        <StatementPage
          statement={statement}
          path={`${visit.base}/statements`}
          choices={{ currencies, months }}
          head={headOf(visit, issuer, month)}
        />,
        NAV,
      );
    }),
    get('/statements/file.pdf', { cost: 'pdf', needs: 'read' }, async (visit) => {
      const { currency, month } = await choose(books, visit);
      if (currency === undefined || month === undefined)
        return redirect(`${visit.base}/statements`);
      const statement = await books.statement(visit, currency, month);
      const content = [await statementPdf([statement], headOf(visit, issuer, month))];
      const name = statementFileName(month, currency);
      return { kind: 'download', name, type: 'application/pdf', content };
    }),
  ];
}

/** The currency and the month of the query, or the first currency and the last month that has ended. */
async function choose(books: DashboardServices['books'], visit: MerchantVisit) {
  const { query } = visit;
  const known = await books.months(visit);
  const currencies = known.map(({ currency }) => currency);
  const currency = currencies.find((one) => one === query.get('currency')) ?? currencies[0];
  const months = known.find((one) => one.currency === currency)?.months ?? [];
  const month =
    months.find((one) => one === query.get('month')) ??
    months.find((one) => runningUntil(one, new Date()) === null) ??
    months[0];
  return { currencies, months, currency, month };
}

function headOf(
  { session: { actor }, accountId, mode }: MerchantVisit,
  issuer: string,
  month: string,
): StatementHead {
  const owner = actor.kind === 'merchant' ? actor.accountName : '';
  return { owner, accountId, mode, issuer, until: runningUntil(month, new Date()) };
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
  head: StatementHead;
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
        <a
          class="btn"
          data-variant="outline"
          href={`${path}/file.pdf?${new URLSearchParams({ currency, month }).toString()}`}
        >
          <Icon name="download" /> PDF
        </a>
        <button type="button" class="btn js-only" data-variant="outline" data-print>
          <Icon name="printer" /> Print
        </button>
      </PageHead>
      <form class="filters" action={path}>
        <Select name="currency" label="Currency" form={form} options={same(choices.currencies)} />
        <Select name="month" label="Month (UTC)" form={form} options={same(choices.months)} />
        <button class="btn" data-variant="outline">
          Show
        </button>
      </form>
      {head.until === null ? null : (
        <Alert tone="wait" title="This month is not over.">
          <p>
            The statement has the movements until now, and its closing balance is the present one.
          </p>
        </Alert>
      )}
      <Card flush>
        <Movements statement={statement} />
      </Card>
      <Card title="Fees" lead="Included in the amounts above.">
        <dl class="facts">
          <div>
            <dt>Service fees</dt>
            <dd>
              <Money amount={statement.serviceFees} currency={currency} />
            </dd>
          </div>
          <div>
            <dt>Network fees</dt>
            <dd>
              <Money amount={statement.networkFees} currency={currency} />
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
  return (
    <div class="table-scroll" tabindex={0} role="region" aria-label="Movements">
      <table class="rows">
        <caption class="sr-only">Movements of {statement.month}</caption>
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
          {statementLines(statement).map((line) => (
            <Line line={line} currency={statement.currency} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({ line, currency }: { line: StatementLine; currency: string }) {
  const cell = (label: string, amount: string) => (
    <td class="right" data-label={label}>
      <Money amount={amount} currency={currency} />
    </td>
  );
  return (
    <tr>
      <th scope="row">{line.postings === null ? <b>{line.name}</b> : line.name}</th>
      <td class="right wide">{line.postings}</td>
      {cell('Available', line.available)}
      {cell('Reserved', line.reserved)}
      {cell('Total', line.total)}
    </tr>
  );
}
