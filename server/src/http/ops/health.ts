import { Type } from 'typebox'
import { withTimeout } from '../../base/async/timeout.ts'
import { unavailable } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'

export const paths = { alive: '/healthz', ready: '/readyz' } as const

const maxWaitMs = 2000
const healthy = Type.Object({ status: Type.Literal('ok') }, { additionalProperties: false })

/**
 * `/healthz`: the process runs. `/readyz`: it can serve, that is, `askDatabase` resolved within 2 s and the server is
 * not stopping; else 503 with `data.code` `DATABASE_UNAVAILABLE` or `DRAINING`.
 */
export function serveHealth(app: App, askDatabase: () => Promise<unknown>): void {
  app.get(
    paths.alive,
    {
      exposeHeadRoute: true,
      schema: {
        tags: ['Service'],
        operationId: 'getLiveness',
        summary: 'Is the process alive',
        description: 'Always 200 while the process runs, whatever the state of the database.',
        security: [],
        response: { 200: { ...healthy, description: 'Alive.' }, ...errors(400) },
      },
    },
    async () => ({ status: 'ok' as const }),
  )
  app.get(
    paths.ready,
    {
      exposeHeadRoute: true,
      schema: {
        tags: ['Service'],
        operationId: 'getReadiness',
        summary: 'Can the process serve',
        description: 'For load balancers: 503 when the database does not answer within 2 s or the server is stopping.',
        security: [],
        response: { 200: { ...healthy, description: 'Ready.' }, ...errors(400, 503) },
      },
    },
    async () => {
      if (!(await answersInTime(askDatabase))) {
        throw unavailable('The database does not answer', { code: 'DATABASE_UNAVAILABLE' }, 1)
      }
      return { status: 'ok' as const }
    },
  )
}

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

async function answersInTime(ask: () => Promise<unknown>): Promise<boolean> {
  return withTimeout(maxWaitMs, ask).then(
    () => true,
    () => false,
  )
}
