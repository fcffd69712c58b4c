/** The people of an account or of the console: roles, removal, invitations, the second-factor rule. */
import {
  INVITATION_DAYS,
  MERCHANT,
  MERCHANT_CAPABILITIES,
  MERCHANT_ROLES,
  mayDo,
  OPERATOR_ROLES,
  type UserKind,
} from '../../../domain/users';
import { InvalidInput } from '../../../kit/service/refusal';
import type { Invitation, Person } from '../people';
import type { SignedIn } from '../../../kit/service/sessions';
import {
  Alert,
  Card,
  Empty,
  PageHead,
  Secret,
  Table,
  Time,
  words,
} from '../../../kit/pages/components';
import {
  Action,
  Confirm,
  draftForm,
  Field,
  FormActions,
  type FormState,
  Select,
} from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { get, page, post, redirect, type Route } from '../../../kit/pages/site';
import type { AccountPages } from './page-options';

const NAV = { nav: 'people' };

export function peoplePages(options: AccountPages): Route[] {
  const { site, users, once, publicUrl } = options;
  const path = `${site.prefix}/people`;
  const invitedPath = `${path}/invited`;
  const roles = site.kind === 'merchant' ? MERCHANT_ROLES : OPERATOR_ROLES;
  const manage = site.kind === 'merchant' ? 'manage' : 'administer';

  const inviteForm = (form: FormState, status = 200) => {
    const props = { path, kind: site.kind, roles, form, isMailed: users.sendsMail };
    return page('Invite a person', <Invite {...props} />, { ...NAV, status });
  };

  return [
    get('/people', 'read', async ({ session, query }) => {
      const mayManage = mayDo(session.actor, manage);
      const [people, invitations, isRequired] = await Promise.all([
        users.people.list(session),
        mayManage ? users.people.invitations(session) : [],
        users.factors.isRequired(session),
      ]);
      const { kind } = site;
      const props = {
        path,
        kind,
        people,
        invitations,
        isRequired,
        roles,
        mayManage,
        me: session,
        notice: query.has('invited') ? MAILED[kind] : query.has('again') ? MAILED_AGAIN : null,
        sendsMail: users.sendsMail,
        hasSingleSignOn: options.singleSignOn !== null,
      };
      return page('People', <People {...props} />, NAV);
    }),
    get('/people/invite', { needs: manage, recent: true }, (visit) => inviteForm(draftForm(visit))),
    post('/people/invite', { cost: 'delivery', needs: manage, recent: true }, async (visit) => {
      const { form, session } = visit;
      const wish = { email: form.get('email') ?? '', role: form.get('role') ?? '' };
      try {
        const { token } = await users.people.invite(session, wish);
        if (users.sendsMail) return redirect(`${path}?invited`);
        const link = `${publicUrl}${site.prefix}/invitation?token=${token}`;
        return redirect(invitedPath, [once.keep(visit, invitedPath, link)]);
      } catch (error) {
        if (!(error instanceof InvalidInput)) throw error;
        const errors = { [error.field]: error.message };
        return inviteForm({ values: form, errors }, 422);
      }
    }),
    get('/people/invited', manage, (visit) => {
      const taken = once.take(visit);
      if (taken === null) return redirect(path);
      const body = <Invited link={taken.secret} path={path} kind={site.kind} />;
      return page('Invitation', body, { ...NAV, cookies: [taken.cookie] });
    }),
    post('/people/invitations/:id/revoke', manage, async ({ session, id }) => {
      await users.people.revoke(session, id);
      return redirect(path);
    }),
    post(
      '/people/invitations/:id/send',
      { cost: 'delivery', needs: manage, recent: true },
      async ({ session, id }) => {
        await users.people.sendAgain(session, id);
        return redirect(`${path}?again`);
      },
    ),
    post('/people/:id/role', { needs: manage, recent: true }, async ({ session, id, form }) => {
      await users.people.changeRole(session, id, form.get('role') ?? '');
      return redirect(path);
    }),
    ...(site.kind === 'operator' ? secondAdminRoutes(users, path) : []),
    post('/people/:id/remove', { needs: manage, recent: true }, async ({ session, id }) => {
      await users.people.remove(session, id);
      return redirect(path);
    }),
    post('/people/second-factor', { needs: manage, recent: true }, async ({ session, form }) => {
      await users.factors.require(session, form.get('required') === 'yes');
      return redirect(path);
    }),
  ];
}

