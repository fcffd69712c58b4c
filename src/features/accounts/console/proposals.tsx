/** Changes of policies that wait for another admin, on the pages of accounts and on the start page. */
import type { ConsoleServices } from '../../../shell/console/services';
import type { PolicyProposal } from '../policy-proposals';
import { changesOf } from '../../audit/pages/audit-log';
import { Alert, Card, Table, Time, words } from '../../../kit/pages/components';
import { Action } from '../../../kit/pages/forms';
import { redirect, signInAgain } from '../../../kit/pages/site';
import { type OperatorRoute, post, PREFIX } from '../../../kit/pages/operator-page';

export function proposalPages({ proposals }: ConsoleServices): OperatorRoute[] {
  return (['approve', 'reject'] as const).map((verb) =>
    post(`/proposals/:id/${verb}`, 'administer', async (visit) => {
      const account = visit.form.get('account') ?? '';
      const again = signInAgain(visit, accountPath(account));
      if (again !== null) return again;
      const changed = await proposals[verb](visit.by, visit.id);
      return redirect(accountPath(changed ?? ''));
    }),
  );
}

function accountPath(id: string): string {
  return /^\w+$/.test(id) ? `${PREFIX}/accounts/${id}` : `${PREFIX}/home`;
}

interface ProposalsProps {
  proposed: readonly PolicyProposal[];
  hasSecondAdmin: boolean;
  mayChange: boolean;
  /** Email address of the visitor. */
  me: string;
  showAccount: boolean;
}

export function Proposals({ proposed, mayChange, me, showAccount, ...rest }: ProposalsProps) {
  if (proposed.length === 0) return null;
  return (
    <>
      {mayChange && !rest.hasSecondAdmin ? <TwoAdmins hasSecondAdmin={false} /> : null}
      <Card title="Proposed changes" lead="Each applies when another admin approves it." flush>
        <Table
          caption="Proposed changes"
          rows={proposed}
          empty={null}
          columns={[
            {
              label: 'Change',
              cell: (proposal) => (
                <>
                  <b>{words(proposal.topic)}</b>
                  {showAccount ? (
                    <small>
                      <a href={accountPath(proposal.accountId ?? '')}>{proposal.accountName}</a>
                    </small>
                  ) : null}
                  {linesOf(proposal).map((line) => (
                    <small class="break">{line}</small>
                  ))}
                </>
              ),
            },
            {
              label: 'Proposed by',
              cell: ({ proposedBy, createdAt, expiresAt }) => (
                <>
                  <span class="break">{proposedBy}</span>
                  <small>
                    <Time at={createdAt} />
                  </small>
                  <small>
                    Expires <Time at={expiresAt} />
                  </small>
                </>
              ),
            },
            { label: 'Reason', cell: ({ reason }) => <span class="break">{reason}</span> },
            {
              label: 'Actions',
              right: true,
              cell: ({ id, accountId, proposedBy }) =>
                mayChange ? (
                  <ProposalVerbs
                    proposedBy={proposedBy}
                    me={me}
                    approve={`${PREFIX}/proposals/${id}/approve`}
                    reject={`${PREFIX}/proposals/${id}/reject`}
                    hidden={{ account: accountId ?? '' }}
                  />
                ) : null,
            },
          ]}
        />
      </Card>
    </>
  );
}

interface ProposalVerbsProps {
  proposedBy: string;
  /** Email address of the visitor. */
  me: string;
  /** The paths that the two forms are sent to. */
  approve: string;
  reject: string;
  hidden: Readonly<Record<string, string>>;
}

/** The buttons of a proposal. Nobody approves their own; the database refuses it too. */
export function ProposalVerbs({ proposedBy, me, approve, reject, hidden }: ProposalVerbsProps) {
  const isOwn = proposedBy.toLowerCase() === me.toLowerCase();
  return (
    <div class="actions">
      {isOwn ? (
        <small>Another admin must approve it.</small>
      ) : (
        <Action action={approve} label="Approve" variant="primary" hidden={hidden} />
      )}
      <Action action={reject} label={isOwn ? 'Withdraw' : 'Reject'} hidden={hidden} />
    </div>
  );
}

/**
 * The lines that would change. A fee rule starts when it is approved, so its start is left out. A maximum that
 * begins or ceases to follow the default shows by its amount.
 */
function linesOf({ wish, before, after }: PolicyProposal): string[] {
  if (wish.kind === 'fee_end') return ['The account’s own fee ends; the default applies.'];
  const lines = changesOf(before, after).filter((line) => !line.startsWith('Valid '));
  const amounts = lines.filter((line) => !line.startsWith('From default'));
  return amounts.length === 0 ? lines : amounts;
}

interface TwoAdminsProps {
  hasSecondAdmin: boolean;
  /** The commands that make the same change, as they follow `admin --`. */
  commands?: readonly string[];
}

const POLICY_COMMANDS = ['limits set --help', 'fees set --help', 'review set --help'];

export function TwoAdmins({ hasSecondAdmin, commands = POLICY_COMMANDS }: TwoAdminsProps) {
  if (hasSecondAdmin) {
    return <Alert tone="note" title="Another admin must approve this change." />;
  }
  return (
    <Alert tone="wait" title="You are the only admin, so nobody can approve this change.">
      <p>
        <a href={`${PREFIX}/people`}>Invite another admin</a>, or use the admin command on the
        server:
      </p>
      <pre>{commands.map((command) => `npm run -s admin -- ${command}`).join('\n')}</pre>
    </Alert>
  );
}
