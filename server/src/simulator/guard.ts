import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { forbidden } from '../base/errors.ts'
import type { App } from '../base/route.ts'

/**
 * The simulator knows no passwords, so that nothing but its address protects it: pages of other sites must not reach
 * it through somebody's browser, neither by a request across sites nor by a name that points here.
 */
export function keepOtherSitesOut(app: App, ownHosts: readonly string[]): void {
  app.addHook('onRequest', async (request) => {
    if (!isOwnHost(request.hostname, ownHosts)) throw forbidden('Open the simulator by its address, or by localhost')
    if (isFromElsewhere(request)) throw forbidden('The simulator takes no requests from pages of other sites')
  })
}

function isOwnHost(name: string, ownHosts: readonly string[]): boolean {
  const bare = name.replace(/^\[|\]$/g, '')
  return bare === 'localhost' || bare.endsWith('.localhost') || isIP(bare) !== 0 || ownHosts.includes(bare)
}

function isFromElsewhere({ headers }: FastifyRequest): boolean {
  if (headers['sec-fetch-site'] === 'cross-site') return headers['sec-fetch-mode'] !== 'navigate'
  const { origin } = headers
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== headers.host)
}
