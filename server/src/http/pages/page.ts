import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import { type Html, type HtmlPart, html, trustedHtml } from '../../base/text/html.ts'

/** Path of the app's font. Browsers cache it for a year, so the name contains its version. */
export const fontPath = '/inter-4.woff2'

/** Styles of pages without scripts. The colors are those of the web app (`web/src/app/theme.css`). */
const pageStyle = `
@font-face {
  font-family: "Inter"; font-weight: 400 700; font-display: optional; src: url("${fontPath}") format("woff2");
}
@font-face {
  font-family: "Inter stand-in"; ascent-override: 90.2%; descent-override: 22.48%; line-gap-override: 0%; size-adjust: 107.4%;
  src: local("Arial"), local("Liberation Sans"), local("Helvetica Neue"), local("Roboto");
}
:root {
  color-scheme: light dark;
  --page: #f8f9fb; --card: #ffffff; --line: #dde1ea; --text: #1b2330; --quiet: #667085;
  --accent: #4a54d8; --accent-text: #3f48c4; --focus: #4a54d8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161e; --card: #161b24; --line: #2e3746; --text: #eaeef4; --quiet: #98a3b6;
    --accent: #5a64e4; --accent-text: #a5adff; --focus: #8690fa;
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
a:focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; border-radius: 6px; }
a { color: var(--accent-text) }
button {
  padding: 8px 16px; border: 0; border-radius: 8px; background: var(--accent); color: #ffffff; font: inherit; font-weight: 600;
  cursor: pointer;
}
button:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
a:hover { color: var(--text) }
code { font: 12px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
@media (max-width: 640px) {
  body { padding: 32px 16px }
  .card { padding: 20px 16px }
}
`

/** Source for the content security policy: allows exactly this style element. */
const pageStyleSource = `'sha256-${hash('sha256', pageStyle, 'base64')}'`

const policyWith = (formAction: string): string =>
  [
    "default-src 'none'",
    `style-src ${pageStyleSource}`,
    'img-src data:',
    "font-src 'self'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')

// One string, because the hash in the policy covers every byte between the tags.
const style = trustedHtml(`<style>${pageStyle}</style>`)

interface PageOptions {
  title: string
  words?: PageTexts
}

/** Returns a complete page. It needs no script and loads only the app's font. */
export function page({ title, words }: PageOptions, ...body: HtmlPart[]): Html {
  return html`<!doctype html>
<html lang="${words?.language ?? 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Parley</title>
<link rel="icon" href="data:,">
<link rel="preload" as="font" type="font/woff2" crossorigin href="${fontPath}">
${style}
</head>
<body>
<main>
<div class="brand">
<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 3h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-7l-5 4v-4H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z"/></svg>
<span>Parley</span>
</div>
${body}
</main>
</body>
</html>
`
}

/**
 * Sends a page that no site can frame. Its URL can contain a token, so other origins get no referrer. `formAction`: where
 * its form goes, as a source of the content security policy.
 */
export function sendPage(reply: FastifyReply, body: Html, statusCode = 200, formAction = "'none'"): FastifyReply {
  return reply
    .code(statusCode)
    .header('content-security-policy', policyWith(formAction))
    .header('referrer-policy', 'same-origin')
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(body.text)
}

const en = {
  language: 'en',
  nothingHere: 'Page not found',
  nothingHereHelp: 'Check the address and try again.',
  home: 'Go to the home page',
  failed: 'Something went wrong',
  unsubscribe: {
    title: 'Unsubscribe',
    ask: {
      notifications: 'Stop e-mails about unread notifications of this workspace?',
      digest: 'Stop the daily digest of this workspace?',
      report: 'Stop all weekly reports of this workspace?',
    },
    button: 'Unsubscribe',
    done: 'You are unsubscribed',
    doneOf: {
      notifications: 'You get no more e-mails about notifications of this workspace. The app still shows them.',
      digest: 'You get no more daily digest of this workspace.',
      report: 'You get no more weekly reports of this workspace.',
    },
    preferences: 'Change my preferences',
    invalid: 'This link no longer works',
    invalidHelp: 'Use the link of a newer e-mail, or change your preferences in the app, on the page Profile.',
  },
}

export type PageTexts = typeof en

const pt: PageTexts = {
  language: 'pt-BR',
  nothingHere: 'Página não encontrada',
  nothingHereHelp: 'Confira o endereço e tente de novo.',
  home: 'Ir para o início',
  failed: 'Algo deu errado',
  unsubscribe: {
    title: 'Cancelar e-mails',
    ask: {
      notifications: 'Parar de receber e-mails sobre notificações não lidas deste espaço de trabalho?',
      digest: 'Parar de receber o resumo diário deste espaço de trabalho?',
      report: 'Parar de receber todos os relatórios semanais deste espaço de trabalho?',
    },
    button: 'Cancelar e-mails',
    done: 'E-mails cancelados',
    doneOf: {
      notifications:
        'Você não recebe mais e-mails sobre notificações deste espaço de trabalho. O app continua a mostrá-las.',
      digest: 'Você não recebe mais o resumo diário deste espaço de trabalho.',
      report: 'Você não recebe mais relatórios semanais deste espaço de trabalho.',
    },
    preferences: 'Mudar minhas preferências',
    invalid: 'Este link não funciona mais',
    invalidHelp: 'Use o link de um e-mail mais novo, ou mude suas preferências no app, na página Perfil.',
  },
}

const es: PageTexts = {
  language: 'es',
  nothingHere: 'Página no encontrada',
  nothingHereHelp: 'Revisa la dirección e inténtalo de nuevo.',
  home: 'Ir al inicio',
  failed: 'Algo salió mal',
  unsubscribe: {
    title: 'Cancelar correos',
    ask: {
      notifications: '¿Dejar de recibir correos sobre notificaciones sin leer de este espacio de trabajo?',
      digest: '¿Dejar de recibir el resumen diario de este espacio de trabajo?',
      report: '¿Dejar de recibir todos los informes semanales de este espacio de trabajo?',
    },
    button: 'Cancelar correos',
    done: 'Correos cancelados',
    doneOf: {
      notifications:
        'Ya no recibes correos sobre notificaciones de este espacio de trabajo. La aplicación las sigue mostrando.',
      digest: 'Ya no recibes el resumen diario de este espacio de trabajo.',
      report: 'Ya no recibes informes semanales de este espacio de trabajo.',
    },
    preferences: 'Cambiar mis preferencias',
    invalid: 'Este enlace ya no funciona',
    invalidHelp:
      'Usa el enlace de un correo más reciente, o cambia tus preferencias en la aplicación, en la página Perfil.',
  },
}

const languages: Record<string, PageTexts> = { en, pt, es }

/** Returns the texts for the first supported language of the browser; default English. */
export function textsFor(headers: IncomingHttpHeaders): PageTexts {
  const ranges = (headers['accept-language'] ?? '').split(',').map(parseRange)
  const best = ranges
    .toSorted((a, b) => b.weight - a.weight)
    .find(({ name, weight }) => weight > 0 && name in languages)
  return (best && languages[best.name]) ?? en
}

function parseRange(range: string): { name: string; weight: number } {
  const [tag = '', ...parameters] = range.trim().toLowerCase().split(';')
  const weight = parameters.map((one) => /^\s*q=([\d.]+)$/.exec(one)?.[1]).find((found) => found !== undefined)
  return { name: tag.split('-')[0] ?? '', weight: weight === undefined ? 1 : Number(weight) }
}
