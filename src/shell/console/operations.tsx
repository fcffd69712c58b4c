/** Providers, positions, the ledger check and the webhook backlog. */
import { PageRefusal } from '../../kit/pages/problems';
import type { ConsoleServices } from './services';
import {
  BACKLOG_MAX,
  type ConsoleOperations,
  OPERATOR_SCHEDULES,
  type OperatorSchedule,
  type ProviderCheck,
  SHOWN_MINUTES,
} from './operations-services';
import {
  Alert,
  Card,
  Empty,
  Money,
  PageHead,
  Status,
  Table,
  Time,
  words,
} from '../../kit/pages/components';
import { wallClockMs } from '../../platform/lib/wall-clock';
import { Follows } from '../../kit/pages/follow';
import { durationText } from '../../kit/pages/since';
import { justNow, justNowAt, wasJustNow } from '../../kit/pages/just-now';
import { page, redirect } from '../../kit/pages/site';
import { get, type OperatorRoute, post, PREFIX } from '../../kit/pages/operator-page';
import { healthOf } from '../../domain/provider-health';
import { WorkflowLink, type WorkflowUrl } from '../../kit/pages/workflow-link';
import { Ledger, ledgerPages, Run } from './ledger';
import { Wallets } from './wallets';

const PATH = `${PREFIX}/operations`;
const NAV = { nav: 'operations' };

type Read<Name extends keyof ConsoleOperations> = Awaited<ReturnType<ConsoleOperations[Name]>>;

export function operationPages(
  services: ConsoleServices,
  workflowUrl: WorkflowUrl,
): OperatorRoute[] {
  const { operations, attention, openCases } = services;
  return [
    ...ledgerPages(services),
    get('/operations', 'read', async (visit) => {
      const [
        calls,
        queues,
        alarms,
        wallets,
        statements,
        positions,
        backlogs,
        provenAt,
        report,
        found,
        cases,
        checks,
      ] = await Promise.all([
        operations.providerCalls(),
        operations.taskQueues(),
        operations.alarms(),
        operations.wallets(),
        operations.statements(),
        operations.positions(),
        operations.backlogs(),
        operations.provenAt(),
        operations.ledgerReport(),
        attention(),
        openCases(),
        visit.query.has('check') ? operations.checkProviders() : null,
      ]);
      const mayRun = visit.may('administer');
      return page(
        'Operations',
        <>
          <PageHead title="Operations" />
          <Started
            query={visit.query}
            ended={{ 'ledger-check': provenAt, reconciliation: positions[0]?.countedAt }}
          />
          <Follows id="ledger" isOpen>
            <Ledger
              provenAt={provenAt}
              hasReport={report !== null}
              cases={cases}
              isLate={found.isProofLate}
              mayRun={mayRun}
            />
          </Follows>
          <Alarms alarms={alarms} />
          <Wallets providers={wallets} />
          <Providers calls={calls} statements={statements} checks={checks} mayRun={mayRun} />
          <Queues queues={queues} workflowUrl={workflowUrl} />
          <Positions positions={positions} />
          <Backlogs backlogs={backlogs} />
        </>,
        NAV,
      );
    }),
    post('/operations/run', 'administer', async ({ form, by }) => {
      const schedule = OPERATOR_SCHEDULES.find((id) => id === form.get('schedule'));
      if (schedule === undefined) throw new PageRefusal('page_not_found');
      const at = wallClockMs();
      const isRunning = await operations.runNow(by, schedule);
      return redirect(`${PATH}?${justNow(isRunning ? `started-${schedule}` : 'unreachable', at)}`);
    }),
  ];
}

interface StartedProps {
  query: URLSearchParams;
  /** When the last run of each schedule ended. */
  ended: Readonly<Record<OperatorSchedule, Date | undefined>>;
}

/** A run that somebody has just started, until it has ended. */
function Started({ query, ended }: StartedProps) {
  for (const schedule of OPERATOR_SCHEDULES) {
    const startedAt = justNowAt(query, `started-${schedule}`);
    if (startedAt === null) continue;
    const endedAt = ended[schedule];
    const hasEnded = endedAt !== undefined && endedAt >= startedAt;
    return (
      <Follows id="started" isOpen={!hasEnded}>
        <Alert
          tone={hasEnded ? 'good' : 'wait'}
          title={hasEnded ? 'The run has ended.' : 'The run has not ended yet.'}
        >
          <p>{hasEnded ? 'Its result is below.' : 'This page updates automatically.'}</p>
        </Alert>
      </Follows>
    );
  }
  if (!wasJustNow(query, 'unreachable')) return null;
  return (
    <Alert tone="bad" title="Temporal did not start the run.">
      <p>Check that Temporal is reachable and that a worker has created the schedules.</p>
    </Alert>
  );
}

