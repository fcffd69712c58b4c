/** The look of the documentation page; follows the reader's light or dark setting. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #dfe4ea;
  --ground: #ffffff; --panel: #f5f7f9; --accent: #0b6bcb; --get: #0b7a53; --post: #a04b00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa6b5; --line: #2c3542;
  --ground: #12171e; --panel: #1a212b; --accent: #6cb2ff; --get: #4cc79a; --post: #f0a35e; } }
* { box-sizing: border-box; }
body { margin: 0; display: grid; grid-template-columns: 16rem minmax(0, 1fr);
  font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--ground); }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.5rem;
  border-right: 1px solid var(--line); background: var(--panel); font-size: .92rem; }
nav h2 { font-size: .75rem; text-transform: uppercase; letter-spacing: .06em;
  color: var(--soft); margin: 1.4rem 0 .3rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { padding: .15rem 0; }
main { padding: 2rem clamp(1rem, 4vw, 4rem) 6rem; max-width: 62rem; }
a { color: var(--accent); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
section { border-top: 1px solid var(--line); margin-top: 3rem; padding-top: 1rem;
  scroll-margin-top: 1rem; }
h1 { font-size: 2rem; margin: 0 0 1rem; } h2 { margin: .5rem 0; }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
h4 { font-size: .85rem; margin: 1rem 0 .3rem; color: var(--soft); font-weight: 600; }
code, pre { font: .875em/1.5 ui-monospace, Menlo, Consolas, monospace; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px;
  padding: .9rem 1rem; overflow-x: auto; }
.line { display: flex; gap: .75rem; align-items: center; flex-wrap: wrap; }
.method { font-weight: 700; font-size: .8rem; letter-spacing: .04em; }
.get { color: var(--get); } .post { color: var(--post); }
.scope { color: var(--soft); font-size: .85rem; border: 1px solid var(--line);
  border-radius: 99px; padding: 0 .6rem; }
.errors { font-size: .9rem; color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th { text-align: left; color: var(--soft); font-weight: 600; }
th, td { border-bottom: 1px solid var(--line); padding: .45rem .75rem .45rem 0;
  vertical-align: top; }
summary { cursor: pointer; color: var(--accent); margin: .6rem 0; }
tr:target td { background: var(--panel); }
@media (max-width: 52rem) { body { display: block; } nav { position: static; height: auto;
  border-right: 0; border-bottom: 1px solid var(--line); } }
`;
