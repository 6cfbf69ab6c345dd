import type { FastifyError, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ApiError, notFound } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import type { App } from '../base/route.ts'
import { attributeTo } from '../base/shares/work.ts'
import type { Channel, StoredConnection } from './connection/connection.ts'
import type { CallbackDeps } from './store-callback.ts'

// The platform sends up to 3 MB.
const maxBodyBytes = 3 * 1024 * 1024

/** What the schemas of routes that platforms call share. */
export const callbackRoute = { tags: ['Channels'], security: [] }
export const callbackParams = Type.Object({
  connectionId: Type.String({ maxLength: 255, description: 'The connection that the callback is set for.' }),
})

/** Routes that platforms call. Only these take raw bytes, hence a scope of their own. */
export function callbackScope(app: App, routes: (scope: App) => void): void {
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    // The signature is over the very bytes, whatever type they claim to be of.
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, body, done) => {
      done(null, body)
    })
    scope.setErrorHandler((error: FastifyError) => {
      if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') throw new ApiError(413, 'Body is larger than 3 MiB')
      throw error
    })
    routes(scope)
  })
}

/** The bytes of a callback as they came. */
export const bytesOf = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))

/** The connection that the address names, and all of its workspace and channel: they may share its callback. */
export interface Called<C extends Channel> {
  called: Extract<StoredConnection, { channel: C }>
  all: Extract<StoredConnection, { channel: C }>[]
}

/**
 * Finds whom a request calls. Throws 404 when the address names no connection of the channel. Only those whose platform
 * has confirmed their number get any events.
 */
export async function calledConnections<C extends Channel>(
  deps: CallbackDeps,
  { params }: FastifyRequest,
  channel: C,
  which: 'all' | 'reserved' = 'reserved',
): Promise<Called<C>> {
  const id = (params as { connectionId: string }).connectionId.toLowerCase()
  const found = isUuid(id) ? await deps.connections.find(channel, id) : []
  const told = which === 'all' ? found : found.filter(({ isReserved }) => isReserved)
  // They are of the channel, since only those were looked for.
  const all = told.map(({ connection }) => connection) as Called<C>['all']
  const called = all.find((one) => one.id === id)
  if (called === undefined) throw notFound('Connection not found')
  attributeTo(called.workspaceId)
  return { called, all }
}