/** What one admin proposes about an operator, and another one approves. */
function secondAdminRoutes({ people }: AccountPages['users'], path: string): Route[] {
  const route = (under: string, work: (session: SignedIn, id: string) => Promise<void>): Route =>
    post(`/people/${under}`, { needs: 'administer', recent: true }, async ({ session, id }) => {
      await work(session, id);
      return redirect(path);
    });
  return [
    route('invitations/:id/approve', (session, id) => people.approve(session, id)),
    route(':id/role/approve', (session, id) => people.approveRole(session, id)),
    route(':id/role/reject', (session, id) => people.rejectRole(session, id)),
  ];
}

interface PeopleProps {
  path: string;
  kind: UserKind;
  people: Person[];
  invitations: Invitation[];
  isRequired: boolean;
  roles: readonly string[];
  mayManage: boolean;
  me: SignedIn;
  /** The page follows an invitation by mail. */
  notice: string | null;
  sendsMail: boolean;
  /** The groups at a provider decide about roles. */
  hasSingleSignOn: boolean;
}

function People(props: PeopleProps) {
  const { path, kind, people, invitations, isRequired, roles, mayManage, me } = props;
  const { notice, sendsMail, hasSingleSignOn } = props;
  return (
    <>
      <PageHead title="People" lead="The people who can sign in here, and what they may do.">
        {mayManage ? (
          <a class="btn" href={`${path}/invite`}>
            <Icon name="plus" /> Invite
          </a>
        ) : null}
      </PageHead>
      {notice === null ? null : <Alert tone="good" title={notice} />}
      <Card flush>
        <Table
          caption="People"
          rows={people}
          empty={<Empty icon="users" title="No people" />}
          columns={[
            {
              label: 'Person',
              cell: ({ userId, email, name }) => (
                <div class="person">
                  {name === '' ? email : name} {userId === me.userId ? <small>You</small> : null}
                  {name === '' ? null : <div class="muted">{email}</div>}
                </div>
              ),
            },
            {
              label: 'Role',
              cell: (person) =>
                hasSingleSignOn && person.byDirectory ? (
                  <>
                    {words(person.role)} <small>From single sign-on</small>
                  </>
                ) : mayManage ? (
                  <>
                    <RoleForm path={path} person={person} roles={roles} />
                    <Proposed path={path} person={person} me={me} />
                  </>
                ) : (
                  words(person.role)
                ),
            },
            {
              label: 'Two-step verification',
              wide: true,
              cell: ({ hasSecondFactor }) => (hasSecondFactor ? 'Yes' : 'No'),
            },
            {
              label: 'Last sign-in',
              wide: true,
              cell: ({ lastSignInAt }) =>
                lastSignInAt === null ? (
                  <span class="muted">Never</span>
                ) : (
                  <Time at={lastSignInAt} />
                ),
            },
            ...(mayManage
              ? [
                  {
                    label: 'Actions',
                    right: true,
                    cell: ({ userId, email }: Person) => (
                      <Confirm
                        action={`${path}/${userId}/remove`}
                        label="Remove"
                        icon="trash-2"
                        effect={`All sessions of ${email} here end at once.`}
                        confirm="Remove this person"
                      />
                    ),
                  },
                ]
              : []),
          ]}
        />
      </Card>
      {kind === 'merchant' ? <Roles /> : null}
      {mayManage ? (
        <>
          <Invitations
            path={path}
            kind={kind}
            invitations={invitations}
            me={me}
            sendsMail={sendsMail}
          />
          <Policy path={path} isRequired={isRequired} people={people} me={me} />
        </>
      ) : null}
    </>
  );
}

