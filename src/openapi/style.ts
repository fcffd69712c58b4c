/** The look of the pages under /docs. It follows the reader's light or dark setting, as Scalar does. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #0a0a0a; --soft: #5c5c62; --line: #e5e5e8; --ground: #fff;
  --panel: #fafafa; --accent: #4f46e5; --code: #f6f6f7; --top: 56px;
  --name: #0b5c8a; --string: #17683a; --value: #9a3b00; --removal: #b3261e;
  --font: 'Inter Variable', Inter, system-ui, -apple-system, 'Segoe UI', sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; }
@media (prefers-color-scheme: dark) { :root { --ink: #fafafa; --soft: #a3a3ab; --line: #2a2a2e;
  --ground: #0a0a0a; --panel: #151517; --accent: #a5b4fc; --code: #18181b;
  --name: #7cc7f2; --string: #86d9a5; --value: #f5b07a; --removal: #ff9d94; } }
* { box-sizing: border-box; }
html { scroll-padding-top: calc(var(--top) + 24px); }
body { margin: 0; font: 16px/1.65 var(--font); color: var(--ink); background: var(--ground);
  -webkit-font-smoothing: antialiased; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }

.top { position: sticky; top: 0; z-index: 100; height: var(--top); display: flex; align-items: center;
  gap: 32px; padding: 0 24px; background: var(--ground); border-bottom: 1px solid var(--line);
  font-size: 14px; }
.brand { display: flex; align-items: center; gap: 10px; font-weight: 600; color: var(--ink); white-space: nowrap; }
.brand span { width: 26px; height: 26px; border-radius: 7px; display: grid; place-items: center;
  background: #5b54e0; color: #fff; font-size: 13px; font-weight: 700; }
.tabs { display: flex; gap: 24px; height: 100%; }
.tabs a { display: flex; align-items: center; color: var(--soft); border-bottom: 2px solid transparent;
  border-top: 2px solid transparent; }
.tabs a:hover { color: var(--ink); text-decoration: none; }
.tabs .current { color: var(--ink); font-weight: 500; border-bottom-color: var(--accent); }
.back { margin-left: auto; color: var(--soft); white-space: nowrap; }
.back:hover { color: var(--ink); text-decoration: none; }
.menu { display: none; position: relative; }
.menu summary { cursor: pointer; padding: 6px 10px; border: 1px solid var(--line); border-radius: 8px; }
.menu nav { position: absolute; right: 0; top: 44px; width: 240px; padding: 12px; border-radius: 10px;
  background: var(--ground); border: 1px solid var(--line); box-shadow: 0 8px 24px rgb(0 0 0 / .18); }

.columns { display: grid; grid-template-columns: 240px minmax(0, 1fr) 220px; max-width: 1360px;
  margin: 0 auto; }
.side, .contents { position: sticky; top: var(--top); align-self: start; padding: 40px 24px;
  max-height: calc(100vh - var(--top)); overflow: auto; font-size: 14px; }
.side ul, .contents ul, .menu ul { list-style: none; margin: 0; padding: 0; }
.side a, .menu nav a { display: block; padding: 6px 12px; border-radius: 8px; color: var(--soft); }
.side a:hover, .menu nav a:hover { color: var(--ink); background: var(--panel); text-decoration: none; }
.side [aria-current], .menu [aria-current] { color: var(--ink); background: var(--code); font-weight: 500; }
.contents p { margin: 0 0 8px; font-weight: 500; }
.contents a { display: block; padding: 3px 0; color: var(--soft); }
.contents a:hover { color: var(--ink); }

.prose { padding: 40px 48px 96px; max-width: 800px; min-width: 0; width: 100%; }
.columns .prose { margin: 0 auto; }
.prose h1 { font-size: 32px; line-height: 1.2; letter-spacing: -.02em; margin: 0 0 16px; }
.prose h1 + p { font-size: 18px; color: var(--soft); margin: 0 0 32px; }
.prose h2 { font-size: 22px; line-height: 1.3; letter-spacing: -.01em; margin: 48px 0 12px; }
.prose h3 { font-size: 17px; margin: 32px 0 8px; }
.prose h2 a, .prose h3 a { color: inherit; }
.prose p, .prose ul, .prose ol { margin: 0 0 16px; }
.prose li { margin: 4px 0; }
.prose :is(p, li, td) a { text-decoration: underline; }
code, pre { font-family: var(--mono); font-size: 13.5px; }
code { background: var(--code); border-radius: 5px; padding: 2px 5px; overflow-wrap: anywhere; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 10px; padding: 16px;
  margin: 0 0 20px; overflow-x: auto; line-height: 1.6; }
.code { position: relative; margin: 0 0 20px; }
.code pre { margin: 0; }
.copy { position: absolute; top: 8px; right: 8px; padding: 3px 10px; border-radius: 7px; cursor: pointer;
  font: 500 12px/1.5 var(--font); color: var(--soft); background: var(--ground);
  border: 1px solid var(--line); }
@media (hover: hover) { .code:not(:hover) .copy:not(:focus-visible) { opacity: 0; } }
@media (hover: none) { .code:has(.copy) pre { padding-top: 44px; } }
.copy:hover { color: var(--ink); border-color: var(--soft); }
.code .comment { color: var(--soft); }
.code .name { color: var(--name); }
.code .string { color: var(--string); }
.code .value { color: var(--value); }
.code .word { color: var(--accent); }
pre code { background: none; padding: 0; overflow-wrap: normal; }
.table { overflow-x: auto; margin: 0 0 24px; }
table { border-collapse: collapse; width: 100%; font-size: 14.5px; line-height: 1.5; }
th { text-align: left; font-weight: 500; color: var(--soft); }
th, td { border-bottom: 1px solid var(--line); padding: 10px 16px 10px 0; vertical-align: top; }
td:first-child code { white-space: nowrap; }
blockquote { margin: 0 0 20px; padding: 12px 16px; border: 1px solid var(--line); border-radius: 10px;
  background: var(--panel); }
blockquote p:last-child { margin: 0; }
.onward { display: flex; justify-content: space-between; gap: 16px; margin-top: 64px; }
.onward a { flex: 0 1 240px; padding: 12px 16px; border: 1px solid var(--line); border-radius: 10px;
  color: var(--ink); font-weight: 500; }
.onward a:hover { border-color: var(--soft); text-decoration: none; }
.onward [rel=next] { text-align: right; }
.onward small { display: block; color: var(--soft); font-weight: 400; }

@media (max-width: 1180px) { .contents { display: none; }
  .columns { grid-template-columns: 240px minmax(0, 1fr); } }
@media (max-width: 800px) { .columns { display: block; } .side { display: none; }
  .menu { display: block; margin-left: auto; } .menu summary { white-space: nowrap; } .back { display: none; } .top { gap: 16px; padding: 0 16px; } .tabs { display: none; }
  .prose { padding: 28px 16px 64px; } .prose h1 { font-size: 27px; } }

.light-mode, .dark-mode { --scalar-custom-header-height: var(--top); --scalar-font: var(--font);
  --scalar-font-code: var(--mono); --scalar-color-accent: var(--accent);
  --scalar-background-1: var(--ground); --scalar-background-2: var(--code);
  --scalar-background-3: var(--line); --scalar-color-1: var(--ink); --scalar-color-2: var(--soft);
  --scalar-color-3: var(--soft); --scalar-border-color: var(--line); }
/* The colours of samples in the guides, which have the contrast that small text needs. */
.scalar-app, .scalar-app :is(.light-mode, .dark-mode) { --scalar-color-blue: var(--name); --scalar-color-green: var(--string);
  --scalar-color-orange: var(--value); --scalar-color-yellow: var(--value);
  --scalar-color-purple: var(--accent); --scalar-color-red: var(--removal); }
`;
