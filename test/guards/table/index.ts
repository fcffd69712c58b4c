/** Every guard of the list. docs/guards.md shows it, test/unit/guards.test.ts checks that it is true. */
import type { Guard } from '../guard';
import { CALLBACK_GUARDS } from './callbacks';
import { CONDITION_GUARDS } from './conditions';
import { LEDGER_GUARDS } from './ledger';
import { LIMIT_GUARDS } from './limits';
import { MESSAGE_GUARDS } from './messages';
import { MONEY_GUARDS } from './money';
import { PAGE_GUARDS } from './pages';
import { RECIPIENT_GUARDS } from './recipients';
import { REQUEST_GUARDS } from './requests';
import { SCHEDULE_GUARDS } from './schedules';
import { SCREENING_GUARDS } from './screening';
import { SECRET_GUARDS } from './secrets';
import { WALLET_GUARDS } from './wallet';
import { WEBHOOK_GUARDS } from './webhooks';

export interface GuardGroup {
  title: string;
  guards: readonly Guard[];
}

export const GUARD_GROUPS: readonly GuardGroup[] = [
  { title: 'The ledger and what the database refuses', guards: LEDGER_GUARDS },
  { title: 'Payouts and payments', guards: MONEY_GUARDS },
  { title: 'Limits, batches and refunds', guards: LIMIT_GUARDS },
  { title: 'Recipients and the second person', guards: RECIPIENT_GUARDS },
  { title: 'Conditions of payouts', guards: CONDITION_GUARDS },
  { title: 'Schedules of payouts', guards: SCHEDULE_GUARDS },
  { title: 'Screening', guards: SCREENING_GUARDS },
  { title: 'Requests of the API', guards: REQUEST_GUARDS },
  { title: 'Dashboard and console', guards: PAGE_GUARDS },
  { title: 'Mails and notifications', guards: MESSAGE_GUARDS },
  { title: 'Callbacks of providers', guards: CALLBACK_GUARDS },
  { title: 'Webhooks', guards: WEBHOOK_GUARDS },
  { title: 'Secrets and settings', guards: SECRET_GUARDS },
  { title: 'The wallet', guards: WALLET_GUARDS },
];

export const GUARDS: readonly Guard[] = GUARD_GROUPS.flatMap(({ guards }) => guards);

/** Markdown: a table for each group. */
export function drawGuards(): string {
  return GUARD_GROUPS.map(({ title, guards }) => `### ${title}\n\n${drawTable(guards)}`).join(
    '\n\n',
  );
}

function drawTable(guards: readonly Guard[]): string {
  const lines = guards.map(({ name, protects, file, test, title }) => {
    const noticedBy = title === undefined ? `\`${test}\`` : `\`${test}\` “${cell(title)}”`;
    return `| \`${name}\` | ${cell(protects)} | \`${file}\` | ${noticedBy} |`;
  });
  const head = ['| Guard | What it protects | Where | Noticed by |', '| --- | --- | --- | --- |'];
  return [...head, ...lines].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