const MAILED = {
  merchant: `The invitation is sent by email. It works once, for ${INVITATION_DAYS} days.`,
  operator: 'The invitation is sent by email as soon as another admin has approved it.',
} as const;

const MAILED_AGAIN =
  'The invitation is sent again by email, with a new link. Links that were sent before no longer work.';

/** What each role of an account may do. */
function Roles() {
  const capabilities = Object.entries(MERCHANT_CAPABILITIES);
  return (
    <Card title="Roles" lead="What each role may do." flush>
      <Table
        caption="Roles"
        rows={capabilities}
        empty={null}
        columns={[
          { label: 'Capability', cell: ([, label]) => label },
          ...MERCHANT_ROLES.map((role) => ({
            label: words(role),
            cell: ([name]: (typeof capabilities)[number]) =>
              MERCHANT[role].some((one) => one === name) ? (
                <>
                  <Icon name="check" />
                  <span class="sr-only">Yes</span>
                </>
              ) : (
                <span class="sr-only">No</span>
              ),
          })),
        ]}
      />
    </Card>
  );
}

interface RoleFormProps {
  path: string;
  person: Person;
  roles: readonly string[];
}

function RoleForm({ path, person, roles }: RoleFormProps) {
  return (
    <form method="post" action={`${path}/${person.userId}/role`} class="inline">
      <select class="input native" name="role" aria-label={`Role of ${person.email}`}>
        {roles.map((role) => (
          <option value={role} selected={role === person.role}>
            {words(role)}
          </option>
        ))}
      </select>
      <button class="btn" data-variant="outline" data-size="sm">
        Change
      </button>
    </form>
  );
}

/** A higher role that waits for another admin. */
function Proposed({ path, person, me }: { path: string; person: Person; me: SignedIn }) {
  const { userId, proposal } = person;
  if (proposal === null) return null;
  const isOwn = proposal.proposedBy === me.email;
  return (
    <div class="inline">
      <small>
        {words(proposal.role)}, proposed by {isOwn ? 'you' : proposal.proposedBy}. Another admin
        must approve it.
      </small>
      {isOwn ? null : <Action action={`${path}/${userId}/role/approve`} label="Approve" />}
      <Action action={`${path}/${userId}/role/reject`} label={isOwn ? 'Withdraw' : 'Reject'} />
    </div>
  );
}

function Approval({
  path,
  invitation,
  me,
}: {
  path: string;
  invitation: Invitation;
  me: SignedIn;
}) {
  const { id, invitedBy, approvedBy } = invitation;
  if (approvedBy !== null) return <>Approved by {approvedBy}</>;
  if (invitedBy === me.email) return <>Another admin must approve it</>;
  return <Action action={`${path}/invitations/${id}/approve`} label="Approve" />;
}

