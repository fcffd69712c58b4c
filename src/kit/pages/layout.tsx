/** The document around every page, with the navigation of a signed-in user. */
import type { ComponentChildren, VNode } from 'preact';
import { PASSKEYS_URL, SCRIPT_URL, STYLE_URL } from './assets';
import { words } from './components';
import { Fold } from './fold';
import { Icon } from './icon';
import type { Page } from './site';
import type { Visit } from './visit';

export interface NavEntry {
  href: string;
  label: string;
  icon: string;
  /** `Page.nav` of the pages that belong to it. */
  key: string;
}

export interface Shell {
  /** Shown in the tab beside the title. */
  product: string;
  home: string;
  /** The account, or the installation. */
  owner: string;
  nav: readonly { label: string | null; entries: readonly NavEntry[] }[];
  /** Above everything: the mode. */
  banner: VNode | null;
  search: { action: string; label: string } | null;
  account: string;
  signOut: string;
}

export function document(
  { title, body, nav, passkeys, opensNext }: Page,
  visit: Visit,
  shell: Shell,
): VNode {
  return (
    <Html
      title={`${title} · ${shell.product}`}
      theme={visit.theme}
      passkeys={passkeys === true}
      opensNext={opensNext}
    >
      {visit.session === null ? (
        <main class="signed-out" id="content">
          {body}
        </main>
      ) : (
        <div class="shell">
          <a class="skip" href="#content">
            Skip to content
          </a>
          <Sidebar
            shell={shell}
            current={nav}
            email={visit.session.email}
            name={visit.session.name}
            role={visit.session.actor.role}
          />
          <div class="pane">
            <header>
              {shell.banner}
              <Topbar search={shell.search} query={visit.query.get('q') ?? ''} />
            </header>
            <main id="content">{body}</main>
          </div>
          <Keys hasSearch={shell.search !== null} />
        </div>
      )}
    </Html>
  );
}

interface HtmlProps {
  title: string;
  theme: Visit['theme'];
  passkeys: boolean;
  opensNext: string | undefined;
  children: ComponentChildren;
}

function Html({ title, theme, passkeys, opensNext, children }: HtmlProps) {
  return (
    <html lang="en" class={theme ?? ''}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={STYLE_URL} />
        <script src={SCRIPT_URL} />
        {passkeys ? <script src={PASSKEYS_URL} /> : null}
        {opensNext === undefined ? null : (
          <meta http-equiv="refresh" content={`0;url=${opensNext}`} />
        )}
      </head>
      <body>{children}</body>
    </html>
  );
}

interface SidebarProps {
  shell: Shell;
  current: string | undefined;
  email: string;
  /** Empty if the person has none. */
  name: string;
  role: string;
}

function Sidebar({ shell, current, email, name, role }: SidebarProps) {
  return (
    <aside class="side">
      <a class="brand" href={shell.home}>
        <span class="logo" aria-hidden="true">
          {shell.owner.slice(0, 1).toUpperCase()}
        </span>
        <span>
          <b>{shell.owner}</b>
          <small>{shell.product}</small>
        </span>
      </a>
      <Fold id="menu" label="Menu" icon="menu" />
      <nav aria-label="Main">
        {shell.nav.map(({ label, entries }) => (
          <div class="nav-group">
            {label === null ? null : <p class="nav-label">{label}</p>}
            {entries.map((entry) => (
              <a href={entry.href} aria-current={entry.key === current ? 'page' : undefined}>
                <Icon name={entry.icon} />
                {entry.label}
              </a>
            ))}
          </div>
        ))}
      </nav>
      <div class="me">
        <a href={shell.account} class="me-name" title={email}>
          <b>{name === '' ? email : name}</b>
          <small>{words(role)}</small>
        </a>
        <form method="post" action={shell.signOut}>
          <button
            class="btn"
            data-variant="ghost"
            data-size="icon-sm"
            aria-label="Sign out"
            title="Sign out"
          >
            <Icon name="log-out" />
          </button>
        </form>
      </div>
    </aside>
  );
}

function Topbar({ search, query }: { search: Shell['search']; query: string }) {
  return (
    <div class="top">
      {search === null ? (
        <span />
      ) : (
        <form class="search" action={search.action} role="search">
          <Icon name="search" />
          <input
            class="input"
            type="search"
            name="q"
            value={query}
            placeholder={search.label}
            aria-label={search.label}
            maxLength={200}
          />
        </form>
      )}
      <div class="tools">
        <button
          type="button"
          class="btn js-only"
          data-variant="ghost"
          data-size="icon"
          data-keys
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
        >
          <Icon name="keyboard" />
        </button>
        <button
          type="button"
          class="btn js-only"
          data-variant="ghost"
          data-size="icon"
          data-theme-toggle
          aria-label="Switch between light and dark"
        >
          <Icon name="moon" />
        </button>
      </div>
    </div>
  );
}

/** The keys of src/kit/pages/assets/app.js. The script opens it. */
function Keys({ hasSearch }: { hasSearch: boolean }) {
  const keys: [string, string][] = [
    ['j', 'Next row of the list'],
    ['k', 'Row before'],
    ['Enter', 'Open the row'],
    ...(hasSearch ? ([['/', 'Search, or the name of a page']] satisfies [string, string][]) : []),
    ['?', 'Keyboard shortcuts'],
    ['Esc', 'Close this window'],
  ];
  return (
    <dialog id="keys" class="keys" aria-labelledby="keys-title">
      <h2 id="keys-title">Keyboard shortcuts and times</h2>
      <dl class="facts">
        {keys.map(([key, does]) => (
          <div>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog" class="stack">
        <label>
          <input class="input" type="checkbox" checked data-keys-switch /> Use single-key shortcuts
        </label>
        <label>
          <input class="input" type="checkbox" data-times-switch /> Show times in my time zone
        </label>
        <div>
          <button class="btn" data-variant="outline">
            Close
          </button>
        </div>
      </form>
    </dialog>
  );
}
