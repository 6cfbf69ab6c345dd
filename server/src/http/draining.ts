import { unavailable } from '../base/errors.ts'
import type { App } from '../base/route.ts'
import { paths } from './health.ts'

/** Once the app is closing: running requests end, kept-alive connections are told to close, new requests get 503. */
export function refuseWhileDraining(app: App): void {
  let draining = false
  app.addHook('preClose', async () => {
    draining = true
  })
  app.addHook('onRequest', async (request) => {
    const route = request.routeOptions.url
    if (!draining || route === paths.alive) return
    throw unavailable(
      'The server is stopping. Send this again.',
      route === paths.ready ? { code: 'DRAINING' } : undefined,
    )
  })
  app.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close')
  })
}
