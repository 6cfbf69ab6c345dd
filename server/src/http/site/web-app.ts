import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findCallerBySession } from '../../access/credentials/team-credential.ts'
import { sessionCookie } from '../../access/sign-in/cookies.ts'
import type { TeamDeps } from '../../access/users/team-deps.ts'
import { notFound } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'
import { html } from '../../base/text/html.ts'
import { pageFor, readShell } from './first-look.ts'
import { fontPath, page, sendPage } from './page.ts'
import { wordsFor } from './words.ts'

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
export async function webAppRoutes(site: App, deps: TeamDeps, folder: string = builtApp): Promise<void> {
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
      pageFor(shell, {
        url: request.url,
        nonce,
        language: wordsFor(request.headers).language.slice(0, 2),
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
