import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findCallerBySession } from '../../auth/credentials/team-guard.ts'
import { ownCookie } from '../../auth/sign-in/visitor.ts'
import type { TeamDeps } from '../../auth/users/users.ts'
import { ApiError, notFound } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import type { App } from '../../base/route.ts'
import { html } from '../../base/text/html.ts'
import { fontPath, page, sendPage, textsFor } from './page.ts'

/** Serves the web app, with its pages to sign in and to join. */
export async function pageRoutes(app: App, deps: TeamDeps): Promise<void> {
  // An encapsulated scope: only its errors are pages.
  await app.register(async (site: App) => {
    site.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, hide: true }
    })
    site.setErrorHandler(sendErrorPage)
    await webAppRoutes(site, deps)
  })
}

/** Sends expected errors as a page; throws others to the server's error handler. */
function sendErrorPage(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!(error instanceof ApiError)) throw error
  const words = textsFor(request.headers)
  const title = error.statusCode === 404 ? words.nothingHere : words.failed
  const shown = page(
    { title, words },
    html`<div class="card">
<h1>${title}</h1>
<p class="quiet">${error.message}</p>
</div>`,
  )
  return sendPage(reply.headers(error.headers), shown, error.statusCode)
}

const builtApp = fileURLToPath(new URL('../../../../web/dist/', import.meta.url))
const root = fileURLToPath(new URL('../../../..', import.meta.url))
const oneYear = '365d'
const oneYearSeconds = 365 * 24 * 3600
/** Sections of a workspace. Without a workspace in the path, the app opens the one that the person used last. */
const sections = ['home', 'inbox', 'leads', 'connections', 'forms', 'webhooks', 'keys', 'settings', 'profile']
/** Page on which people decide about programs. */
const consentPath = '/oauth/authorize'
/** Routes of the app's own router; the server handles all others. */
const appRoutes = [
  '/',
  '/w/*',
  '/choose-password',
  consentPath,
  ...sections.flatMap((section) => [`/${section}`, `/${section}/*`]),
]
/** Pages without sign-in. A GET changes nothing: mail programs prefetch links. */
const publicRoutes = ['/sign-in', '/sign-in/:token', '/invite/:token']

/** Returns the command that builds or installs the web app; null if it is built. */
export function buildCommand(folder: string = builtApp): string | null {
  if (existsSync(join(folder, 'index.html'))) return null
  return existsSync(join(root, 'web', 'index.html'))
    ? `cd "${root.replace(/[/\\]$/, '')}" && npm ci && npm run build && npm prune --omit=dev`
    : 'npm install parley-<version>.tgz, a package from npm run package'
}

/** Serves one page for all addresses of the app, for signed-in people, and the built files. */
async function webAppRoutes(site: App, deps: TeamDeps, folder: string = builtApp): Promise<void> {
  const assets = join(folder, 'assets')
  if (existsSync(assets)) {
    // File names contain a content hash, so browsers never revalidate them.
    await site.register(files, {
      root: assets,
      prefix: '/assets/',
      preCompressed: true,
      immutable: true,
      maxAge: oneYear,
      etag: false,
      lastModified: false,
      acceptRanges: false,
    })
  }
  for (const [name, type] of rootFiles) serveFile(site, join(folder, name), `/${name}`, type)
  serveFile(site, join(folder, fontPath), fontPath, 'font/woff2', `public, max-age=${oneYearSeconds}, immutable`)
  for (const place of publicRoutes) site.get(place, (request, reply) => sendApp(folder, request, reply))
  for (const place of appRoutes)
    site.get(place, async (request, reply) =>
      (await isSignedIn(deps, request)) ? sendApp(folder, request, reply) : sendToSignIn(request, reply),
    )
}

