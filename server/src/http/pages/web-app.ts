import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findCallerBySession } from '../../auth/credentials/team-guard.ts'
import { sessionCookie } from '../../auth/sign-in/visitor.ts'
import type { TeamDeps } from '../../auth/users/users.ts'
import { ApiError, notFound } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import type { App } from '../../base/route.ts'
import { html } from '../../base/text/html.ts'
import { fontPath, page, sendPage, textsFor } from './page.ts'

/** What people open: the web app, with its pages for signing in and joining. */
export async function pageRoutes(app: App, deps: TeamDeps): Promise<void> {
  // A scope of its own: failures are pages here.
  await app.register(async (site: App) => {
    site.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, hide: true }
    })
    site.setErrorHandler(answerWithPage)
    await webAppRoutes(site, deps)
  })
}

/** What a caller may see becomes a page; what they may not is left to the server's own handler. */
function answerWithPage(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
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
/** Rooms of a workspace. Typed without one, the app goes on to the workspace where the person was last. */
const rooms = ['home', 'inbox', 'leads', 'connections', 'forms', 'webhooks', 'keys', 'settings', 'profile']
/** Where the app's own router takes over; whatever else is asked for stays the server's. */
const places = ['/', '/w/*', '/choose-password', ...rooms.flatMap((room) => [`/${room}`, `/${room}/*`])]
/** The app's pages for who is not signed in yet. To open a link changes nothing: mail programs look at links. */
const openPlaces = ['/sign-in', '/sign-in/:token', '/invite/:token']

/** One line that makes the app, whatever is missing; null when it is there. */
export function howToBuild(folder: string = builtApp): string | null {
  if (existsSync(join(folder, 'index.html'))) return null
  return existsSync(join(root, 'web', 'index.html'))
    ? `cd "${root.replace(/[/\\]$/, '')}" && npm ci && npm run build && npm prune --omit=dev`
    : 'npm install parley-<version>.tgz, of a package that npm run package has made'
}

/** The team's app: one page for all of its addresses, for who is signed in, and the built files it is made of. */
async function webAppRoutes(site: App, deps: TeamDeps, folder: string = builtApp): Promise<void> {
  const assets = join(folder, 'assets')
  if (existsSync(assets)) {
    // Each name holds a digest of its file, so that a browser never asks twice, nor whether it has changed.
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
  for (const [name, type] of besideAssets) serveFile(site, join(folder, name), `/${name}`, type)
  serveFile(site, join(folder, fontPath), fontPath, 'font/woff2', `public, max-age=${oneYearSeconds}, immutable`)
  for (const place of openPlaces) site.get(place, (request, reply) => sendApp(folder, request, reply))
  for (const place of places)
    site.get(place, async (request, reply) =>
      (await isSignedIn(deps, request)) ? sendApp(folder, request, reply) : sendToSignIn(request, reply),
    )
}

/** What browsers look for by a name that stays: a worker sees the pages below its own address alone. */
const besideAssets: readonly (readonly [name: string, type: string])[] = [
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

// A worker has the policy that its own file came with, and what it shows has our icon.
const filePolicy = "default-src 'none'; img-src 'self'; frame-ancestors 'none'"

async function isSignedIn(deps: TeamDeps, request: FastifyRequest): Promise<boolean> {
  const token = sessionCookie(deps.publicUrl).read(request)
  return token !== null && (await findCallerBySession(deps, token)) !== null
}

function sendToSignIn({ url }: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.redirect(`/sign-in${url === '/' ? '' : `?next=${encodeURIComponent(url)}`}`, 303)
}

async function sendApp(folder: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  // Read at each visit, so that a build beside a running service is seen; it is a few kilobytes.
  const shell = await readShell(folder)
  if (shell === null) return sendPage(reply, notBuiltPage(howToBuild(folder) ?? 'npm run build'), 503)
  const nonce = randomBytes(16).toString('base64')
  const { parley_scheme: chosen = '', parley_time_zone: timeZone = '' } = request.cookies
  const scheme = ['light', 'dark'].includes(chosen) ? chosen : ''
  return reply
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

// The app's library writes its sizes and colours as a style element, which the nonce lets through. Nothing else is inline.
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    // What was recorded is heard before it is sent.
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
<p>Stop the service, run this line, and start it again:</p><pre>${line}</pre>
<p>The interfaces work without it: see the <a href="/docs">reference</a>.</p></div>`,
  )

/** The page as it was built, and which files each room needs beyond it. */
interface Shell {
  page: string
  parts: Parts | null
}

interface Part {
  scripts: string[]
  styles: string[]
}

interface Parts {
  /** What the frame says in each language. */
  languages: Record<string, Part>
  /** What each room needs and says, in each language. */
  rooms: Record<string, Record<string, Part>>
}

export interface Look {
  url: string
  nonce: string
  language: string
  /** `light` or `dark` if the person has chosen, else empty. */
  scheme: string
  /** That of the browser, once the app has told; else empty. */
  timeZone: string
}

/** The built page; null when there is none. */
async function readShell(folder: string): Promise<Shell | null> {
  const read = (file: string) => readFile(join(folder, file), 'utf8').catch(() => null)
  const [page, parts] = await Promise.all([read('index.html'), read('first-look.json')])
  return page === null ? null : { page, parts: parts === null ? null : JSON.parse(parts) }
}

/**
 * The page for an address: it shows the shape of the room and has all on the way that the room's first look takes, code and
 * data, which would else be asked for one after the other.
 */
export function renderShell({ page, parts }: Shell, { url, nonce, language, scheme, timeZone }: Look): string {
  const place = placeOf(url)
  const files = parts === null ? [] : partsOf(parts, place, language)
  const scripts = new Set(files.flatMap((part) => part.scripts))
  const styles = new Set(files.flatMap((part) => part.styles))
  const early = [
    ...dataOf(place, timeZone).map(
      (path) => `<link rel="preload" as="fetch" crossorigin href="${path.replaceAll('&', '&amp;')}">`,
    ),
    ...[...scripts].map((file) => `<link rel="modulepreload" crossorigin href="/${file}">`),
  ]
  return page
    .replaceAll('%NONCE%', nonce)
    .replace('%ROOM%', place.room)
    .replace('%SCHEME%', scheme)
    .replace('<!--scripts-->', early.join('\n    '))
    .replace(
      '<!--styles-->',
      [...styles].map((file) => `<link rel="stylesheet" crossorigin href="/${file}">`).join('\n    '),
    )
}

interface Place {
  workspaceId: string | null
  room: string
  /** Whether it is the room's own page rather than one below it. */
  isWhole: boolean
  /** Whether the address names something in the room. */
  hasBelow: boolean
  isFiltered: boolean
}

/** One page shows whatever is below them. */
const wide = ['inbox', 'settings']

/** Where nobody is signed in yet. */
const entries = ['sign-in', 'invite', 'choose-password']

function placeOf(url: string): Place {
  const [path = '', query] = url.split('?', 2)
  const parts = path.split('/').slice(1)
  if (entries.includes(parts[0] ?? '')) {
    return { workspaceId: null, room: 'entry', hasBelow: false, isWhole: true, isFiltered: false }
  }
  const [workspaceId = '', room = '', ...below] = parts[0] === 'w' ? parts.slice(1) : ['', ...parts]
  return {
    workspaceId: isUuid(workspaceId) ? workspaceId : null,
    room: /^[a-z]{1,20}$/.test(room) ? room : 'home',
    hasBelow: below.length > 0,
    isWhole: below.length === 0 || wide.includes(room),
    isFiltered: query !== undefined,
  }
}

function partsOf({ rooms, languages }: Parts, { room, isWhole, hasBelow }: Place, language: string): Part[] {
  const own = isWhole ? rooms[room] : undefined
  const thread = room === 'inbox' && hasBelow ? rooms.thread : undefined
  return [languages, own, thread].map((part) => part?.[language]).filter((part) => part !== undefined)
}

const timeZoneShape = /^[\w+/-]{1,64}$/

/** What the app is going to ask for first, in the very words: it would be fetched twice otherwise. */
function dataOf({ workspaceId, room, isFiltered, hasBelow }: Place, timeZone: string): string[] {
  const session = '/api/team/v1/session'
  if (room === 'entry') return []
  if (workspaceId === null || isFiltered) return [session]
  const own = `/api/team/v1/workspaces/${workspaceId}`
  if (room === 'inbox') {
    return [session, `${own}/inbox/conversations?sort=recent&view=all&limit=40&status=open`, `${own}/labels`]
  }
  if (hasBelow) return [session]
  if (room === 'leads') return [session, `${own}/leads?sortBy=createdAt&sortOrder=desc&limit=100&page=1`]
  // Days are the reader's.
  const isCounted = room === 'home' && timeZoneShape.test(timeZone)
  return isCounted ? [session, `${own}/stats?days=30&tz=${encodeURIComponent(timeZone)}`] : [session]
}
