/** The choice of notifications of the signed-in person, the same for both sites. */
import { type Actor, mayDo } from '../../../domain/users';
import type { NotificationChoice } from '../notification-choices';
import { Alert, Card, PageHead } from '../../../kit/pages/components';
import { Choices, EMPTY_FORM, FormActions } from '../../../kit/pages/forms';
import { get, page, post, redirect, type Route } from '../../../kit/pages/site';
import type { AccountPages } from './page-options';

export function notificationPages({ site, users }: AccountPages): Route[] {
  const path = `${site.prefix}/notifications`;
  return [
    get('/notifications', 'read', async ({ session, query }) =>
      page(
        'Notifications',
        <Notifications
          choices={await users.notifications.list(session)}
          path={path}
          home={site.home}
          saved={query.has('saved')}
          links={linksOf(site.prefix, session.actor)}
        />,
        { nav: 'notifications' },
      ),
    ),
    post('/notifications', 'read', async ({ session, form }) => {
      await users.notifications.save(session, form.getAll('kinds'));
      return redirect(`${path}?saved`);
    }),
  ];
}

type Link = readonly [href: string, label: string];

function linksOf(prefix: string, actor: Actor): Link[] {
  const chats = (path: string): Link => [`${prefix}${path}`, 'Chats'];
  if (actor.kind === 'operator') return mayDo(actor, 'administer') ? [chats('/chats')] : [];
  const amounts: Link = [`${prefix}/live/low-balances`, 'Amounts for low balances'];
  return [
    ...(mayDo(actor, 'keep_books') ? [amounts] : []),
    ...(mayDo(actor, 'integrate')
      ? [chats(mayDo(actor, 'manage') ? '/live/chats' : '/test/chats')]
      : []),
  ];
}

interface NotificationsProps {
  choices: NotificationChoice[];
  path: string;
  home: string;
  saved: boolean;
  /** Links to further settings of the person. */
  links: Link[];
}

function Notifications({ choices, path, home, saved, links }: NotificationsProps) {
  return (
    <>
      <PageHead
        title="Notifications"
        lead="Choose the notifications that you get by email. A message names objects and links to their pages."
      />
      {links.map(([href, label]) => (
        <p>
          <a href={href}>{label}</a>
        </p>
      ))}
      {saved ? <Alert tone="good" title="Your choices were saved." /> : null}
      <Card>
        <form method="post" action={path} class="stack">
          <Choices
            name="kinds"
            label="Email me about"
            hint="The list shows what your role may see. Several notifications of one kind are sent as one message."
            form={EMPTY_FORM}
            options={choices.map(({ kind, title }) => [kind, title] as const)}
            preset={choices.filter(({ isOn }) => isOn).map(({ kind }) => kind)}
          />
          <FormActions submit="Save" cancel={home} />
        </form>
      </Card>
    </>
  );
}
