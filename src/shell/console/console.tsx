/**
 * The operator console under /console. Each page is a folder with its routes; this file lists them
 * and puts the navigation around them.
 */
import type { VNode } from 'preact';
import type { BatchReviews } from '../../features/payout-batches/batch-reviews';
import type { Chats } from '../../features/notifications/chats';
import type { ConsoleServices } from './services';
import { listShownPauses } from '../../features/accounts/payout-pauses';
import type { PayoutReviews } from '../../features/payouts/payout-reviews';
import type { PayoutBeneficiaries } from '../../features/payouts/payout-beneficiaries';
import type { PayoutScreenings } from '../../features/payouts/payout-screenings';
import type { SingleSignOn } from '../../features/people/single-sign-on';
import type { UserServices } from '../user-services';
import { accountNavigation, accountPages } from '../account-pages';
import { Time } from '../../kit/pages/components';
import { document, type Shell } from '../../kit/pages/layout';
import type { Once } from '../../kit/pages/once';
import type { Site } from '../../kit/pages/site';
import type { WorkflowUrl } from '../../kit/pages/workflow-link';
import { recipientPages } from '../../features/recipients/console/recipients';
import { merchantPages } from '../../features/accounts/console/accounts';
import { auditPages } from '../../features/audit/console/audit';
import { batchPages } from '../../features/payout-batches/console/batches';
import { casePages } from '../../features/cases/console/cases';
import { doubtPages } from '../../features/payouts/console/doubt';
import { fourEyesPages } from '../../features/accounts/console/four-eyes';
import { chatPages } from '../../features/notifications/console/chats';
import { homePages } from './home';
import { operationPages } from './operations';
import { operatorRoute, PREFIX } from '../../kit/pages/operator-page';
import { pausePages } from '../../features/accounts/console/pauses';
import { consolePaymentPages } from '../../features/payments/console/payments';
import { payoutPages } from '../../features/payouts/console/payouts';
import { proposalPages } from '../../features/accounts/console/proposals';
import { queuePages } from '../../features/payouts/console/queue';
import { schedulePages } from '../../features/payout-schedules/console/schedules';
import { SEARCH_LABEL, searchPages } from './search';

export interface ConsoleOptions {
  services: ConsoleServices;
  reviews: PayoutReviews;
  screenings: PayoutScreenings;
  beneficiaries: PayoutBeneficiaries;
  batches: BatchReviews;
  users: UserServices;
  singleSignOn: SingleSignOn | null;
  chats: Chats;
  once: Once;
  drafts: Once;
  /** The URL of this site. */
  publicUrl: string;
  /** The URL of the merchants' site. */
  dashboardUrl: string;
  workflowUrl: WorkflowUrl;
  /** Served on this host only; null means on every host. */
  host: string | null;
}

export function createConsole(options: ConsoleOptions): Site {
  const { services, reviews, screenings, beneficiaries, batches, users, singleSignOn } = options;
  const { chats, once } = options;
  const { drafts, publicUrl, workflowUrl, host } = options;
  const site = { kind: 'operator', prefix: PREFIX, home: `${PREFIX}/home` } as const;
  return {
    ...site,
    host,
    drafts,
    signIn: `${PREFIX}/sign-in`,
    document: async (shown, visit) =>
      document(
        shown,
        visit,
        shellOf(visit.session === null ? null : await banner(services, singleSignOn)),
      ),
    readSession: (token, address) => users.sessions.read('operator', token, address),
    sessionOwner: (token) => users.sessions.ownerOf('operator', token),
    routes: [
      ...accountPages({ site, product: 'Operator console', users, singleSignOn, once, publicUrl }),
      ...[
        homePages(services),
        searchPages(services),
        queuePages(reviews),
        payoutPages(reviews, screenings, beneficiaries, services, workflowUrl),
        batchPages(batches, workflowUrl),
        consolePaymentPages({ services, workflowUrl, once, dashboardUrl: options.dashboardUrl }),
        doubtPages(reviews, workflowUrl),
        casePages(services, workflowUrl),
        merchantPages(services),
        recipientPages(services),
        schedulePages(services),
        proposalPages(services),
        fourEyesPages(services),
        pausePages(services),
        operationPages(services, workflowUrl),
        auditPages(services),
        chatPages(chats, once),
      ]
        .flat()
        .map(operatorRoute),
    ],
  };
}

