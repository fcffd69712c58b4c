/** The style sheet and the script of the hosted page: served by the wallet, nothing inline. */

export const STYLE_PATH = '/checkout/assets/page.css';
export const SCRIPT_PATH = '/checkout/assets/page.js';

export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --page: #f4f5f7; --card: #fff; --line: #dfe2e8; --ink: #16181d; --soft: #586070;
  --accent: #1d4ed8; --on-accent: #fff; --field: #fff;
  --info: #eaf0fd; --good: #e6f5ea; --warn: #fff4dc; --bad: #fdecea;
  --info-edge: #1d4ed8; --good-edge: #1b7f3b; --warn-edge: #a66a00; --bad-edge: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1115; --card: #181b21; --line: #2d323c; --ink: #eceef2; --soft: #a3abba;
    --accent: #8fb0ff; --on-accent: #0d1425; --field: #101318;
    --info: #1b2436; --good: #15291c; --warn: #2e2512; --bad: #331a18;
    --info-edge: #8fb0ff; --good-edge: #57c27a; --warn-edge: #e0a83c; --bad-edge: #f2877f;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
.banner { margin: 0; padding: .5rem 1rem; background: var(--warn); color: var(--ink); text-align: center; font-size: .875rem; border-bottom: 1px solid var(--warn-edge); }
main { max-width: 29rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; margin-bottom: 1rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
h1 span { font-size: 1.25rem; color: var(--soft); font-weight: 600; }
h2 { font-size: 1rem; margin: 0 0 .75rem; }
p { margin: 0; }
.soft { color: var(--soft); overflow-wrap: anywhere; }
.status { margin-top: 1rem; padding: .7rem .9rem; border-radius: .5rem; background: var(--info); border-left: .25rem solid var(--info-edge); }
.status[data-status="paid"], .status[data-status="refunded"] { background: var(--good); border-color: var(--good-edge); }
.status[data-status="part"], .status[data-status="held"], .status[data-status="refunding"] { background: var(--warn); border-color: var(--warn-edge); }
.status[data-status="expired"], .status[data-status="cancelled"], .status[data-status="failed"] { background: var(--bad); border-color: var(--bad-edge); }
.qr { width: 11rem; margin: 0 auto 1rem; }
.qr svg { display: block; width: 100%; height: auto; border-radius: .5rem; }
dl { margin: 0; }
dt { color: var(--soft); font-size: .875rem; }
dd { margin: 0 0 .75rem; overflow-wrap: anywhere; }
.copied { display: flex; gap: .75rem; align-items: center; justify-content: space-between; }
code { font: .9rem/1.4 ui-monospace, SFMono-Regular, Menlo, monospace; }
.note { color: var(--soft); font-size: .875rem; border-top: 1px solid var(--line); padding-top: .75rem; }
button, .button { font: inherit; cursor: pointer; border: 1px solid var(--line); border-radius: .5rem; padding: .45rem .9rem; background: var(--card); color: var(--ink); text-decoration: none; white-space: nowrap; }
button:hover { border-color: var(--accent); }
.main { display: block; width: 100%; padding: .65rem; text-align: center; background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
[hidden] { display: none; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
input { width: 100%; font: .9rem ui-monospace, Menlo, monospace; padding: .6rem; border: 1px solid var(--soft); border-radius: .5rem; background: var(--field); color: var(--ink); }
input[aria-invalid] { border-color: var(--bad-edge); }
.problem { color: var(--bad-edge); font-size: .875rem; margin-top: .25rem; }
form .main { margin-top: .75rem; }
.transfers { list-style: none; margin: 0; padding: 0; }
.transfers li { padding: .6rem 0; border-top: 1px solid var(--line); display: grid; gap: .1rem; overflow-wrap: anywhere; }
.transfers li:first-child { border-top: 0; padding-top: 0; }
.transfers li:last-child { padding-bottom: 0; }
.transfers span { color: var(--soft); font-size: .9rem; }
.hash { color: var(--soft); font-size: .75rem; overflow-wrap: anywhere; }
.transfers a { font-size: .875rem; }
.links { display: grid; gap: .75rem; text-align: center; }
.cancel summary { cursor: pointer; color: var(--soft); text-decoration: underline; list-style: none; }
.cancel summary::-webkit-details-marker { display: none; }
.cancel form { display: grid; gap: .75rem; justify-items: center; padding-top: .75rem; }
.logo:not([hidden]) { display: block; height: 3rem; max-width: 12rem; object-fit: contain; background: #fff; border-radius: .5rem; margin-bottom: .75rem; }
.merchant { font-weight: 600; margin-bottom: .5rem; overflow-wrap: anywhere; }
.warning { margin: 1rem 0; padding: .7rem .9rem; border-radius: .5rem; background: var(--warn); border-left: .25rem solid var(--warn-edge); font-size: .9rem; }
`;

/** Replaces the page's content while something may arrive; without it the page reloads by itself. */
export const PAGE_SCRIPT = `'use strict';
const REFRESH_MS = 2000;
const LEAVE_MS = 3000;
let leaving = false;

function prepare() {
  // The merchant may have another logo by now.
  for (const logo of document.images) {
    logo.onerror = () => (logo.hidden = true);
    if (logo.complete && logo.naturalWidth === 0) logo.hidden = true;
  }
  for (const button of document.querySelectorAll('[data-copies]')) {
    button.hidden = !navigator.clipboard;
    button.dataset.copyText = button.textContent;
  }
  countDown();
  const next = document.getElementById('checkout').dataset.next;
  if (next !== undefined && !leaving) {
    leaving = true;
    setTimeout(() => location.assign(next), LEAVE_MS);
  }
}

function countDown() {
  const time = document.querySelector('[data-expires-at]');
  if (!time) return;
  const seconds = Math.max(0, Math.floor((Date.parse(time.dataset.expiresAt) - Date.now()) / 1000));
  const pad = (part) => String(part).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const rest = pad(Math.floor(seconds / 60) % 60) + ':' + pad(seconds % 60);
  time.textContent = hours > 0 ? hours + ':' + rest : rest;
}

document.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-copies]');
  if (!button) return;
  const text = document.querySelector('[data-copy="' + button.dataset.copies + '"]').textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = button.dataset.copied;
  } catch {
    button.textContent = button.dataset.select;
  }
});

async function refresh() {
  const current = document.getElementById('checkout');
  if (current.dataset.live === 'yes' && !document.hidden) {
    try {
      const answer = await fetch(location.href, { cache: 'no-store' });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const fresh = page.getElementById('checkout');
      const clean = current.cloneNode(true);
      for (const button of clean.querySelectorAll('[data-copies]')) {
        button.hidden = true;
        button.textContent = button.dataset.copyText;
        delete button.dataset.copyText;
      }
      for (const details of clean.querySelectorAll('details')) details.open = false;
      for (const logo of clean.querySelectorAll('img')) logo.hidden = false;
      const time = clean.querySelector('[data-expires-at]');
      const freshTime = fresh && fresh.querySelector('[data-expires-at]');
      if (time && freshTime) time.textContent = freshTime.textContent;
      // Only a change is put in place, so that a selection or a focus stays where it is.
      if (answer.ok && fresh && fresh.outerHTML !== clean.outerHTML) {
        const asked = current.querySelector('details[open]') !== null;
        current.replaceWith(fresh);
        for (const details of fresh.querySelectorAll('details')) details.open = asked;
        prepare();
      }
    } catch {
      // The next refresh tries again.
    }
  }
  setTimeout(refresh, REFRESH_MS);
}

prepare();
setInterval(countDown, 1000);
setTimeout(refresh, REFRESH_MS);
`;