/** Files with fixed names. The worker is at the root because its scope is limited to paths below its own. */
const rootFiles: readonly (readonly [name: string, type: string])[] = [
  ['sw.js', 'text/javascript; charset=utf-8'],
  ['manifest.webmanifest', 'application/manifest+json'],
  ['icon-192.png', 'image/png'],
  ['icon-512.png', 'image/png'],
  ['icon-maskable-512.png', 'image/png'],
]

function serveFile(site: App, file: string, path: string, type: string, caching = 'no-cache'): void {
  site.get(path, async (_request, reply) => {
    const bytes = await readFile(file).catch(() => {
      throw notFound('Not found')
    })
    return reply.header('cache-control', caching).header('content-security-policy', filePolicy).type(type).send(bytes)
  })
}

// A service worker has the policy of its own file, and its notifications show our icon.
const filePolicy = "default-src 'none'; img-src 'self'; frame-ancestors 'none'"

const isSignedIn = async (deps: TeamDeps, request: FastifyRequest): Promise<boolean> =>
  (await findCallerBySession(deps, ownCookie(deps.publicUrl, 'session').read(request))) !== null

const consentUrls = [`${consentPath}?`, `/sign-in?next=${encodeURIComponent(`${consentPath}?`)}`]

/** Programs open the consent page in a window of their own, which must still reach its opener when it returns. */
const openerPolicyOf = (url: string) =>
  consentUrls.some((start) => url.startsWith(start)) ? { 'cross-origin-opener-policy': 'unsafe-none' } : {}

function sendToSignIn({ url }: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply
    .headers(openerPolicyOf(url))
    .redirect(`/sign-in${url === '/' ? '' : `?next=${encodeURIComponent(url)}`}`, 303)
}

async function sendApp(folder: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  // Read per request (a few kilobytes), so that a new build is served without a restart.
  const shell = await readShell(folder)
  if (shell === null) return sendPage(reply, notBuiltPage(buildCommand(folder) ?? 'npm run build'), 503)
  const nonce = randomBytes(16).toString('base64')
  const { parley_scheme: chosen = '', parley_time_zone: timeZone = '' } = request.cookies
  const scheme = ['light', 'dark'].includes(chosen) ? chosen : ''
  return reply
    .headers(openerPolicyOf(request.url))
    .header('content-security-policy', policyWith(nonce))
    .header('referrer-policy', 'same-origin')
    .type('text/html; charset=utf-8')
    .send(
      renderShell(shell, {
        url: request.url,
        nonce,
        language: textsFor(request.headers).language.slice(0, 2),
        scheme,
        timeZone,
      }),
    )
}

// The UI library inserts a style element for sizes and colors, which needs the nonce. Nothing else is inline.
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    // For playback of a recording before it is sent.
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

const notBuiltPage = (line: string) =>
  page(
    { title: 'Not built' },
    html`<div class="card"><h1>The web app is not built</h1>
<p>Stop the service, run this command, and start it again:</p><pre>${line}</pre>
<p>The APIs work without it: see the <a href="/docs">reference</a>.</p></div>`,
  )

/** The built page, and the extra files of each section. */
interface Shell {
  page: string
  parts: Parts | null
}

interface Part {
  scripts: string[]
  styles: string[]
}

interface Parts {
  /** Texts of the frame, by language. */
  languages: Record<string, Part>
  /** Code and texts of each section, by language. */
  sections: Record<string, Record<string, Part>>
}

export interface PageContext {
  url: string
  nonce: string
  language: string
  /** `light` or `dark` if the person has chosen, else empty. */
  scheme: string
  /** Time zone of the browser from its cookie; empty if unknown. */
  timeZone: string
}

/** Reads the built page; returns null if there is none. */
async function readShell(folder: string): Promise<Shell | null> {
  const read = (file: string) => readFile(join(folder, file), 'utf8').catch(() => null)
  const [page, parts] = await Promise.all([read('index.html'), read('app-shell.json')])
  return page === null ? null : { page, parts: parts === null ? null : JSON.parse(parts) }
}