function Invitations({
  path,
  kind,
  invitations,
  me,
  sendsMail,
}: Pick<PeopleProps, 'path' | 'kind' | 'invitations' | 'me' | 'sendsMail'>) {
  const maySend = ({ approvedBy, mail }: Invitation) =>
    sendsMail &&
    (kind === 'merchant' || approvedBy !== null) &&
    mail !== 'waiting' &&
    mail !== 'sending';
  return (
    <Card title="Open invitations" flush>
      <Table
        caption="Open invitations"
        rows={invitations}
        empty={<Empty icon="mail" title="No open invitations" />}
        columns={[
          { label: 'Email address', cell: ({ email }) => email },
          { label: 'Role', cell: ({ role }) => words(role) },
          { label: 'Invited by', wide: true, cell: ({ invitedBy }) => invitedBy },
          { label: 'Email', wide: true, cell: ({ mail }) => MAIL_STATUS[mail ?? 'none'] },
          ...(kind === 'operator'
            ? [
                {
                  label: 'Second admin',
                  cell: (invitation: Invitation) => (
                    <Approval path={path} invitation={invitation} me={me} />
                  ),
                },
              ]
            : []),
          { label: 'Expires', wide: true, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
          {
            label: 'Actions',
            right: true,
            cell: (invitation) => {
              const own = `${path}/invitations/${invitation.id}`;
              return (
                <>
                  {maySend(invitation) ? (
                    <Action action={`${own}/send`} label="Send again" />
                  ) : null}
                  <Action action={`${own}/revoke`} label="Revoke" />
                </>
              );
            },
          },
        ]}
      />
    </Card>
  );
}

const MAIL_STATUS = {
  none: 'None',
  waiting: 'Waiting',
  sending: 'Being sent',
  sent: 'Sent',
  refused: 'Refused. Check the address, revoke the invitation and create another one.',
  unclear: 'May have been sent. The mail server did not answer.',
  dropped: 'Not sent',
} as const;

/** The people who cannot sign in once the rule applies. */
function LockedOut({ people, me }: Pick<PeopleProps, 'people' | 'me'>) {
  const without = people.filter(({ hasSecondFactor }) => !hasSecondFactor);
  if (without.length === 0) return 'Everybody has two-step verification, so nobody is locked out.';
  const names = without.map(({ userId, email }) =>
    userId === me.userId ? `${email} (you)` : email,
  );
  return (
    <>
      From now on these people can do nothing here until they set one up:{' '}
      <b class="break">{names.join(', ')}</b>
    </>
  );
}

function Policy({
  path,
  isRequired,
  people,
  me,
}: Pick<PeopleProps, 'path' | 'isRequired' | 'people' | 'me'>) {
  return (
    <Card
      title="Two-step verification"
      lead={
        isRequired
          ? 'Everybody must use two-step verification. People without it can only set it up.'
          : 'Two-step verification is optional.'
      }
    >
      <div>
        {isRequired ? (
          <Action
            action={`${path}/second-factor`}
            label="Make it optional"
            icon="shield-check"
            hidden={{ required: 'no' }}
          />
        ) : (
          <Confirm
            action={`${path}/second-factor`}
            label="Require two-step verification"
            icon="shield-check"
            effect={<LockedOut people={people} me={me} />}
            confirm="Require it from everybody"
            hidden={{ required: 'yes' }}
          />
        )}
      </div>
    </Card>
  );
}

interface InviteProps {
  path: string;
  kind: UserKind;
  roles: readonly string[];
  form: FormState;
  isMailed: boolean;
}

const SECOND_ADMIN =
  'Another admin must approve the invitation on the page People before the link works. With one admin ' +
  'only, create the second one with the admin command on the server (users create).';

const BY_MAIL = `The person gets a link by email. It works once, for ${INVITATION_DAYS} days.`;

function Invite({ path, kind, roles, form, isMailed }: InviteProps) {
  return (
    <>
      <PageHead
        back={{ href: path, label: 'People' }}
        title="Invite a person"
        lead={
          isMailed
            ? BY_MAIL
            : `You get a link to hand over. It works once, for ${INVITATION_DAYS} days.`
        }
      />
      {kind === 'operator' ? <Alert tone="wait" title={SECOND_ADMIN} /> : null}
      <Card>
        <form method="post" action={`${path}/invite`} class="stack">
          <Field
            name="email"
            label="Email address"
            type="email"
            form={form}
            required
            autocomplete="off"
            maxLength={254}
          />
          <Select
            name="role"
            label="Role"
            form={form}
            // The role with the fewest rights comes first.
            options={[...roles].reverse().map((role) => [role, words(role)] as const)}
          />
          <FormActions submit="Create invitation" cancel={path} />
        </form>
      </Card>
    </>
  );
}

function Invited({ link, path, kind }: { link: string; path: string; kind: UserKind }) {
  return (
    <>
      <PageHead back={{ href: path, label: 'People' }} title="Invitation" />
      <Alert tone="good" title="Send this link to the person now. It is not shown again.">
        <Secret value={link} label="Copy link" />
      </Alert>
      {kind === 'operator' ? <Alert tone="wait" title={SECOND_ADMIN} /> : null}
    </>
  );
}
