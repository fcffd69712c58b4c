// What pages gain with JavaScript: the system's colours, copy buttons, local times, keys.
'use strict';

const root = document.documentElement;
root.classList.add('js');
if (!root.classList.contains('light') && !root.classList.contains('dark')) {
  root.classList.add(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
}

document.addEventListener('click', async (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const copy = target?.closest('[data-copy]');
  if (copy) {
    await navigator.clipboard.writeText(copy.dataset.copy);
    copy.dataset.copied = '';
    setTimeout(() => delete copy.dataset.copied, 2000);
  }
  if (target?.closest('[data-print]')) print();
  if (target?.closest('[data-keys]')) showKeys();
  if (target?.closest('[data-theme-toggle]')) {
    const theme = root.classList.contains('dark') ? 'light' : 'dark';
    root.classList.remove('light', 'dark');
    root.classList.add(theme);
    document.cookie = `theme=${theme}; path=/; max-age=31536000; samesite=lax`;
  }
});

// The names of the pages are suggestions of the search; Enter opens the page that has the name.
const pageLinks = () => [...document.querySelectorAll('.side nav a[href]')];
const nameOf = (link) => link.textContent.trim();

function suggestPages() {
  const box = document.querySelector('.search input[type="search"]');
  if (!box) return;
  const names = document.createElement('datalist');
  names.id = 'page-names';
  for (const link of pageLinks()) {
    const option = document.createElement('option');
    option.value = nameOf(link);
    names.append(option);
  }
  box.after(names);
  box.setAttribute('list', names.id);
}

document.addEventListener('submit', (event) => {
  if (!event.target.matches('.search')) return;
  const typed = event.target.elements.q.value.trim().toLowerCase();
  const link = pageLinks().find((one) => nameOf(one).toLowerCase() === typed);
  if (link === undefined) return;
  event.preventDefault();
  link.click();
});

// The keys, as the dialog of `?` lists them. A person can turn off the ones without Ctrl or ⌘.
const TYPING = 'input:not([type="checkbox"]), textarea, select';
const KEYS = { '/': focusSearch, '?': showKeys, j: () => moveInList(1), k: () => moveInList(-1) };

document.addEventListener('keydown', (event) => {
  const { key, target } = event;
  const withCommand = event.metaKey || event.ctrlKey;
  const isPlain = !withCommand && !event.altKey && isOn('keys', 'on');
  const isTyping = target instanceof Element && target.matches(TYPING);
  const isFree = isPlain && !isTyping && !document.querySelector('dialog[open]');
  const action = withCommand && key === 'k' ? focusSearch : isFree ? KEYS[key] : undefined;
  if (action?.()) event.preventDefault();
});

// Each returns whether there was something to do.
function focusSearch() {
  const search = document.querySelector('input[type="search"]');
  search?.focus();
  return search !== null;
}

// Moves the focus to the link of the next row, which Enter then opens.
function moveInList(step) {
  const rows = [...document.querySelectorAll('main table.rows tbody tr')].filter((row) =>
    row.querySelector('a[href]'),
  );
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at === -1 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)];
  next?.querySelector('a[href]').focus();
  next?.scrollIntoView({ block: 'nearest' });
  return next !== undefined;
}

function showKeys() {
  const dialog = document.getElementById('keys');
  dialog?.showModal();
  return dialog !== null;
}

document.addEventListener('DOMContentLoaded', () => {
  bindSwitch('[data-keys-switch]', 'keys', 'on');
  bindSwitch('[data-follow-switch]', 'follow', 'on');
  bindSwitch('[data-times-switch]', 'local-times', 'off', () => document.location.reload());
  showTimes(document);
  suggestPages();
});

// A checkbox whose state this browser keeps.
function bindSwitch(selector, name, preset, changed) {
  const box = document.querySelector(selector);
  if (!box) return;
  box.checked = isOn(name, preset);
  box.defaultChecked = box.checked;
  box.addEventListener('change', () => {
    localStorage.setItem(name, box.checked ? 'on' : 'off');
    changed?.();
  });
}

function isOn(name, preset) {
  return (localStorage.getItem(name) ?? preset) === 'on';
}

// Times are in UTC, or in the person's own zone if they have chosen it.
function showTimes(within) {
  for (const time of within.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime);
    time.title = `${at.toISOString()}\n${at.toLocaleString()} (local time)`;
    if (!isOn('local-times', 'off') || !('seconds' in time.dataset)) continue;
    const parts = {
      timeStyle: time.dataset.seconds === '' ? 'short' : 'medium',
      dateStyle: 'short',
    };
    const zone = at.toLocaleString('en', { timeZoneName: 'short' }).split(' ').at(-1);
    time.textContent = `${at.toLocaleString('sv', parts)} ${zone}`;
  }
}

