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
import { SECOND_PERSON_GUARDS } from './second-person';
import { SECRET_GUARDS } from './secrets';
import { WALLET_GUARDS } from './wallet';
import { WEBHOOK_GUARDS } from './webhooks';

export interface GuardGroup {
  title: string;
  /** In this folder. */
  file: string;
  guards: readonly Guard[];
}

export const GUARD_GROUPS: readonly GuardGroup[] = [
  { title: 'The ledger and what the database refuses', file: 'ledger.ts', guards: LEDGER_GUARDS },
  { title: 'Payouts and payments', file: 'money.ts', guards: MONEY_GUARDS },
  { title: 'Limits, batches and refunds', file: 'limits.ts', guards: LIMIT_GUARDS },
  { title: 'Recipients and the second person', file: 'recipients.ts', guards: RECIPIENT_GUARDS },
  {
    title: 'Who is one person, and what one person moves alone',
    file: 'second-person.ts',
    guards: SECOND_PERSON_GUARDS,
  },
  { title: 'Conditions of payouts', file: 'conditions.ts', guards: CONDITION_GUARDS },
  { title: 'Schedules of payouts', file: 'schedules.ts', guards: SCHEDULE_GUARDS },
  { title: 'Screening', file: 'screening.ts', guards: SCREENING_GUARDS },
  { title: 'Requests of the API', file: 'requests.ts', guards: REQUEST_GUARDS },
  { title: 'Dashboard and console', file: 'pages.ts', guards: PAGE_GUARDS },
  { title: 'Mails and notifications', file: 'messages.ts', guards: MESSAGE_GUARDS },
  { title: 'Callbacks of providers', file: 'callbacks.ts', guards: CALLBACK_GUARDS },
  { title: 'Webhooks', file: 'webhooks.ts', guards: WEBHOOK_GUARDS },
  { title: 'Secrets and settings', file: 'secrets.ts', guards: SECRET_GUARDS },
  { title: 'The wallet', file: 'wallet.ts', guards: WALLET_GUARDS },
];

export const GUARDS: readonly Guard[] = GUARD_GROUPS.flatMap(({ guards }) => guards);

/** Markdown: for each group, its tests and the guards whose removal each of them notices. */
export function drawGuards(): string {
  return GUARD_GROUPS.map(
    ({ title, file, guards }) =>
      `### ${title}\n\n${guards.length} guards, in \`test/guards/table/${file}\`.\n\n${drawTable(guards)}`,
  ).join('\n\n');
}

function drawTable(guards: readonly Guard[]): string {
  const byTest = new Map<string, string[]>();
  for (const { name, test } of guards) byTest.set(test, [...(byTest.get(test) ?? []), name]);
  const lines = [...byTest].map(
    ([test, names]) => `| \`${test}\` | ${names.map((name) => `\`${name}\``).join(', ')} |`,
  );
  return ['| Test | Guards that it needs |', '| --- | --- |', ...lines].join('\n');
}
