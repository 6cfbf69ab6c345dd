import type { FastifyRequest } from 'fastify'
import type { App } from '../../base/route.ts'
import { type Metrics, metricsType } from './metrics.ts'

/** `/metrics`, for those whom `admit` lets in. */
export function serveMetrics(app: App, metrics: Metrics, admit: (request: FastifyRequest) => Promise<void>): void {
  app.get('/metrics', { onRequest: admit, schema: { hide: true } }, async (_request, reply) =>
    reply.type(metricsType).send(await metrics.page()),
  )
}
