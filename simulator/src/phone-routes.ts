import { readdirSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { extname } from 'node:path'
import type { App } from '../../server/src/base/route.ts'

const gatherMs = 30
const heartbeatMs = 20_000
const maxListeners = 100

/** Notifies pages of changes; they fetch the details. */
export function createLiveUpdates() {
  const listeners = new Set<ServerResponse>()
  let timer: NodeJS.Timeout | undefined
  const tell = (line: string) => {
    for (const listener of listeners) listener.write(line)
  }
  const heartbeat = setInterval(() => tell(': here\n\n'), heartbeatMs).unref()
  return {
    changed: (): void => {
      timer ??= setTimeout(() => {
        timer = undefined
        tell('data: changed\n\n')
      }, gatherMs).unref()
    },
    serve: (app: App): void => {
      app.get('/simulator/live', { schema: { hide: true } }, (_request, reply) => {
        if (listeners.size >= maxListeners)
          return reply.code(503).send({ statusCode: 503, statusMessage: 'Too many open pages' })
        reply.hijack()
        reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
        reply.raw.write('retry: 1000\n\ndata: changed\n\n')
        listeners.add(reply.raw)
        reply.raw.on('close', () => listeners.delete(reply.raw))
        return reply
      })
    },
    stop: (): void => {
      clearInterval(heartbeat)
      clearTimeout(timer)
      for (const listener of listeners) listener.end()
    },
  }
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const types: Record<string, string> = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript' }
const pages: Record<string, { path: string; title: string }> = {
  'phone.html': { path: '/phone', title: 'Customers' },
  'owner.html': { path: '/phone/owner', title: 'Business phone' },
  'platform.html': { path: '/phone/platform', title: 'Platform' },
  'numbers.html': { path: '/phone/numbers', title: 'Numbers' },
  'templates.html': { path: '/phone/templates', title: 'Templates' },
  'delivery.html': { path: '/phone/delivery', title: 'Delivery' },
  'mail.html': { path: '/phone/mail', title: 'Mail' },
}

const linksFrom = (here: string): string =>
  Object.values(pages)
    .map(({ path, title }) => `<a href="${path}"${path === here ? ' aria-current="page"' : ''}>${title}</a>`)
    .join('')

/**
 * Serves the pages: the customers' phones, the business's own, connecting numbers, what numbers may do and cost, the
 * review of templates, how messages and webhooks are delivered, and mails.
 */
export function phoneRoutes(app: App): void {
  for (const file of readdirSync(new URL('page/', import.meta.url))) {
    const path = pages[file]?.path ?? `/phone/${file}`
    const source = readFileSync(new URL(`page/${file}`, import.meta.url), 'utf8')
    const text = source.replace('<!-- pages -->', linksFrom(path))
    const type = `${types[extname(file)]}; charset=utf-8`
    app.get(path, { schema: { hide: true } }, (_request, reply) =>
      reply
        .type(type)
        .header('content-security-policy', policy)
        .header('x-content-type-options', 'nosniff')
        .header('referrer-policy', 'no-referrer')
        .header('cache-control', 'no-cache')
        .send(text),
    )
  }
  app.get('/', { schema: { hide: true } }, (_request, reply) => reply.redirect('/phone'))
}
