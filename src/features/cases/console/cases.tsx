/** Cases: what the gateway could not resolve by itself, with the evidence of both sides. */
import { CASE_KINDS } from '../../../domain/cases';
import { wallClockMs } from '../../../platform/lib/wall-clock';
import { AdminRefusal } from '../../../kit/service/refusal';
import type { ConsoleServices } from '../../../shell/console/services';
import {
  type Case,
  type CaseEvidence,
  listCasesPage,
  readCaseEvidence,
  resolveCase,
} from '../cases';
import { addNote } from '../../audit/notes';
import { ChangeFields, readFields } from '../../../kit/pages/change-form';
import type { ListPosition } from '../../../kit/service/services';
import {
  Alert,
  Card,
  Empty,
  Facts,
  Id,
  Money,
  PageHead,
  Status,
  Table,
  Time,
  words,
} from '../../../kit/pages/components';
import { draftForm, fieldErrors, type FormState } from '../../../kit/pages/forms';
import { LedgerLines } from '../../../kit/pages/history';
import { chosen, daysOf, ListPage, PER_PAGE, positionOf, textOf } from '../../../kit/pages/lists';
import { page, redirect } from '../../../kit/pages/site';
import { WorkflowLink, type WorkflowUrl } from '../../../kit/pages/workflow-link';
import {
  get,
  type OperatorRoute,
  type OperatorVisit,
  post,
  PREFIX,
} from '../../../kit/pages/operator-page';
import { Notes } from '../../audit/console/notes';
import { ExplorerLink, Transaction } from '../../../kit/pages/explorer';
import { CASE_TEXTS } from './case-texts';
import { OurRecipient, recipientDecision } from './recipient-decision';

const PATH = `${PREFIX}/cases`;
const NAV = { nav: 'cases' };
const STATES = ['open', 'resolved', 'all'] as const;

export function casePages(services: ConsoleServices, urlOf: WorkflowUrl): OperatorRoute[] {
  const { db } = services;
  async function showCase(
    visit: OperatorVisit,
    form: FormState,
    status: number,
    isTooLate = false,
  ) {
    const evidence = await readCaseEvidence(db, visit.id);
    const body = (
      <CasePage
        {...evidence}
        form={form}
        urlOf={urlOf}
        mayResolve={visit.may(resolveCase.access.needs)}
        isTooLate={isTooLate}
        seen={seenIn(form.values)}
      />
    );
    return page(words(evidence.found.kind), body, { ...NAV, status });
  }

  return [
    get('/cases', 'read', async ({ query }) => {
      const state = chosen(query, 'state', STATES) ?? 'open';
      const filters = {
        isOpen: state === 'all' ? undefined : state === 'open',
        kind: chosen(query, 'kind', CASE_KINDS),
        objectId: textOf(query, 'object'),
        ...daysOf(query),
      };
      const list = { limit: PER_PAGE, after: positionOf(query), filters };
      const { items, next } = await listCasesPage(db, list);
      return page('Cases', <CaseList rows={items} query={query} next={next} />, NAV);
    }),
    get('/cases/:id', 'read', (visit) => showCase(visit, draftForm(visit), 200)),
    post('/cases/:id/notes', 'review', async (visit) => {
      const { id } = visit;
      const { ours } = await readCaseEvidence(db, id);
      const noted = { object: 'case', id, accountId: ours?.object.accountId ?? null } as const;
      const { answer, fields } = await fieldErrors(async () => {
        await addNote(db, visit.by, noted, visit.form.get('handover') ?? '');
        return redirect(`${PATH}/${id}#notes`);
      });
      return answer ?? (await showCase(visit, { values: visit.form, errors: fields }, 422));
    }),
    post('/cases/:id/resolve', resolveCase.access, async (visit) => {
      const { id } = visit;
      const values = visit.form;
      try {
        const { answer, fields } = await fieldErrors(async () => {
          const seen = seenIn(values) ?? 0;
          await resolveCase.make(db, visit.by, { id, seen }, readFields(resolveCase, values));
          return redirect(`${PATH}/${id}`);
        });
        return answer ?? (await showCase(visit, { values, errors: fields }, 422));
      } catch (error) {
        const code = error instanceof AdminRefusal ? error.refusal.code : null;
        if (code !== 'case_already_resolved' && code !== 'case_changed') throw error;
        return showCase(visit, { values, errors: {} }, 409, true);
      }
    }),
    recipientDecision(services, showCase),
  ];
}

