/** Recipients: the list, one recipient with its payouts, a new one, changes, and the account's rules. */
import type { ComponentChildren } from 'preact';
import { isCleared, type Recipient } from '../../../domain/recipient';
import { readRecipientChange, readRecipientRequest } from '../recipients-contract';
import type { DashboardServices, PersonDecision } from '../../../shell/dashboard/services';
import { waitingRecipient } from '../../approvals/second-person';
import { createdId } from '../../../shell/dashboard/money';
import { ruleRecipients } from '../recipient-rules';
import { ChangeFields, readFields } from '../../../kit/pages/change-form';
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
import { merchantForm } from '../../../kit/pages/form-pages';
import { Confirm, Field, FormActions, type FormState } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { CreateLink, ListPager, PER_PAGE, positionOf, textOf } from '../../../kit/pages/lists';
import { page, redirect } from '../../../kit/pages/site';
import { formKey, MAKE, mayMake, nextFormKey, personOf } from '../../../kit/pages/creation';
import {
  get,
  type MerchantRoute,
  type MerchantVisit,
  post,
} from '../../../kit/pages/merchant-page';
import { PayoutTable } from '../../payouts/dashboard/payouts';
import { decisionRows, secondPersonOf } from '../../approvals/dashboard/waiting';
import { importPages } from './import';
import { formOf, RecipientForm, requestOf } from './recipient-form';

const NAV = { nav: 'recipients' };

const listPath = ({ base }: MerchantVisit) => `${base}/recipients`;
const pathOf = (visit: MerchantVisit) => `${listPath(visit)}/${visit.id}`;

export function recipientPages(services: DashboardServices): MerchantRoute[] {
  const { payouts, recipients } = services;
  return [
    get('/recipients', 'read', async (visit) => {
      const { query } = visit;
      const filters = filtersOf(query);
      const list = { limit: PER_PAGE, after: positionOf(query), filters };
      const { items, next } = await recipients.list(visit, list);
      const path = listPath(visit);
      const body = (
        <>
          <PageHead title="Recipients" lead="Destinations that you pay repeatedly.">
            {mayMake(visit) ? (
              <>
                <a class="btn" data-variant="outline" href={`${path}/import`}>
                  <Icon name="upload" /> Import
                </a>
                <CreateLink path={path} label="Add a recipient" />
              </>
            ) : null}
          </PageHead>
          <Filters query={query} path={path} />
          <RecipientTable rows={items} path={path} />
          <ListPager path={path} query={query} next={next} />
          <Rules rules={await recipients.rules(visit)} path={path} visit={visit} />
        </>
      );
      return page('Recipients', body, NAV);
    }),
    ...newPages(services),
    ...importPages(services),
    ...rulesPages(services),
    get('/recipients/:id', 'read', async (visit) => {
      const { query, base } = visit;
      const recipient = await recipients.find(visit, visit.id);
      const filters = { recipient: recipient.id };
      const list = { limit: PER_PAGE, after: positionOf(query), filters };
      const { items, next } = await payouts(visit, list);
      const path = pathOf(visit);
      const body = (
        <>
          <Detail
            recipient={recipient}
            base={base}
            path={path}
            secondPerson={await secondPersonOf(services, visit, waitingRecipient(recipient))}
            decisions={await services.decisions(visit, recipient.id)}
            mayChange={mayMake(visit)}
          />
          <Card title="Payouts" flush>
            <PayoutTable
              rows={items}
              path={`${base}/payouts`}
              empty={
                <Empty icon="arrow-up-right" title="No payouts yet">
                  <p>Payouts to this recipient are listed here.</p>
                </Empty>
              }
            />
          </Card>
          <ListPager path={path} query={query} next={next} />
        </>
      );
      return page(recipient.name, body, NAV);
    }),
    ...changePages(services),
  ];
}

