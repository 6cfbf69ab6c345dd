import { randomUUID } from 'node:crypto'
import fastify from 'fastify'
import { createKeyGuard, type KeyGuardOptions } from '../../src/auth/api-keys/authenticate.ts'
import { callerOf } from '../../src/auth/api-keys/caller.ts'
import { createApiKey, type KeyWithValue } from '../../src/auth/api-keys/change-key.ts'
import type { KeySettingsInput } from '../../src/auth/api-keys/queries.ts'
import { createMemoryLimiter } from '../../src/auth/rate-limit/limiter.ts'
import { type Clock, manualClock } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/db.ts'
import { ApiError } from '../../src/base/errors.ts'

export const noon = new Date('2026-03-01T12:00:00Z')

/** Starts a server that has only guarded routes, which answer with the authenticated caller. */
export async function guardedApp(db: Db, options: Partial<KeyGuardOptions> = {}) {
  const clock = options.clock ?? manualClock(noon)
  const limiter = options.limiter ?? createMemoryLimiter(clock)
  const limits = { leadsPerMinute: 3000, inboxPerMinute: 300 }
  const guard = await createKeyGuard({ db, clock, limits, trustedProxies: [], limiter, ...options })
  const app = fastify()
  app.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof ApiError)) throw error
    const { statusCode, message, data, headers } = error
    return reply.code(statusCode).headers(headers).send({ statusCode, statusMessage: message, data })
  })
  const routes = {
    '/leads': guard.leads('leads.read'),
    '/upsert': guard.leads('leads.write', 'leads.bulk'),
    '/delete': guard.deleteLeads(),
    '/inbox': guard.inbox('inbox.read'),
    '/any': guard.anyKey(),
  }
  for (const [path, onRequest] of Object.entries(routes)) {
    app.get(path, { onRequest }, async (request) => {
      const { scopes, ...caller } = callerOf(request)
      return { ...caller, scopes: [...scopes] }
    })
  }
  return { app, guard }
}

export async function newWorkspace(db: Db, clock: Clock): Promise<string> {
  const id = randomUUID()
  await db.sql`
    insert into workspaces (id, name, created_at, updated_at)
    values (${id}, 'Test', ${clock.now()}, ${clock.now()})`
  return id
}

/** Creates a key, by default with every scope and in a new workspace. */
export async function newKey(
  db: Db,
  clock: Clock,
  settings: Partial<KeySettingsInput> & { workspaceId?: string } = {},
): Promise<KeyWithValue> {
  const workspaceId = settings.workspaceId ?? (await newWorkspace(db, clock))
  const all = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk', 'inbox.read', 'inbox.write']
  return db.tx((tx) =>
    createApiKey(tx, { name: 'Test', scopes: all, createdBy: null, ...settings, workspaceId }, clock.now()),
  )
}

export const bearer = (value: string): { authorization: string } => ({ authorization: `Bearer ${value}` })
