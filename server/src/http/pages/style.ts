import { hash } from 'node:crypto'

/** The look of the pages that need no script: cool grey, one accent, light and dark. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --page: #f4f6f9; --card: #ffffff; --line: #d9dfe8; --field: #b9c2d0; --text: #1b2330; --quiet: #5a6679;
  --accent: #4a54d8; --accent-strong: #3a43bd; --on-accent: #ffffff; --focus: #4a54d855; --code: #eef1f6;
  --bad: #b3261e; --bad-paper: #fdeceb; --good: #17693f; --good-paper: #e6f5ec;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #11151c; --card: #181e28; --line: #2b3443; --field: #465266; --text: #e7ebf2; --quiet: #9aa6b8;
    --accent: #6d78f2; --accent-strong: #8690fa; --on-accent: #0c0f1f; --focus: #6d78f266; --code: #10141b;
    --bad: #ff9c93; --bad-paper: #3a1f20; --good: #7fd8a6; --good-paper: #173226;
  }
}
* { box-sizing: border-box }
body {
  margin: 0; min-height: 100vh; padding: 48px 16px; background: var(--page); color: var(--text);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main { width: 100%; max-width: 384px; margin: 0 auto }
main.wide { max-width: 720px }
.brand { display: flex; align-items: center; gap: 8px; margin: 0 0 16px; font-weight: 600; font-size: 15px }
.brand svg { width: 24px; height: 24px; fill: var(--accent) }
.brand form { margin: 0 0 0 auto }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 24px; margin: 0 0 16px }
h1 { margin: 0 0 4px; font-size: 20px; line-height: 1.3; font-weight: 600; overflow-wrap: anywhere }
h2 { margin: 0 0 8px; font-size: 15px; line-height: 1.3; font-weight: 600 }
p { margin: 0 0 16px }
p:last-child { margin-bottom: 0 }
.quiet { color: var(--quiet) }
.who { overflow-wrap: anywhere }
label { display: block; margin: 0 0 16px; font-weight: 600; font-size: 13px }
label small { display: block; margin-top: 4px; font-weight: 400; font-size: 12px; color: var(--quiet) }
input {
  display: block; width: 100%; height: 36px; margin-top: 4px; padding: 0 12px; font: inherit; font-size: 14px; font-weight: 400;
  color: var(--text); background: var(--card); border: 1px solid var(--field); border-radius: 6px;
}
input:focus-visible, button:focus-visible, a:focus-visible {
  outline: 3px solid var(--focus); outline-offset: 1px; border-color: var(--accent); border-radius: 6px;
}
button {
  width: 100%; height: 36px; padding: 0 16px; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--on-accent); background: var(--accent); border: 1px solid transparent; border-radius: 6px;
}
button:hover { background: var(--accent-strong) }
button.plain { width: auto; color: var(--text); background: none; border-color: var(--line); font-weight: 400; font-size: 13px }
button.plain:hover { border-color: var(--field) }
a { color: var(--accent) }
a:hover { color: var(--accent-strong) }
.problem { padding: 8px 12px; border-radius: 6px; color: var(--bad); background: var(--bad-paper) }
table { width: 100%; border-collapse: collapse; font-size: 13px }
th { text-align: left; font-weight: 400; font-size: 12px; color: var(--quiet); padding: 0 8px 4px 0 }
td { border-top: 1px solid var(--line); padding: 8px 8px 8px 0; vertical-align: top; overflow-wrap: anywhere }
code, pre { font: 12px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
pre {
  margin: 0 0 16px; padding: 12px; overflow-x: auto; border: 1px solid var(--line); border-radius: 6px;
  background: var(--code);
}
ul { margin: 0; padding: 0; list-style: none }
li { padding: 4px 0 }
`

/** What the content security policy lets through: this very text and no other style. */
export const pageStyleSource = `'sha256-${hash('sha256', pageStyle, 'base64')}'`