/** How many facts the form showed; null when it does not say. */
function seenIn(values: URLSearchParams): number | null {
  const seen = values.get('facts') ?? '';
  return /^[0-9]{1,6}$/.test(seen) ? Number(seen) : null;
}

interface CaseListProps {
  rows: readonly Case[];
  query: URLSearchParams;
  next: ListPosition | null;
}

function CaseList({ rows, query, next }: CaseListProps) {
  return (
    <ListPage
      title="Cases"
      lead="What the gateway could not resolve by itself."
      path={PATH}
      query={query}
      options={[
        ['state', 'State', ['resolved', 'all'], 'Open'],
        ['kind', 'Kind', CASE_KINDS],
      ]}
      texts={[['object', 'Object ID']]}
      next={next}
      none={
        <Empty icon="folder-search" title="No open cases">
          <p>The gateway opens a case when its records and a provider’s contradict each other.</p>
        </Empty>
      }
      table={(empty) => (
        <Table
          caption="Cases"
          rows={rows}
          empty={empty}
          columns={[
            {
              label: 'Case',
              cell: ({ id, kind, objectId }) => (
                <>
                  <a href={`${PATH}/${id}`}>{words(kind)}</a>
                  <small class="break">{objectId}</small>
                </>
              ),
            },
            {
              label: 'State',
              cell: ({ resolvedAt }) => (
                <Status value={resolvedAt === null ? 'open' : 'resolved'} />
              ),
            },
            { label: 'Opened', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              label: 'Resolved',
              wide: true,
              cell: ({ resolvedAt }) => (resolvedAt === null ? '–' : <Time at={resolvedAt} />),
            },
          ]}
        />
      )}
    />
  );
}

interface CasePageProps extends CaseEvidence {
  form: FormState;
  urlOf: WorkflowUrl;
  mayResolve: boolean;
  /** Whether somebody else resolved the case, or new facts came, before this form was sent. */
  isTooLate: boolean;
  /** How many facts that form showed. */
  seen: number | null;
}

function CasePage(props: CasePageProps) {
  const {
    found,
    ours,
    recipient,
    transactions,
    theirs,
    resolvedBy,
    notes,
    urlOf,
    isTooLate,
    seen,
  } = props;
  const { meaning, remedy } = CASE_TEXTS[found.kind];
  return (
    <>
      <PageHead
        back={{ href: PATH, label: 'Cases' }}
        here={words(found.kind)}
        title={
          <>
            {words(found.kind)} <Status value={found.resolvedAt === null ? 'open' : 'resolved'} />
          </>
        }
        lead={meaning}
      >
        {ours === null ? null : <WorkflowLink id={found.objectId} urlOf={urlOf} />}
      </PageHead>
      {isTooLate && found.resolvedAt !== null ? (
        <Alert tone="wait" title="This case is already resolved. Your resolution was not recorded.">
          <p>
            {resolvedBy ?? 'The gateway'} resolved it {secondsSince(found.resolvedAt)} seconds ago.
          </p>
        </Alert>
      ) : null}
      {isTooLate && found.resolvedAt === null ? (
        <NewFacts facts={found.facts.slice(seen ?? 0)} />
      ) : null}
      <Resolution {...props} remedy={remedy} />
      <Notes
        notes={notes}
        path={`${PATH}/${found.id}`}
        form={props.form}
        mayWrite={props.mayResolve}
      />
      <div class="grid">
        {recipient === null ? (
          <Ours ours={ours} found={found} />
        ) : (
          <OurRecipient {...props} recipient={recipient} mayDecide={props.mayResolve} />
        )}
        <Card title="Details" lead="What the gateway recorded since it opened the case.">
          <Facts
            rows={[
              ['ID', <Id value={found.id} />],
              ['Object', <Id value={found.objectId} />],
              ['Opened', <Time at={found.createdAt} seconds />],
            ]}
          />
          <pre class="code">{JSON.stringify(found.details, null, 2)}</pre>
        </Card>
      </div>
      {recipient === null ? <Theirs entries={theirs} /> : null}
      {ours === null ? null : (
        <LedgerLines transactions={transactions} lead="Changes to the merchant’s balances" />
      )}
    </>
  );
}

function NewFacts({ facts }: { facts: readonly unknown[] }) {
  return (
    <Alert tone="wait" title="This case has new facts. Your resolution was not recorded.">
      <p>These came after the page was loaded. Read them, and decide again.</p>
      <pre class="code">{JSON.stringify(facts, null, 2)}</pre>
    </Alert>
  );
}

function secondsSince(at: Date): number {
  return Math.max(0, Math.round((wallClockMs() - at.getTime()) / 1_000));
}

