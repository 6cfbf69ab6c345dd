import { unavailable } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'
import { paths } from './health.ts'

/** `leaving`: it serves as ever, and sends callers elsewhere. `closing`: it only ends what it has begun. */
type Stage = 'open' | 'leaving' | 'closing'

const stages = new WeakMap<App, Stage>()

/**
 * From now on `/readyz` says that the server is leaving, and every answer ends its connection, so that the next request
 * comes by another, to wherever a balancer sends it. Until the app is closed all else is served as before.
 */
export function startDraining(app: App): void {
  stages.set(app, 'leaving')
}

/** Once the app is closing, running requests end, and whatever else comes by a connection that was kept gets 503. */
export function refuseWhileClosing(app: App): void {
  stages.set(app, 'open')
  app.addHook('preClose', async () => {
    stages.set(app, 'closing')
  })
  app.addHook('onRequest', (request, reply, done) => {
    const stage = stages.get(app)
    if (stage === 'open') return done()
    // Also where the answer is written past the server, as streams are.
    reply.raw.setHeader('connection', 'close')
    const isReadiness = request.routeOptions.url === paths.ready
    if (request.routeOptions.url === paths.alive || (stage === 'leaving' && !isReadiness)) return done()
    done(unavailable('The server is stopping. Send this again.', isReadiness ? { code: 'DRAINING' } : undefined))
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (stages.get(app) !== 'open') reply.header('connection', 'close')
    done(null, payload)
  })
}