// A form that shows what it would do: the element with this id comes from the form's own page.
let latest = 0;
let timer;
document.addEventListener('input', (event) => {
  const form = event.target instanceof Element ? event.target.closest('form[data-live]') : null;
  if (!form) return;
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const number = ++latest;
    const fields = new URLSearchParams(new FormData(form));
    // Personal data is in no URL.
    for (const field of form.querySelectorAll('[data-private] [name]')) fields.delete(field.name);
    const response = await fetch(`${form.action}?${fields}`);
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const shown = page.getElementById(form.dataset.live);
    if (!shown || number !== latest) return;
    document.getElementById(form.dataset.live).replaceWith(shown);
    showTimes(shown);
  }, 300);
});

// Parts of the page that show what is under way, until the server sends them without the mark.
const FOLLOW = '[data-follow]';
async function followOnce() {
  if (document.hidden) return;
  const response = await fetch(document.location.href);
  if (!response.ok || response.redirected) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const part of document.querySelectorAll(FOLLOW)) {
    const next = page.getElementById(part.id);
    if (!next || isInUse(part)) continue;
    part.replaceWith(next);
    showTimes(next);
  }
}

// What a person has begun to fill in stays.
function isInUse(part) {
  const isChanged = (field) =>
    field.type === 'checkbox'
      ? field.checked !== field.defaultChecked
      : field.value !== field.defaultValue;
  return (
    part.contains(document.activeElement) ||
    part.querySelector('details[open]') !== null ||
    [...part.querySelectorAll('input, textarea')].some(isChanged)
  );
}
setInterval(() => {
  if (isOn('follow', 'on') && document.querySelector(FOLLOW)) followOnce().catch(() => undefined);
}, 3000);

// One box that ticks all boxes of a name.
document.addEventListener('change', (event) => {
  const all = event.target instanceof Element ? event.target.closest('[data-select-all]') : null;
  if (!all) return;
  for (const box of all.form.querySelectorAll(`[name="${all.dataset.selectAll}"]`)) {
    box.checked = all.checked;
  }
});

// A table from a file, chosen or dropped on the text.
async function takeFile(file, text) {
  if (!file || !text) return;
  const table = decodeTable(new Uint8Array(await file.arrayBuffer()));
  const input = text.form.querySelector(`[data-file-into="${text.name}"]`);
  const hint = document.getElementById(input?.getAttribute('aria-describedby'));
  const isRefused = table === null;
  input?.toggleAttribute('aria-invalid', isRefused);
  if (hint) {
    hint.dataset.first ??= hint.textContent;
    hint.textContent = isRefused ? UNKNOWN_ENCODING : hint.dataset.first;
    hint.classList.toggle('error', isRefused);
    hint.setAttribute('role', isRefused ? 'alert' : 'note');
  }
  if (isRefused) {
    if (input) input.value = '';
    return;
  }
  text.value = table;
  text.focus();
}

const UNKNOWN_ENCODING =
  'The letters of this file cannot be read with certainty, because it is not saved as UTF-8. In the spreadsheet, save it as “CSV UTF-8” and choose that file.';

// UTF-8, or UTF-16 with its mark. Other encodings look alike, and a guess would change names.
function decodeTable(bytes) {
  const is = (...mark) => mark.every((byte, index) => bytes[index] === byte);
  const encoding = is(0xff, 0xfe) ? 'utf-16le' : is(0xfe, 0xff) ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

document.addEventListener('change', (event) => {
  const input = event.target instanceof Element ? event.target.closest('[data-file-into]') : null;
  const field = input?.form.elements.namedItem(input.dataset.fileInto);
  if (input) takeFile(input.files[0], field);
});

document.addEventListener('dragover', (event) => {
  if (event.target instanceof Element && event.target.matches('textarea[name="table"]')) {
    event.preventDefault();
  }
});

document.addEventListener('drop', (event) => {
  const text = event.target instanceof Element ? event.target : null;
  const [file] = event.dataTransfer?.files ?? [];
  if (!file || !text?.matches('textarea[name="table"]')) return;
  event.preventDefault();
  takeFile(file, text);
});

// The time to the next attempt.
setInterval(() => {
  for (const shown of document.querySelectorAll('[data-countdown]')) {
    const left = Math.max(0, Math.round((new Date(shown.dataset.countdown) - new Date()) / 1000));
    const [hours, minutes] = [Math.floor(left / 3600), Math.floor((left % 3600) / 60)];
    shown.textContent = `in ${hours} h ${minutes} min ${left % 60} s`;
  }
}, 1000);