function newPages({ money }: DashboardServices): MerchantRoute[] {
  return merchantForm({
    path: '/recipients/new',
    ...MAKE,
    recent: 'live',
    values: ({ query }) => query,
    show: async (visit, form, refusal) => {
      const shown = {
        form,
        refusal,
        path: listPath(visit),
        routes: await money.routes(personOf(visit), 'payout'),
      };
      const key = nextFormKey(formKey(form.values), refusal);
      return page('Add a recipient', <RecipientForm {...shown} formKey={key} />, NAV);
    },
    send: async (visit) => {
      const idempotencyKey = formKey(visit.form);
      const request = readRecipientRequest(requestOf(visit.form));
      const caller = await money.allowedCaller(personOf(visit));
      const id = await createdId(() =>
        money.recipients.create(caller, visit.by, { idempotencyKey, request }),
      );
      return redirect(`${listPath(visit)}/${id}`);
    },
  });
}

function rulesPages({ db, recipients }: DashboardServices): MerchantRoute[] {
  return merchantForm({
    path: '/recipients/rules',
    needs: 'manage',
    recent: 'always',
    values: async (visit) => {
      const { waitHours, only } = await recipients.rules(visit);
      return new URLSearchParams({ waitHours: `${waitHours}`, payTo: payTo(only) });
    },
    show: (visit, form) =>
      page('Rules for recipients', <RulesForm path={listPath(visit)} form={form} />, NAV),
    send: async (visit) => {
      const { accountId, by, form } = visit;
      await ruleRecipients.make(db, by, { accountId }, readFields(ruleRecipients, form));
      return redirect(listPath(visit));
    },
  });
}

function changePages({ money, recipients }: DashboardServices): MerchantRoute[] {
  return [
    ...merchantForm({
      path: '/recipients/:id/edit',
      ...MAKE,
      recent: 'live',
      values: async (visit) => formOf(await recipients.find(visit, visit.id)),
      show: async (visit, form, refusal) => {
        const recipient = await recipients.find(visit, visit.id);
        const shown = {
          form,
          refusal,
          path: pathOf(visit),
          routes: await money.routes(personOf(visit), 'payout'),
        };
        return page(recipient.name, <RecipientForm {...shown} recipient={recipient} />, NAV);
      },
      send: async (visit) => {
        const { id } = await recipients.find(visit, visit.id);
        const change = readRecipientChange(requestOf(visit.form));
        const caller = await money.allowedCaller(personOf(visit));
        // An empty field of the form says that there is no network and no tag.
        await money.recipients.update(caller, visit.by, id, { network: null, tags: [], ...change });
        return redirect(pathOf(visit));
      },
    }),
    post('/recipients/:id/delete', { ...MAKE, liveRecent: pathOf }, async (visit) => {
      const { id } = await recipients.find(visit, visit.id);
      await money.recipients.remove(money.callerOf(personOf(visit)), visit.by, id);
      return redirect(pathOf(visit));
    }),
  ];
}

function filtersOf(query: URLSearchParams) {
  const [name, tag] = [textOf(query, 'name'), textOf(query, 'tag')];
  return { ...(name === undefined ? {} : { name }), ...(tag === undefined ? {} : { tag }) };
}

function Filters({ query, path }: { query: URLSearchParams; path: string }) {
  const form = { values: query, errors: {} };
  return (
    <form method="get" action={path} class="filters">
      <Field name="name" label="Name" form={form} maxLength={100} />
      <Field name="tag" label="Tag" form={form} maxLength={40} />
      <button class="btn" data-variant="outline">
        <Icon name="search" /> Search
      </button>
    </form>
  );
}

function RecipientTable({ rows, path }: { rows: readonly Recipient[]; path: string }) {
  return (
    <Card flush>
      <Table
        caption="Recipients"
        rows={rows}
        empty={
          <Empty icon="contact" title="No recipients">
            <p>Add one, or import a table of them.</p>
          </Empty>
        }
        columns={[
          { label: 'Name', cell: ({ id, name }) => <a href={`${path}/${id}`}>{name}</a> },
          { label: 'Status', cell: (recipient) => <State recipient={recipient} /> },
          { label: 'Currency', cell: ({ currency }) => currency },
          { label: 'Network', wide: true, cell: ({ network }) => words(network ?? 'none') },
          {
            label: 'Destination',
            wide: true,
            cell: ({ destinationValue }) => <code class="break">{destinationValue}</code>,
          },
          { label: 'Tags', wide: true, cell: ({ tags }) => tags.join(', ') },
        ]}
      />
    </Card>
  );
}

