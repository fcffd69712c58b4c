/** Guards of mails with links, and of notifications. */
import type { Guard } from '../guard';

const RESETS = 'src/services/users/password-resets.ts';
const LINK_MAILS = 'src/db/repositories/link-mails.ts';
const LINK_MAILS_SQL = 'src/db/migrations/0065-link-mails.ts';
const PEOPLE = 'src/services/users/people.ts';
const TEST = 'test/db/link-mails.test.ts';
const ONCE = 'a link works once, ends all sessions and the other links, and signs nobody in';
const OPEN = 'a link does not work after 30 minutes, on the other site';
const FACTOR = 'who has a second factor proves it before the new password, and keeps it';
const BINDING = 'a reset proves the address of an invited user who has no second factor';
const SAME = 'asking for a new password does and answers the same for every address';
const LIMITS = 'an address gets three links in an hour, and a network asks for ten';

export const MESSAGE_GUARDS: readonly Guard[] = [
  {
    name: 'reset-once',
    protects: 'The link for a new password works once, also at the same time.',
    file: LINK_MAILS,
    find: 'WHERE id = ? AND ${OPEN} RETURNING id',
    replace: 'WHERE id = ? RETURNING id',
    test: TEST,
    title: ONCE,
  },
  {
    name: 'reset-open',
    protects: 'The link for a new password does not work after 30 minutes.',
    file: LINK_MAILS,
    find: "const OPEN = 'invitation_id IS NULL AND used_at IS NULL AND expires_at > now()';",
    replace: "const OPEN = 'true';",
    test: TEST,
    title: OPEN,
  },
  {
    name: 'reset-of-one-site',
    protects: 'The link of the dashboard does not work at the console.',
    file: LINK_MAILS,
    find: 'WHERE kind = ? AND token_hash = ? AND ${OPEN}',
    replace: 'WHERE ?::text IS NOT NULL AND token_hash = ? AND ${OPEN}',
    test: TEST,
    title: OPEN,
  },
  {
    name: 'reset-ends-other-links',
    protects: 'A new password ends the other links of the address.',
    file: LINK_MAILS,
    find: 'AND lower(email) = lower(?) AND id <> ? AND ${OPEN}',
    replace: 'AND lower(email) = lower(?) AND id = ? AND ${OPEN}',
    test: TEST,
    title: ONCE,
  },
  {
    name: 'reset-ends-sessions',
    protects: 'A new password ends all sessions of the person.',
    file: RESETS,
    find: 'await revokeSessions(tx, before.id, null);',
    replace: '',
    test: TEST,
    title: ONCE,
  },
  {
    name: 'reset-second-factor',
    protects: 'Who has a second factor proves it before the password changes.',
    file: RESETS,
    find: "if (!reset.isProved) return 'second_step';",
    replace: '',
    test: TEST,
    title: FACTOR,
  },
  {
    name: 'reset-proof-of-one-link',
    protects: 'The proof of a second factor is for one link and one person.',
    file: RESETS,
    find: '(proved?.[0] === reset.id && proved[1] === user.id)',
    replace: 'proved !== null',
    test: TEST,
    title: FACTOR,
  },
  {
    name: 'reset-keeps-disabled',
    protects: 'No new password brings a disabled user back.',
    file: RESETS,
    find: 'if (reset === null || user === null || user.disabledAt !== null) return null;',
    replace: 'if (reset === null || user === null) return null;',
    also: {
      find: "if (before === null || before.disabledAt !== null) throw new NotNow('gone');",
      replace: "if (before === null) throw new NotNow('gone');",
    },
    test: TEST,
    title: 'a disabled operator stays disabled',
  },
  {
    name: 'reset-not-to-disabled',
    protects: 'A disabled user gets no link for a new password.',
    file: LINK_MAILS_SQL,
    find: 'AND u.disabled_at IS NULL\n',
    replace: '\n',
    test: TEST,
    title: SAME,
  },
  {
    name: 'reset-to-own-address',
    protects: 'A link goes to the address of the user, not to what somebody typed.',
    file: LINK_MAILS_SQL,
    find: 'SELECT u.email INTO v_to FROM users u',
    replace: 'SELECT v_mail.email INTO v_to FROM users u',
    test: TEST,
    title: SAME,
  },
  {
    name: 'reset-proves-without-factor',
    protects:
      'A new password confirms no address while there is a second factor, which another person may have set up.',
    file: RESETS,
    find: 'if (!totp && passkeys === 0) await saveVouched(tx, before.id);',
    replace: 'await saveVouched(tx, before.id);',
    test: TEST,
    title: BINDING,
  },
  {
    name: 'reset-limit-of-address',
    protects: 'An address gets three links for a new password in an hour.',
    file: RESETS,
    find: 'if (ofEmail < OF_EMAIL_MAX) await',
    replace: 'await',
    test: TEST,
    title: LIMITS,
  },
  {
    name: 'reset-limit-of-network',
    protects: 'A network asks for ten links for a new password in an hour.',
    file: RESETS,
    find: 'if (ofNetwork >= OF_NETWORK_MAX) return false;',
    replace: '',
    test: TEST,
    title: LIMITS,
  },
  {
    name: 'reset-limit-at-once',
    protects: 'Requests for a new password at the same time count each other.',
    file: RESETS,
    find: "await lockByName(tx, 'password resets');",
    replace: '',
    test: TEST,
    title: LIMITS,
  },
  {
    name: 'handed-link-proves-nothing',
    protects: 'A link that somebody handed over proves no address.',
    file: PEOPLE,
    find: 'boundAccountId: invitation.mailedAt === null ? invitation.accountId : null,',
    replace: 'boundAccountId: null,',
    test: TEST,
    title: 'without a mail server a link is handed over, and proves nothing',
  },
  {
    name: 'operator-mail-after-approval',
    protects: 'An operator’s invitation is mailed after another admin has approved it.',
    file: PEOPLE,
    find: "if (sendsMail && team.kind === 'merchant') {",
    replace: 'if (sendsMail) {',
    test: TEST,
    title: 'an operator’s invitation is mailed when another admin has approved it',
  },
  {
    name: 'revoked-invitation-not-mailed',
    protects: 'An invitation that was revoked is not mailed any more.',
    file: LINK_MAILS_SQL,
    find: 'AND i.accepted_at IS NULL AND i.revoked_at IS NULL',
    replace: '',
    test: TEST,
    title: 'an invitation that was revoked before its mail is not sent',
  },
  {
    name: 'message-sent-once',
    protects: 'A message that a worker may have sent before it died is given up as unclear.',
    file: 'activities/notifications/once.ts',
    find: "if (status === 'sending') {",
    replace: "if (status === 'sent') {",
    also: {
      find: "if (status !== 'waiting') return status;",
      replace: "if (status !== 'waiting' && status !== 'sending') return status;",
    },
    test: 'test/db/notifications.test.ts',
    title: 'a call that follows one that died while it sent does not send again',
  },
];