function Resolution(props: CasePageProps & { remedy: string }) {
  const { found, resolvedBy, form, mayResolve, remedy } = props;
  if (found.resolvedAt !== null) {
    return (
      <Card title="Resolution">
        <p>{found.resolution}</p>
        <p class="muted">
          {resolvedBy ?? 'The gateway'}, <Time at={found.resolvedAt} seconds />
        </p>
      </Card>
    );
  }
  return (
    <Card title="What to do" lead={remedy}>
      {mayResolve ? (
        <form method="post" action={`${PATH}/${found.id}/resolve`} class="stack">
          <input type="hidden" name="facts" value={String(found.facts.length)} />
          <ChangeFields change={resolveCase} form={form} />
          <div>
            <button class="btn">Resolve case</button>
          </div>
        </form>
      ) : (
        <p class="muted">A reviewer or an administrator resolves cases.</p>
      )}
    </Card>
  );
}

function Ours({ ours, found }: Pick<CaseEvidence, 'ours' | 'found'>) {
  if (ours === null) {
    return (
      <Card title="Our side">
        <p class="muted">The gateway has no payment or payout {found.objectId}.</p>
      </Card>
    );
  }
  const { object } = ours;
  const money = (amount: string) => <Money amount={amount} currency={object.currency} />;
  return (
    <Card title={`Our ${ours.kind}`}>
      <Facts
        rows={[
          ['Status', <Status value={object.status} />],
          ['Amount', money(object.amount)],
          ...(ours.kind === 'payment'
            ? ([
                ['Received', money(ours.object.receivedAmount)],
                ['Not confirmed yet', money(ours.object.unconfirmedAmount)],
                ['Credited before fees', money(ours.object.creditedAmount)],
                ['Refunded', money(ours.object.refundedAmount)],
              ] as const)
            : ([
                ['Total debit', money(ours.object.totalDebit)],
                [
                  'Destination',
                  <>
                    <code>{ours.object.destinationValue}</code>{' '}
                    <ExplorerLink
                      what="address"
                      object={object}
                      value={ours.object.destinationValue}
                    />
                  </>,
                ],
                ['Decided by', ours.object.decidedBy],
                ['Provider’s ID', ours.object.providerTransferId],
              ] as const)),
          ['Network', object.network === null ? null : words(object.network)],
          [
            'Transaction',
            object.txHash === null ? null : <Transaction object={object} hash={object.txHash} />,
          ],
          ['Provider', words(object.provider)],
          ['Mode', words(object.mode)],
          [
            'ID',
            <a
              class="link"
              href={`${PREFIX}/${ours.kind === 'payout' ? 'payouts' : 'payments'}/${object.id}`}
            >
              {object.id}
            </a>,
          ],
          ['Reference', object.reference],
          ['Transaction hash', object.txHash === null ? null : <code>{object.txHash}</code>],
          ['Failure', object.failureReason],
          [
            'Account',
            <a class="link" href={`${PREFIX}/accounts/${object.accountId}`}>
              {object.accountId}
            </a>,
          ],
          ['Changed', <Time at={object.updatedAt} seconds />],
        ]}
      />
    </Card>
  );
}

function Theirs({ entries }: { entries: CaseEvidence['theirs'] }) {
  return (
    <Card title="Provider’s side" lead="From the latest statement that was read." flush>
      <Table
        caption="Entries of the provider"
        rows={entries}
        empty={<Empty icon="landmark" title="Not found in the provider’s statement" />}
        columns={[
          {
            label: 'Entry',
            cell: ({ kind, id }) => (
              <>
                {words(kind)} <small>{id === '' ? 'Not known to the provider' : id}</small>
              </>
            ),
          },
          {
            label: 'State',
            cell: ({ state, held }) => (
              <>
                <Status value={ENTRY_STATES[state]} /> {held ? <Status value="on_hold" /> : null}
              </>
            ),
          },
          {
            label: 'Amount',
            right: true,
            cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
          },
          {
            label: 'Provider',
            wide: true,
            cell: ({ provider, mode }) => (
              <>
                {words(provider)} <small>{words(mode)}</small>
              </>
            ),
          },
          {
            label: 'Changed',
            wide: true,
            cell: ({ changedAt, readAt }) => (
              <>
                <Time at={changedAt} seconds />
                <small>
                  Read <Time at={readAt} seconds />
                </small>
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}

/** The statuses of entries, by the names that other pages use. */
const ENTRY_STATES = { pending: 'pending', done: 'succeeded', void: 'void' } as const;