function State({ recipient }: { recipient: Recipient }) {
  const { deletedAt, usableFrom, awaitsSecondPerson, screening } = recipient;
  if (deletedAt !== null) return <Status value="deleted" />;
  const isWaiting = awaitsSecondPerson || usableFrom > new Date() || !isCleared(screening);
  return <Status value={isWaiting ? 'waiting' : 'usable'} />;
}

interface DetailProps {
  recipient: Recipient;
  base: string;
  path: string;
  secondPerson: ComponentChildren;
  decisions: readonly PersonDecision[];
  mayChange: boolean;
}

function Detail(props: DetailProps) {
  const { recipient, base, path, secondPerson, decisions, mayChange } = props;
  const { id, name, deletedAt, usableFrom, tags } = recipient;
  return (
    <>
      <PageHead
        back={{ href: `${base}/recipients`, label: 'Recipients' }}
        here={name}
        title={
          <>
            {name} <State recipient={recipient} />
          </>
        }
      >
        {mayChange && deletedAt === null ? (
          <>
            <a class="btn" href={`${base}/payouts/new?recipient=${id}`}>
              <Icon name="arrow-up-right" /> Request a payout
            </a>
            <a class="btn" data-variant="outline" href={`${base}/schedules/new?recipient=${id}`}>
              <Icon name="calendar-clock" /> Schedule payouts
            </a>
            <a class="btn" data-variant="outline" href={`${path}/edit`}>
              <Icon name="pencil" /> Change
            </a>
            <Confirm
              action={`${path}/delete`}
              label="Delete"
              icon="trash-2"
              effect="No further payout can name this recipient. Payouts that were already requested continue, except those that wait for this recipient."
              confirm="Delete this recipient now"
            />
          </>
        ) : null}
      </PageHead>
      {secondPerson}
      {deletedAt === null && usableFrom > new Date() ? (
        <Alert tone="wait" title="This recipient waits before it can be paid.">
          <p>
            Payouts are possible from <Time at={usableFrom} seconds /> on.
          </p>
        </Alert>
      ) : null}
      <Card title="Details">
        <Facts
          rows={[
            ['ID', <Id value={id} />],
            ['Currency', recipient.currency],
            ['Network', words(recipient.network ?? 'none')],
            [
              words(recipient.destinationType),
              <code class="break">{recipient.destinationValue}</code>,
            ],
            ['Memo', recipient.destinationMemo],
            ['Tags', tags.length === 0 ? null : tags.join(', ')],
            ...decisionRows(decisions),
            ['Created', <Time at={recipient.createdAt} seconds />],
            ['Destination since', <Time at={recipient.destinationSince} seconds />],
            ['Deleted', deletedAt === null ? null : <Time at={deletedAt} seconds />],
          ]}
        />
      </Card>
    </>
  );
}

const payTo = (only: boolean) => (only ? 'recipients' : 'anywhere');

interface RulesProps {
  rules: { waitHours: number; only: boolean };
  path: string;
  visit: MerchantVisit;
}

function Rules({ rules: { waitHours, only }, path, visit }: RulesProps) {
  return (
    <Card title="Rules" lead="They apply to live payouts.">
      <Facts
        rows={[
          ['A new destination waits', `${waitHours} hours`],
          ['Live payouts to', only ? 'Saved recipients only' : 'Any destination'],
        ]}
      />
      {visit.may('manage') ? (
        <div>
          <a class="btn" data-variant="outline" href={`${path}/rules`}>
            <Icon name="pencil" /> Change rules
          </a>
        </div>
      ) : null}
    </Card>
  );
}

function RulesForm({ path, form }: { path: string; form: FormState }) {
  return (
    <>
      <PageHead
        back={{ href: path, label: 'Recipients' }}
        title="Rules for recipients"
        lead="They apply in live mode. A shorter wait applies to destinations that are set from now on."
      />
      <Card>
        <form method="post" action={`${path}/rules`} class="stack">
          <ChangeFields change={ruleRecipients} form={form} />
          <FormActions submit="Save rules" cancel={path} />
        </form>
      </Card>
    </>
  );
}