/**
 * Renders the page for an address: with the skeleton of the section, and with preloads of the code and data that its
 * first view needs, which would otherwise load one after the other.
 */
export function renderShell({ page, parts }: Shell, { url, nonce, language, scheme, timeZone }: PageContext): string {
  const place = parseLocation(url)
  const files = parts === null ? [] : selectParts(parts, place, language)
  const scripts = new Set(files.flatMap((part) => part.scripts))
  const styles = new Set(files.flatMap((part) => part.styles))
  const preloads = [
    ...preloadPaths(place, timeZone).map(
      (path) => `<link rel="preload" as="fetch" crossorigin href="${path.replaceAll('&', '&amp;')}">`,
    ),
    ...[...scripts].map((file) => `<link rel="modulepreload" crossorigin href="/${file}">`),
  ]
  return page
    .replaceAll('%NONCE%', nonce)
    .replace('%SECTION%', place.section)
    .replace('%SCHEME%', scheme)
    .replace('<!--scripts-->', preloads.join('\n    '))
    .replace(
      '<!--styles-->',
      [...styles].map((file) => `<link rel="stylesheet" crossorigin href="/${file}">`).join('\n    '),
    )
}

interface PageLocation {
  workspaceId: string | null
  section: string
  isMainPage: boolean
  /** Whether the path continues below the section. */
  hasBelow: boolean
  isFiltered: boolean
}

/** Sections whose main page also serves all paths below. */
const sectionsWithSubpages = ['inbox', 'settings']

/** Pages without the frame of the app. */
const framelessSections = ['sign-in', 'invite', 'choose-password', 'oauth']

function parseLocation(url: string): PageLocation {
  const [path = '', query] = url.split('?', 2)
  const parts = path.split('/').slice(1)
  if (framelessSections.includes(parts[0] ?? '')) {
    // The code of the pages before sign-in is not that of the consent page.
    const isMainPage = parts[0] !== 'oauth'
    return { workspaceId: null, section: 'entry', hasBelow: false, isMainPage, isFiltered: false }
  }
  const [workspaceId = '', section = '', ...below] = parts[0] === 'w' ? parts.slice(1) : ['', ...parts]
  return {
    workspaceId: isUuid(workspaceId) ? workspaceId : null,
    section: /^[a-z]{1,20}$/.test(section) ? section : 'home',
    hasBelow: below.length > 0,
    isMainPage: below.length === 0 || sectionsWithSubpages.includes(section),
    isFiltered: query !== undefined,
  }
}

function selectParts(
  { sections, languages }: Parts,
  { section, isMainPage, hasBelow }: PageLocation,
  language: string,
): Part[] {
  const own = isMainPage ? sections[section] : undefined
  const thread = section === 'inbox' && hasBelow ? sections.thread : undefined
  return [languages, own, thread].map((part) => part?.[language]).filter((part) => part !== undefined)
}

const timeZoneShape = /^[\w+/-]{1,64}$/

/** Returns the first requests of the app. They must match its URLs exactly, or the browser fetches them twice. */
function preloadPaths({ workspaceId, section, isFiltered, hasBelow }: PageLocation, timeZone: string): string[] {
  const session = '/api/team/v1/session'
  if (section === 'entry') return []
  if (workspaceId === null || isFiltered) return [session]
  const own = `/api/team/v1/workspaces/${workspaceId}`
  if (section === 'inbox') {
    return [session, `${own}/inbox/conversations?sort=recent&view=all&limit=40&status=open`, `${own}/labels`]
  }
  if (hasBelow) return [session]
  if (section === 'leads') return [session, `${own}/leads?sortBy=createdAt&sortOrder=desc&limit=100&page=1`]
  // Statistics use the days of the reader's time zone.
  const preloadsStats = section === 'home' && timeZoneShape.test(timeZone)
  return preloadsStats ? [session, `${own}/stats?days=30&tz=${encodeURIComponent(timeZone)}`] : [session]
}
