// What pages gain with JavaScript: the system's colours, copy buttons, local times, the search key.
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
  if (target?.closest('[data-theme-toggle]')) {
    const theme = root.classList.contains('dark') ? 'light' : 'dark';
    root.classList.remove('light', 'dark');
    root.classList.add(theme);
    document.cookie = `theme=${theme}; path=/; max-age=31536000; samesite=lax`;
  }
});

document.addEventListener('keydown', (event) => {
  const isTyping =
    event.target instanceof Element && event.target.matches('input, textarea, select');
  const isSearch =
    (event.key === '/' && !isTyping) || (event.key === 'k' && (event.metaKey || event.ctrlKey));
  const search = document.querySelector('input[type="search"]');
  if (!isSearch || !search) return;
  event.preventDefault();
  search.focus();
});

document.addEventListener('DOMContentLoaded', () => {
  for (const time of document.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime);
    time.title = `${at.toISOString()}\n${at.toLocaleString()} (local time)`;
  }
});

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
    const response = await fetch(`${form.action}?${fields}`);
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const shown = page.getElementById(form.dataset.live);
    if (shown && number === latest) document.getElementById(form.dataset.live).replaceWith(shown);
  }, 300);
});

// The time to the next attempt.
setInterval(() => {
  for (const shown of document.querySelectorAll('[data-countdown]')) {
    const left = Math.max(0, Math.round((new Date(shown.dataset.countdown) - new Date()) / 1000));
    const [hours, minutes] = [Math.floor(left / 3600), Math.floor((left % 3600) / 60)];
    shown.textContent = `in ${hours} h ${minutes} min ${left % 60} s`;
  }
}, 1000);
