import { Type } from 'typebox'
import { unavailable } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'

export const paths = { alive: '/healthz', ready: '/readyz' } as const

const healthy = Type.Object({ status: Type.Literal('ok') }, { additionalProperties: false })

/**
 * `/healthz`: the process runs. `/readyz`: it can serve, that is, `askDatabase` resolves and the server is not stopping;
 * else 503 with `data.code` `DATABASE_UNAVAILABLE` or `DRAINING`.
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
        description:
          'For load balancers: 503 when the database does not read, or not write, within 3 s, or the server is stopping.',
        security: [],
        response: { 200: { ...healthy, description: 'Ready.' }, ...errors(400, 503) },
      },
    },
    async () => {
      try {
        await askDatabase()
        return { status: 'ok' as const }
      } catch {
        throw unavailable('The database does not answer', { code: 'DATABASE_UNAVAILABLE' }, 1)
      }
    },
  )
}
