import { unavailable } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'
import { paths } from '../ops/health.ts'

/** Once the app is closing: running requests end, kept-alive connections are told to close, new requests get 503. */
export function refuseWhileDraining(app: App): void {
  let draining = false
  app.addHook('preClose', async () => {
    draining = true
  })
  app.addHook('onRequest', (request, _reply, done) => {
    if (!draining || request.routeOptions.url === paths.alive) return done()
    const isReadiness = request.routeOptions.url === paths.ready
    done(unavailable('The server is stopping. Send this again.', isReadiness ? { code: 'DRAINING' } : undefined))
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (draining) reply.header('connection', 'close')
    done(null, payload)
  })
}
