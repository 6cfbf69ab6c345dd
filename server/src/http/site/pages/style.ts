import { hash } from 'node:crypto'

/** The app's font, by a name that is another one for each version: a browser keeps it for a year. */
export const fontPath = '/inter-4.woff2'

/** The look of the pages that need no script. The colours are those of the web app (`web/src/app/theme.css`). */
export const pageStyle = `
@font-face {
  font-family: "Inter"; font-weight: 400 700; font-display: optional; src: url("${fontPath}") format("woff2");
}
@font-face {
  font-family: "Inter stand-in"; ascent-override: 90.2%; descent-override: 22.48%; line-gap-override: 0%; size-adjust: 107.4%;
  src: local("Arial"), local("Liberation Sans"), local("Helvetica Neue"), local("Roboto");
}
:root {
  color-scheme: light dark;
  --page: #f8f9fb; --card: #ffffff; --line: #dde1ea; --field: #b6becd; --text: #1b2330; --quiet: #667085;
  --accent: #4a54d8; --accent-strong: #3a43bd; --accent-text: #3f48c4; --on-accent: #ffffff; --focus: #4a54d8;
  --bad: #b3261e; --bad-paper: #fdeceb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161e; --card: #161b24; --line: #2e3746; --field: #4f5a6e; --text: #eaeef4; --quiet: #98a3b6;
    --accent: #5a64e4; --accent-strong: #4f59dc; --accent-text: #a5adff; --on-accent: #ffffff; --focus: #8690fa;
    --bad: #ff9c93; --bad-paper: #3a1f20;
  }
}
* { box-sizing: border-box }
body {
  margin: 0; min-height: 100vh; padding: 12vh 16px 48px; background: var(--page); color: var(--text);
  font: 14px/1.45 Inter, "Inter stand-in", system-ui, sans-serif; -webkit-font-smoothing: antialiased;
}
main { width: 100%; max-width: 384px; margin: 0 auto }
.brand { display: flex; align-items: center; gap: 8px; margin: 0 0 16px; font-weight: 600; font-size: 15px }
.brand svg { width: 24px; height: 24px; fill: var(--accent) }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 24px; margin: 0 0 16px }
h1 { margin: 0 0 4px; font-size: 18px; line-height: 1.3; font-weight: 600; overflow-wrap: anywhere }
p { margin: 0 0 16px }
p:last-child { margin-bottom: 0 }
.quiet { color: var(--quiet) }
.who { overflow-wrap: anywhere }
.field { margin: 0 0 16px }
label { display: block; font-weight: 600; font-size: 13px }
small { display: block; margin-top: 4px; font-size: 12px; color: var(--quiet) }
small.wrong { color: var(--bad) }
input[aria-invalid] { border-color: var(--bad) }
input {
  display: block; width: 100%; height: 36px; margin-top: 4px; padding: 0 12px; font: inherit; font-size: 14px; font-weight: 400;
  color: var(--text); background: var(--card); border: 1px solid var(--field); border-radius: 6px;
}
input:read-only { background: var(--page) }
input:focus-visible, button:focus-visible, a:focus-visible {
  outline: 2px solid var(--focus); outline-offset: 1px; border-radius: 6px;
}
button {
  width: 100%; height: 36px; padding: 0 16px; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--on-accent); background: var(--accent); border: 1px solid transparent; border-radius: 6px;
}
button:hover { background: var(--accent-strong) }
a { color: var(--accent-text) }
a:hover { color: var(--text) }
.problem { padding: 8px 12px; border-radius: 6px; color: var(--bad); background: var(--bad-paper) }
code { font: 12px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
@media (max-width: 640px) {
  body { padding: 32px 16px }
  input { height: 44px; font-size: 16px }
  button { height: 44px; font-size: 15px }
  .card { padding: 20px 16px }
}
`

/** What the content security policy lets through: this very text and no other style. */
export const pageStyleSource = `'sha256-${hash('sha256', pageStyle, 'base64')}'`