function shellOf(banner: VNode | null): Shell {
  return {
    product: 'Operator console',
    home: `${PREFIX}/home`,
    owner: 'Operations',
    nav: NAVIGATION,
    banner,
    search: { action: `${PREFIX}/search`, label: SEARCH_LABEL },
    account: `${PREFIX}/security`,
    signOut: `${PREFIX}/sign-out`,
  };
}

async function banner(services: ConsoleServices, singleSignOn: SingleSignOn | null) {
  const [pause, signIns] = await Promise.all([
    pauseBanner(services),
    singleSignOn?.breakGlass() ?? [],
  ]);
  return (
    <>
      {pause}
      {signIns.length === 0 ? null : <BreakGlass signIns={signIns} />}
    </>
  );
}

/** The note about break-glass sign-ins, which everybody sees as long as such a session may last. */
function BreakGlass({ signIns }: { signIns: readonly { email: string; at: Date }[] }) {
  return (
    <p class="mode" data-mode="test">
      <b>Break-glass sign-in</b>{' '}
      {signIns.map(({ email, at }, index) => (
        <>
          {index === 0 ? '' : ', '}
          {email} <Time at={at} />
        </>
      ))}{' '}
      <a href={`${PREFIX}/audit-log?action=user.break_glass_sign_in`}>Show</a>
    </p>
  );
}

/** The pause is on every page, because a forgotten one holds the money of all merchants. */
async function pauseBanner({ db }: ConsoleServices): Promise<VNode | null> {
  const held = await listShownPauses(db);
  const [first] = held;
  if (first === undefined) return null;
  const everything = held.filter(({ scope }) => scope === 'global');
  // A pause of both modes is shown before one of live payouts.
  const widest =
    everything.find(({ mode }) => mode === null) ??
    everything.find(({ mode }) => mode === 'live') ??
    everything[0];
  const what =
    widest === undefined
      ? `${held.length} ${held.length === 1 ? 'pause holds' : 'pauses hold'} payouts`
      : `All ${widest.mode === null ? '' : `${widest.mode} `}payouts are paused`;
  return (
    <p class="mode" data-mode="test">
      <b>{what}</b> {(widest ?? first).reason} <a href={`${PREFIX}/pauses`}>Show</a>
    </p>
  );
}

const NAVIGATION: Shell['nav'] = [
  {
    label: null,
    entries: [
      { key: 'home', href: `${PREFIX}/home`, label: 'Home', icon: 'house' },
      { key: 'queue', href: `${PREFIX}/queue`, label: 'Review queue', icon: 'clipboard-check' },
      { key: 'payouts', href: `${PREFIX}/payouts`, label: 'Payouts', icon: 'arrow-up-right' },
      { key: 'batches', href: `${PREFIX}/batches`, label: 'Batches', icon: 'layers' },
      { key: 'in-doubt', href: `${PREFIX}/in-doubt`, label: 'In doubt', icon: 'circle-help' },
      { key: 'payments', href: `${PREFIX}/payments`, label: 'Payments', icon: 'arrow-down-left' },
      { key: 'cases', href: `${PREFIX}/cases`, label: 'Cases', icon: 'folder-search' },
    ],
  },
  {
    label: 'Supervision',
    entries: [
      { key: 'accounts', href: `${PREFIX}/accounts`, label: 'Accounts', icon: 'building-2' },
      { key: 'pauses', href: `${PREFIX}/pauses`, label: 'Pauses', icon: 'circle-pause' },
      { key: 'operations', href: `${PREFIX}/operations`, label: 'Operations', icon: 'activity' },
      { key: 'audit', href: `${PREFIX}/audit-log`, label: 'Audit log', icon: 'scroll-text' },
    ],
  },
  {
    label: 'Settings',
    entries: accountNavigation(PREFIX),
  },
];
