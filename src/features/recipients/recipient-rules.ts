/**
 * The account's rules for live recipients: how long a new destination waits, and whether only recipients
 * are paid.
 */
import type { Owner } from '../../domain/mode';
import {
  findRecipientRules,
  listRecipients,
  lockRecipientRules,
  type RecipientRules,
  saveRecipientRules,
} from '../../db/recipients/recipients';
import type { Db } from '../../db/transaction';
import type { Recipient } from '../../domain/recipient';
import { AdminRefusal } from '../../kit/service/refusal';
import { Choice, Count, defineChange } from '../../kit/service/change';
import type { ListPosition } from '../../kit/service/services';

/** The longest wait in hours; zero means that a new destination can be paid at once. */
const WAIT_HOURS_MAX = 720;

export const ruleRecipients = defineChange({
  action: 'account.recipients',
  access: { needs: 'manage' },
  fields: {
    waitHours: Count(0, WAIT_HOURS_MAX, { label: 'Hours that a new destination waits' }),
    payTo: Choice(
      [
        ['anywhere', 'Any destination'],
        ['recipients', 'Saved recipients only'],
      ],
      { label: 'Live payouts to' },
    ),
  },
  run: async (tx, { accountId }: { accountId: string }, { waitHours, payTo }) => {
    const before = existing(accountId, await lockRecipientRules(tx, accountId));
    const after = { waitHours, only: payTo === 'recipients' };
    await saveRecipientRules(tx, accountId, after);
    return {
      result: presentRecipientRules(accountId, after),
      audit: {
        object: 'account',
        objectId: accountId,
        accountId,
        before: presentRecipientRules(accountId, before),
        after: presentRecipientRules(accountId, after),
      },
    };
  },
});

/** @throws AdminRefusal when the account does not exist */
export async function requireRecipientRules(db: Db, accountId: string): Promise<RecipientRules> {
  return existing(accountId, await findRecipientRules(db, accountId));
}

function existing(id: string, rules: RecipientRules | null): RecipientRules {
  if (rules === null) throw new AdminRefusal({ code: 'not_found', object: 'account', id });
  return rules;
}

/** Lists an account's recipients for operators, newest first. */
export async function listAccountRecipients(
  db: Db,
  owner: Owner,
  limit: number,
): Promise<Recipient[]> {
  const { items } = await listRecipients(db, { ...owner, limit, after: null, filters: {} });
  return items;
}

/** The services of the console's page of recipients. */
export function createConsoleRecipients(db: Db) {
  return {
    /** @throws AdminRefusal */
    rules: (accountId: string) => requireRecipientRules(db, accountId),
    list: (owner: Owner, position: { limit: number; after: ListPosition | null }) =>
      listRecipients(db, { ...owner, ...position, filters: {} }),
  };
}

export function presentRecipientRules(accountId: string, { waitHours, only }: RecipientRules) {
  return {
    object: 'recipient_rules',
    account_id: accountId,
    wait_hours: waitHours,
    pay_to: only ? 'recipients' : 'anywhere',
  };
}
