/** The pages of chats, the same for an account and for the operators; the sites bind the owner and the rights. */
import type { UserKind } from '../../../domain/users';
import { chatKindsOf, NOTIFICATIONS } from '../../../domain/notifications';
import type { ChangedBy } from '../../../kit/service/audit';
import type { ChatOwner, Chats, ChatWebhook, ListedChat } from '../chats';
import { Alert, Card, Empty, PageHead, Secret, Table } from '../../../kit/pages/components';
import {
  Action,
  Choices,
  Confirm,
  draftForm,
  Field,
  fieldErrors,
  FormActions,
  type FormState,
} from '../../../kit/pages/forms';
import type { Cost } from '../../../kit/pages/limits';
import type { Once } from '../../../kit/pages/once';
import { page, redirect, type SignedInAnswer } from '../../../kit/pages/site';
import type { SignedInVisit } from '../../../kit/pages/visit';

const NAV = { nav: 'notifications' };

interface ChatPages<V extends SignedInVisit> {
  kind: UserKind;
  chats: Chats;
  once: Once;
  ownerOf: (visit: V) => ChatOwner;
  byOf: (visit: V) => ChangedBy;
  /** The path of the list of chats. */
  pathOf: (visit: V) => string;
  back: string;
}

interface ChatRoute<V> {
  method: 'get' | 'post';
  path: string;
  cost?: Cost;
  /** It gives an address what the account does: the page that opens again after a recent sign-in. */
  recent?: (visit: V) => string;
  run: (visit: V) => Promise<SignedInAnswer>;
}

export function chatRoutes<V extends SignedInVisit>(options: ChatPages<V>): ChatRoute<V>[] {
  const { kind, chats, once, ownerOf, byOf, pathOf, back } = options;

  async function show(visit: V, form: FormState, status = 200) {
    const taken = status === 200 ? once.take(visit) : null;
    const path = pathOf(visit);
    const list = await chats.list(ownerOf(visit));
    const props = { path, kind, back, list, form, secret: taken?.secret ?? null };
    const cookies = taken === null ? [] : [taken.cookie];
    return page('Slack channels', <ChatList {...props} />, { ...NAV, status, cookies });
  }

  const chatPath = (visit: V) => `${pathOf(visit)}/${visit.id}`;

  async function showChat(visit: V, form: FormState, status = 200) {
    const chat = await chats.read(ownerOf(visit), visit.id);
    const props = { list: pathOf(visit), path: chatPath(visit), kind, chat, form };
    return page(chat.name, <EditChat {...props} />, { ...NAV, status });
  }

  return [
    { method: 'get', path: '/chats', run: (visit) => show(visit, draftForm(visit)) },
    {
      method: 'post',
      path: '/chats',
      recent: pathOf,
      run: async (visit) => {
        const { form } = visit;
        const wish = {
          name: form.get('name') ?? '',
          url: form.get('url') ?? '',
          kinds: form.getAll('kinds'),
        };
        const { answer, fields } = await fieldErrors(async () => {
          const { secret } = await chats.add(byOf(visit), ownerOf(visit), wish);
          const path = pathOf(visit);
          return redirect(path, [once.keep(visit, path, secret)]);
        });
        return answer ?? show(visit, { values: form, errors: fields }, 422);
      },
    },
    { method: 'get', path: '/chats/:id', run: (visit) => showChat(visit, draftForm(visit)) },
    {
      method: 'post',
      path: '/chats/:id',
      recent: chatPath,
      run: async (visit) => {
        const kinds = visit.form.getAll('kinds');
        const { answer, fields } = await fieldErrors(async () => {
          await chats.choose(byOf(visit), ownerOf(visit), visit.id, kinds);
          return redirect(pathOf(visit));
        });
        return answer ?? showChat(visit, { values: visit.form, errors: fields }, 422);
      },
    },
    {
      method: 'post',
      path: '/chats/:id/test',
      cost: 'delivery',
      run: async (visit) => {
        await chats.test(ownerOf(visit), visit.id);
        return redirect(pathOf(visit));
      },
    },
    {
      method: 'post',
      path: '/chats/:id/remove',
      run: async (visit) => {
        await chats.remove(byOf(visit), ownerOf(visit), visit.id);
        return redirect(pathOf(visit));
      },
    },
  ];
}

