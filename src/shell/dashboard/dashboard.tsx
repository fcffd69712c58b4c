/**
 * The merchant dashboard under /dashboard. Each page is a folder with its routes; this file lists
 * them and puts the navigation around them.
 */
import type { Mode } from '../../domain/mode';
import { mayDo } from '../../domain/users';
import type { Chats } from '../../features/notifications/chats';
import type { DashboardServices } from './services';
import type { RefundAddresses } from '../../features/payments/refund-addresses';
import type { UserServices } from '../user-services';
import { accountNavigation, accountPages } from '../account-pages';
import { ModeBanner } from '../../kit/pages/components';
import { document, type NavEntry, type Shell } from '../../kit/pages/layout';
import type { Once } from '../../kit/pages/once';
import type { Site } from '../../kit/pages/site';
import type { Visit } from '../../kit/pages/visit';
import { logoPages } from '../../features/accounts/dashboard/logo';
import { auditPages } from '../../features/audit/dashboard/audit';
import { batchPages } from '../../features/payout-batches/dashboard/batches';
import { chatPages } from '../../features/notifications/dashboard/chats';
import { exportPages } from '../../features/books/dashboard/exports';
import { homePages } from './home';
import { lowBalancePages } from '../../features/books/dashboard/low-balances';
import { paymentLinkPages } from '../../features/payments/dashboard/payment-links';
import { payPages } from '../../features/payments/pages/pay';
import { createPaymentLinks } from '../../features/payments/payment-links';
import { paymentPages } from '../../features/payments/dashboard/payments';
import { payoutPages } from '../../features/payouts/dashboard/payouts';
import { schedulePages } from '../../features/payout-schedules/dashboard/schedules';
import { refundAddressPages } from '../../features/payments/pages/refund-address';
import { refundPages } from '../../features/payments/dashboard/refunds';
import { recipientPages } from '../../features/recipients/dashboard/recipients';
import { requestPages } from '../../features/request-log/dashboard/requests';
import { approvalPages } from '../../features/approvals/dashboard/approvals';
import { secondPersonPages } from '../../features/approvals/dashboard/second-person';
import { statementPages } from '../../features/books/dashboard/statements';
import { SEARCH_LABEL, searchPages } from './search';
import { transactionPages } from '../../features/books/dashboard/transactions';
import { keyPages } from '../../features/api-keys/dashboard/keys';
import { debuggerPages } from '../../features/webhooks/dashboard/debugger';
import { deliveryPages } from '../../features/webhooks/dashboard/deliveries';
import { endpointPages } from '../../features/webhooks/dashboard/endpoints';
import { merchantRoute, modeOf, PREFIX } from '../../kit/pages/merchant-page';

interface DashboardOptions {
  services: DashboardServices;
  users: UserServices;
  refundAddresses: RefundAddresses;
  chats: Chats;
  once: Once;
  drafts: Once;
  /** The URL of this site. */
  publicUrl: string;
  /** Served on this host only; null means on every host. */
  host: string | null;
}

export function createDashboard({
  services,
  users,
  refundAddresses,
  chats,
  once,
  drafts,
  publicUrl,
  host,
}: DashboardOptions): Site {
  const links = createPaymentLinks(services);
  const site = { kind: 'merchant', prefix: PREFIX, home: `${PREFIX}/test` } as const;
  return {
    ...site,
    host,
    drafts,
    signIn: `${PREFIX}/sign-in`,
    document: (page, visit) => document(page, visit, shellOf(visit)),
    readSession: (token, address) => users.sessions.read('merchant', token, address),
    sessionOwner: (token) => users.sessions.ownerOf('merchant', token),
    routes: [
      ...accountPages({
        ...{ site, product: 'Merchant dashboard', users, once, publicUrl },
        singleSignOn: null,
      }),
      ...refundAddressPages(refundAddresses),
      ...payPages(links),
      ...[
        homePages(services),
        paymentPages(services),
        paymentLinkPages({ services, links, publicUrl }),
        logoPages(services),
        payoutPages(services),
        batchPages(services),
        schedulePages(services),
        refundPages({ services, once, publicUrl }),
        recipientPages(services),
        secondPersonPages(services),
        approvalPages(services),
        lowBalancePages(services),
        chatPages(chats, once),
        transactionPages(services),
        keyPages(services, once),
        statementPages(services, publicUrl),
        exportPages(services),
        requestPages(services),
        debuggerPages(services),
        deliveryPages(services),
        endpointPages(services, once),
        searchPages(services),
        auditPages(services),
      ]
        .flat()
        .map(merchantRoute),
    ],
  };
}