function Alarms({ alarms }: { alarms: Read<'alarms'> }) {
  return (
    <Card
      title="Alarms"
      lead="Open alarms of the providers, which are asked every minute. To end an alarm of the wallet, run npm run wallet -- alarms."
      flush
    >
      <Table
        caption="Alarms"
        rows={alarms}
        empty={<Empty icon="bell" title="No open alarms" />}
        columns={[
          {
            label: 'Alarm',
            cell: ({ kind, subject }) => (
              <>
                {words(kind)} <small class="break">{subject}</small>
              </>
            ),
          },
          {
            label: 'Network',
            cell: ({ network, mode }) => (
              <>
                {words(network)} <small>{words(mode)}</small>
              </>
            ),
          },
          { label: 'Detail', cell: ({ detail }) => <small class="break">{detail}</small> },
          { label: 'Raised', cell: ({ raisedAt }) => <Time at={raisedAt} seconds /> },
        ]}
      />
    </Card>
  );
}

interface ProvidersProps {
  calls: Read<'providerCalls'>;
  statements: Read<'statements'>;
  checks: ProviderCheck[] | null;
  mayRun: boolean;
}

function Providers({ calls, statements, checks, mayRun }: ProvidersProps) {
  return (
    <>
      <Card
        title="Providers"
        lead={`The requests of the last ${SHOWN_MINUTES} minutes, of all processes. Check now sends one to each provider, which changes nothing.`}
        flush
        action={
          <a class="btn" data-variant="outline" href={`${PATH}?check=providers`}>
            Check now
          </a>
        }
      >
        <ProviderHealth calls={calls} />
        {checks === null ? null : (
          <Table
            caption="Providers"
            rows={checks}
            empty={<Empty icon="landmark" title="No provider is enabled" />}
            columns={[
              { label: 'Provider', cell: ({ provider }) => provider },
              { label: 'Mode', cell: ({ mode }) => words(mode) },
              {
                label: 'Response',
                cell: ({ problem }) => (
                  <>
                    <Status value={problem === null ? 'working' : 'failed'} />
                    {problem === null ? null : <small>{problem}</small>}
                  </>
                ),
              },
              { label: 'Timing', right: true, cell: ({ durationMs }) => `${durationMs} ms` },
            ]}
          />
        )}
      </Card>
      <Card
        title="Statements"
        lead="What the reconciliation reads every hour to compare it with the ledger."
        flush
        action={mayRun ? <Run schedule="reconciliation" label="Reconcile now" /> : null}
      >
        <Table
          caption="Statements"
          rows={statements}
          empty={
            <Empty icon="file-text" title="No statement was read yet">
              <p>The reconciliation runs every hour, at 10 past.</p>
            </Empty>
          }
          columns={[
            {
              label: 'Statement',
              cell: ({ provider, kind }) => (
                <>
                  {words(provider)} <small>{words(kind)}</small>
                </>
              ),
            },
            { label: 'Mode', cell: ({ mode }) => words(mode) },
            {
              label: 'Last reading',
              cell: ({ trouble }) => (
                <>
                  <Status value={trouble === null ? 'succeeded' : 'failed'} />
                  {trouble === null ? null : <small>{trouble}</small>}
                </>
              ),
            },
            {
              label: 'Read to its end',
              cell: ({ readAt }) => (readAt === null ? 'Never' : <Time at={readAt} seconds />),
            },
          ]}
        />
      </Card>
    </>
  );
}

function ProviderHealth({ calls }: { calls: Read<'providerCalls'> }) {
  return (
    <Table
      caption="Requests to providers"
      rows={calls}
      empty={<Empty icon="landmark" title={`No request in the last ${SHOWN_MINUTES} minutes`} />}
      columns={[
        {
          label: 'Provider',
          cell: ({ provider, mode }) => (
            <>
              {words(provider)} <small>{words(mode)}</small>
            </>
          ),
        },
        { label: 'State', cell: (row) => <Status value={healthOf(row)} /> },
        { label: 'Requests', right: true, cell: ({ calls: count }) => count },
        { label: 'No answer or error', right: true, cell: ({ failed }) => failed },
        { label: 'Rate limited', right: true, cell: ({ limited }) => limited },
        {
          label: 'Average',
          right: true,
          cell: ({ calls: count, totalMs }) => `${Math.round(totalMs / count)} ms`,
        },
        { label: 'Slowest', right: true, cell: ({ slowestMs }) => `${slowestMs} ms` },
      ]}
    />
  );
}

