/**
 * What can happen to a transfer, as data. A destination from the table, or an amount whose last
 * four decimals are a scenario's code, selects the scenario; the destination takes precedence.
 * docs/sandbox.md has the same table, and a test compares the two.
 */
import { lastFourDecimals } from '../decimal-text';
import { MAGIC_ADDRESSES, type AddressFamily } from './magic-addresses';

export type ScenarioName = keyof typeof MAGIC_ADDRESSES;

/** A failure instead of an answer to a submission. */
export interface SubmissionFault {
  kind: 'hang' | 'error_500' | 'reset';
  /** Whether the transfer is in the book all the same. */
  recorded: boolean;
  /** How many submissions of one reference meet it; `several` is the setting errorSubmissions. */
  submissions: 'first' | 'several';
}

export interface OutcomeStep {
  status: 'sent' | 'failed';
  /**
   * Which setting says how long after the step before. `slow_after_read`: after somebody read the
   * status that the step before made, so that a client under load cannot miss it.
   */
  after: 'settle' | 'slow' | 'slow_after_read';
}

export interface Scenario {
  /** The last four of eight decimals of an amount that selects it. */
  code: string;
  /** One line for people. */
  summary: string;
  submission: 'accept' | 'refuse';
  fault: SubmissionFault | null;
  outcome: readonly OutcomeStep[];
  callbacks: 'once' | 'none' | 'twice' | 'out_of_order' | 'forged_first';
}

const SENT_SOON: readonly OutcomeStep[] = [{ status: 'sent', after: 'settle' }];
const FAILED_SOON: readonly OutcomeStep[] = [{ status: 'failed', after: 'settle' }];

const PLAIN = {
  submission: 'accept',
  fault: null,
  outcome: SENT_SOON,
  callbacks: 'once',
} as const satisfies Omit<Scenario, 'code' | 'summary'>;

export const SCENARIOS: Record<ScenarioName, Scenario> = {
  sends: { ...PLAIN, code: '9000', summary: 'Accepted, then sent. The default.' },
  refuses: {
    ...PLAIN,
    code: '9001',
    summary: 'Refused at submission with a definite code; never sent.',
    submission: 'refuse',
    outcome: [],
  },
  fails_later: {
    ...PLAIN,
    code: '9002',
    summary: 'Accepted, then failed.',
    outcome: FAILED_SOON,
  },
  slow: {
    ...PLAIN,
    code: '9003',
    summary: 'Stays pending for SANDBOX_SLOW_MS, then sent.',
    outcome: [{ status: 'sent', after: 'slow' }],
  },
  timeout_after_accept: {
    ...PLAIN,
    code: '9004',
    summary: 'Recorded and sent, but the first submission is never answered.',
    fault: { kind: 'hang', recorded: true, submissions: 'first' },
  },
  timeout_before_accept: {
    ...PLAIN,
    code: '9005',
    summary: 'The first submission is never answered and nothing is recorded; a later one works.',
    fault: { kind: 'hang', recorded: false, submissions: 'first' },
  },
  error_5xx: {
    ...PLAIN,
    code: '9006',
    summary: 'The first two submissions answer 500 and nothing is recorded; a later one works.',
    fault: { kind: 'error_500', recorded: false, submissions: 'several' },
  },
  error_5xx_after_accept: {
    ...PLAIN,
    code: '9007',
    summary: 'Recorded and sent, but the first submission answers 500.',
    fault: { kind: 'error_500', recorded: true, submissions: 'first' },
  },
  connection_reset: {
    ...PLAIN,
    code: '9008',
    summary: 'Recorded and sent, but the connection of the first submission is reset.',
    fault: { kind: 'reset', recorded: true, submissions: 'first' },
  },
  callback_lost: {
    ...PLAIN,
    code: '9009',
    summary: 'Sent, without any callback.',
    callbacks: 'none',
  },
  callback_twice: {
    ...PLAIN,
    code: '9010',
    summary: 'Sent; the callback is delivered twice at the same time, then once more.',
    callbacks: 'twice',
  },
  callback_out_of_order: {
    ...PLAIN,
    code: '9011',
    summary: 'Sent; its callback arrives first, then the older one with status pending.',
    callbacks: 'out_of_order',
  },
  callback_forged: {
    ...PLAIN,
    code: '9012',
    summary:
      'Two forged callbacks claim success at once (a changed body, another secret); the transfer fails.',
    outcome: FAILED_SOON,
    callbacks: 'forged_first',
  },
  success_after_failure: {
    ...PLAIN,
    code: '9013',
    summary:
      'Failed; SANDBOX_SLOW_MS after that status is first read, sent after all. A callback for each.',
    outcome: [...FAILED_SOON, { status: 'sent', after: 'slow_after_read' }],
  },
  never_settles: {
    ...PLAIN,
    code: '9014',
    summary: 'Pending until a control endpoint settles or fails it.',
    outcome: [],
  },
};

export const SCENARIO_NAMES = Object.keys(SCENARIOS) as ScenarioName[];

/** `9000009001`: an exchange account's number that selects the scenario. */
export function magicExchangeId(name: ScenarioName): string {
  return `90000${SCENARIOS[name].code.padStart(5, '0')}`;
}

export function magicEmail(name: ScenarioName): string {
  return `${name}@sandbox.example`;
}

export function magicAddress(name: ScenarioName, family: AddressFamily): string {
  return MAGIC_ADDRESSES[name][family];
}

const BY_DESTINATION = new Map<string, ScenarioName>(
  SCENARIO_NAMES.flatMap((name) =>
    [...Object.values(MAGIC_ADDRESSES[name]), magicExchangeId(name), magicEmail(name)].map(
      (destination) => [destination, name] as const,
    ),
  ),
);
const BY_CODE = new Map(SCENARIO_NAMES.map((name) => [SCENARIOS[name].code, name] as const));

/** `amount` is a normalized one, with 8 decimals. */
export function chooseScenario(destination: string, amount: string): ScenarioName {
  return BY_DESTINATION.get(destination) ?? BY_CODE.get(lastFourDecimals(amount)) ?? 'sends';
}