const STATUS = {
  waiting: 'Waiting',
  sending: 'Being sent',
  sent: 'Sent',
  refused: 'Refused',
  unclear: 'May have been sent',
  dropped: 'Not sent',
} as const;

interface ChatListProps {
  path: string;
  kind: UserKind;
  back: string;
  list: ListedChat[];
  form: FormState;
  secret: string | null;
}

function ChatList({ path, kind, back, list, form, secret }: ChatListProps) {
  return (
    <>
      <PageHead
        back={{ href: back, label: 'Notifications' }}
        title="Slack channels"
        lead="Choose what each channel is notified about. Everybody in the channel can read the messages, whatever their role."
      />
      {secret === null ? null : (
        <Alert
          tone="good"
          title="The channel was added. Messages are signed with this secret, which is not shown again."
        >
          <Secret value={secret} label="Copy secret" />
        </Alert>
      )}
      <Card flush>
        <Table
          caption="Slack channels"
          rows={list}
          empty={<Empty icon="bell" title="No channels" />}
          columns={[
            {
              label: 'Chat',
              cell: ({ id, name, hint }) => (
                <>
                  <a href={`${path}/${id}`}>{name}</a> <div class="muted">{hint}</div>
                </>
              ),
            },
            {
              label: 'Notifications',
              wide: true,
              cell: ({ kinds }) => kinds.map((one) => NOTIFICATIONS[one].title).join(', '),
            },
            {
              label: 'Last message',
              cell: ({ lastStatus, lastError }) =>
                lastStatus === null
                  ? 'None'
                  : `${STATUS[lastStatus]}${lastError === null ? '' : ` (${lastError})`}`,
            },
            {
              label: 'Actions',
              right: true,
              cell: ({ id, name }) => (
                <>
                  <Action action={`${path}/${id}/test`} label="Send a test message" />
                  <Confirm
                    action={`${path}/${id}/remove`}
                    label="Remove"
                    icon="trash-2"
                    effect={`${name} gets no more messages.`}
                    confirm="Remove this channel"
                  />
                </>
              ),
            },
          ]}
        />
      </Card>
      <AddChat path={path} kind={kind} form={form} />
    </>
  );
}

function AddChat({ path, kind, form }: Pick<ChatListProps, 'path' | 'kind' | 'form'>) {
  return (
    <Card title="Add a Slack channel">
      <form method="post" action={path} class="stack">
        <Field name="name" label="Name" form={form} required maxLength={100} />
        <Field
          name="url"
          label="Address"
          type="url"
          hint="The URL of an incoming webhook in Slack’s format. Anyone who has it can post to the chat, so it is not shown again."
          form={form}
          required
          autocomplete="off"
          maxLength={2048}
        />
        <Kinds kind={kind} form={form} />
        <FormActions submit="Add channel" cancel={path} />
      </form>
    </Card>
  );
}

interface EditChatProps {
  list: string;
  path: string;
  kind: UserKind;
  chat: ChatWebhook;
  form: FormState;
}

function EditChat({ list, path, kind, chat, form }: EditChatProps) {
  return (
    <>
      <PageHead
        back={{ href: list, label: 'Slack channels' }}
        title={chat.name}
        lead={`${chat.hint}. To change the address, remove the chat and add it again.`}
      />
      <Card>
        <form method="post" action={path} class="stack">
          <Kinds kind={kind} form={form} preset={chat.kinds} />
          <FormActions submit="Save" cancel={list} />
        </form>
      </Card>
    </>
  );
}

function Kinds(props: { kind: UserKind; form: FormState; preset?: readonly string[] }) {
  const { kind, form, preset = [] } = props;
  return (
    <Choices
      name="kinds"
      label="Tell the chat about"
      form={form}
      options={chatKindsOf(kind).map((one) => [one, NOTIFICATIONS[one].title] as const)}
      preset={preset}
    />
  );
}