interface QueuesProps {
  queues: Read<'taskQueues'>;
  workflowUrl: WorkflowUrl;
}

function Queues({ queues, workflowUrl }: QueuesProps) {
  const lead =
    'The workers that ask Temporal for tasks, and the tasks that no worker has taken yet.';
  const list = <WorkflowLink urlOf={workflowUrl} />;
  if (queues === null) {
    return (
      <Card title="Workers" lead={lead} action={list}>
        <Alert tone="bad" title="Temporal does not answer.">
          <p>Payouts and payments continue when it answers again.</p>
        </Alert>
      </Card>
    );
  }
  return (
    <Card title="Workers" lead={lead} action={list} flush>
      <Table
        caption="Workers"
        rows={queues}
        empty={null}
        columns={[
          { label: 'Task queue', cell: ({ queue }) => <code>{queue}</code> },
          {
            label: 'Workers',
            cell: ({ workers }) =>
              workers.length === 0 ? (
                <Status value="no_worker" />
              ) : (
                workers.map(({ name, buildId }) => (
                  <div>
                    {name} {buildId === null ? null : <small>version {buildId}</small>}
                  </div>
                ))
              ),
          },
          { label: 'Waiting tasks', right: true, cell: ({ waiting }) => waiting },
          {
            label: 'Longest wait',
            right: true,
            cell: ({ waiting, waitedMs }) => (waiting === 0 ? '–' : durationText(waitedMs)),
          },
        ]}
      />
    </Card>
  );
}

function Positions({ positions }: { positions: Read<'positions'> }) {
  const money = (amount: string, currency: string) => <Money amount={amount} currency={currency} />;
  const [first] = positions;
  return (
    <Card
      title="Provider balances and liabilities"
      lead="Held is the amount received less the amounts refunded and sent, according to the providers’ statements. It excludes fees that a provider keeps, and the platform’s own deposits and withdrawals."
      flush
    >
      <Table
        caption="Provider balances and liabilities"
        rows={positions}
        empty={
          <Empty icon="scale" title="Not counted yet">
            <p>The reconciliation counts both sides every hour.</p>
          </Empty>
        }
        columns={[
          {
            label: 'Currency',
            cell: ({ currency, mode }) => (
              <>
                {currency} <small>{words(mode)}</small>
              </>
            ),
          },
          {
            label: 'Held by providers',
            right: true,
            cell: ({ providers, currency }) =>
              providers.length === 0
                ? '–'
                : providers.map(({ provider, held }) => (
                    <>
                      {money(held, currency)} <small>{words(provider)}</small>
                    </>
                  )),
          },
          {
            label: 'Owed to merchants',
            right: true,
            cell: ({ available, reserved, currency }) =>
              available === null || reserved === null ? (
                '–'
              ) : (
                <>
                  {money(available, currency)} <small>available</small>
                  {money(reserved, currency)} <small>reserved</small>
                </>
              ),
          },
          {
            label: 'Held less owed',
            right: true,
            cell: ({ difference, currency }) => money(difference, currency),
          },
        ]}
      />
      {first === undefined ? null : (
        <p class="muted table-note">
          Counted <Time at={first.countedAt} seconds />
        </p>
      )}
    </Card>
  );
}

function Backlogs({ backlogs }: { backlogs: Read<'backlogs'> }) {
  return (
    <Card
      title="Waiting webhook deliveries"
      lead="The endpoints with the most waiting deliveries."
      flush
    >
      <Table
        caption="Waiting webhook deliveries"
        rows={backlogs}
        empty={<Empty icon="webhook" title="No delivery waits" />}
        columns={[
          {
            label: 'Endpoint',
            cell: ({ url, endpointId }) => (
              <>
                <span class="break">{url}</span>
                <small>{endpointId}</small>
              </>
            ),
          },
          {
            label: 'Account',
            wide: true,
            cell: ({ accountId, mode }) => (
              <>
                <a href={`${PREFIX}/accounts/${accountId}`}>{accountId}</a> <small>{mode}</small>
              </>
            ),
          },
          {
            label: 'State',
            cell: ({ enabled, timeoutsInARow }) => (
              <>
                <Status value={enabled ? 'enabled' : 'disabled'} />
                {timeoutsInARow === 0 ? null : <small>{timeoutsInARow} time-outs in a row</small>}
              </>
            ),
          },
          {
            label: 'Waiting',
            right: true,
            cell: ({ waiting }) => (waiting === BACKLOG_MAX ? `${waiting} or more` : waiting),
          },
        ]}
      />
    </Card>
  );
}