function shellOf(visit: Visit): Shell {
  const mode = modeOf(visit.path.split('/')[2]);
  const base = `${PREFIX}/${mode ?? 'test'}`;
  const actor = visit.session?.actor;
  return {
    product: 'Dashboard',
    home: base,
    owner: actor?.kind === 'merchant' ? actor.accountName : 'Payments gateway',
    nav: navigation(
      base,
      actor !== undefined && mayDo(actor, 'manage'),
      visit.session?.accounts ?? 1,
    ),
    banner: mode === null ? null : <ModeBanner mode={mode} switchTo={otherMode(visit, mode)} />,
    search: { action: `${base}/search`, label: SEARCH_LABEL },
    account: `${PREFIX}/security`,
    signOut: `${PREFIX}/sign-out`,
  };
}

/** The list of the same page in the other mode; an object exists in one mode only. */
function otherMode({ path }: Visit, mode: Mode): string {
  const [, , , list] = path.split('/');
  const other = mode === 'test' ? 'live' : 'test';
  // These pages have no list of their own.
  const isHome = list === undefined || list === 'search' || list === 'balances';
  return `${PREFIX}/${other}${isHome ? '' : `/${list}`}`;
}

function ownerEntries(base: string): NavEntry[] {
  return [
    {
      key: 'second-person',
      href: `${base}/second-person`,
      label: 'Two-person approval',
      icon: 'users',
    },
    { key: 'audit', href: `${base}/audit-log`, label: 'Audit log', icon: 'scroll-text' },
  ];
}

function navigation(base: string, isOwner: boolean, accounts: number): Shell['nav'] {
  return [
    {
      label: null,
      entries: [
        { key: 'home', href: base, label: 'Home', icon: 'house' },
        { key: 'payments', href: `${base}/payments`, label: 'Payments', icon: 'arrow-down-left' },
        {
          key: 'payment-links',
          href: `${base}/payment-links`,
          label: 'Payment links',
          icon: 'link',
        },
        { key: 'refunds', href: `${base}/refunds`, label: 'Refunds', icon: 'undo-2' },
        { key: 'payouts', href: `${base}/payouts`, label: 'Payouts', icon: 'arrow-up-right' },
        { key: 'batches', href: `${base}/batches`, label: 'Batches', icon: 'layers' },
        {
          key: 'schedules',
          href: `${base}/schedules`,
          label: 'Schedules',
          icon: 'calendar-clock',
        },
        {
          key: 'recipients',
          href: `${base}/recipients`,
          label: 'Recipients',
          icon: 'contact',
        },
        { key: 'approvals', href: `${base}/approvals`, label: 'Approvals', icon: 'user-check' },
        { key: 'transactions', href: `${base}/transactions`, label: 'Transactions', icon: 'list' },
        { key: 'statements', href: `${base}/statements`, label: 'Statements', icon: 'file-text' },
        { key: 'exports', href: `${base}/exports`, label: 'Exports', icon: 'download' },
      ],
    },
    {
      label: 'Developers',
      entries: [
        { key: 'keys', href: `${base}/keys`, label: 'API keys', icon: 'key-round' },
        { key: 'webhooks', href: `${base}/webhooks`, label: 'Webhooks', icon: 'webhook' },
        { key: 'requests', href: `${base}/requests`, label: 'Request log', icon: 'scroll-text' },
        { key: 'docs', href: '/docs', label: 'API reference', icon: 'book-open' },
      ],
    },
    {
      label: 'Settings',
      entries: [...(isOwner ? ownerEntries(base) : []), ...accountNavigation(PREFIX, accounts)],
    },
  ];
}
