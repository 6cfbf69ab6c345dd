import { Type } from 'typebox'
import { invalid, notFound } from '../../base/errors.ts'
import { type App, errors, titled } from '../../base/route.ts'
import { unpaged } from '../../base/schema-types.ts'
import { readIsoTime } from '../../base/time.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { idSchema, teamRoute, workspaceParams } from '../../team/team-schema.ts'
import { changeKeyAs, createKeyAs, type KeyDeps, revokeKeyAs, rotateKeyAs } from './change.ts'
import {
  keyCallSchema,
  keyChangesSchema,
  keySchema,
  keyValueSchema,
  newKeySchema,
  presentKey,
  rotateKeySchema,
} from './key-schema.ts'
import { keptCalls } from './last-calls.ts'
import { selectApiKey, selectApiKeys } from './queries.ts'

const path = '/api/team/v1/workspaces/:workspaceId/keys'
const keyParams = Type.Object({ ...workspaceParams, keyId: idSchema('The key.') })
const withValue = titled('ApiKeyWithValue', { key: keySchema, value: keyValueSchema })

/** API keys as members see and make them. A key's value is in the answer that makes it and in no other. */
export function keyTeamRoutes(app: App, deps: KeyDeps, guard: TeamGuard): void {
  listRoute(app, deps, guard)
  readRoute(app, deps, guard)
  callsRoute(app, deps, guard)
  createRoute(app, deps, guard)
  changeRoute(app, deps, guard)
  rotateRoute(app, deps, guard)
  revokeRoute(app, deps, guard)
}

function listRoute(app: App, { db, clock }: KeyDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: path,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('API keys'),
      operationId: 'listApiKeys',
      summary: 'List API keys',
      description: 'Newest first, with those that no longer work.',
      params: Type.Object(workspaceParams),
      response: { 200: Type.Object({ keys: Type.Array(keySchema, unpaged) }), ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const rows = await selectApiKeys(db.sql, memberOf(request).workspaceId)
      return { keys: rows.map((row) => presentKey(row, clock.now())) }
    },
  })
}

function readRoute(app: App, { db, clock }: KeyDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${path}/:keyId`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('API keys'),
      operationId: 'getApiKey',
      summary: 'Read an API key',
      description: 'Its settings, never its value.',
      params: keyParams,
      response: { 200: Type.Object({ key: keySchema }), ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const row = await selectApiKey(db.sql, memberOf(request).workspaceId, request.params.keyId)
      if (row === null) throw notFound('API key not found')
      return { key: presentKey(row, clock.now()) }
    },
  })
}

function callsRoute(app: App, deps: KeyDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${path}/:keyId/calls`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('API keys'),
      operationId: 'listApiKeyCalls',
      summary: 'List the last calls of an API key',
      description: `The last ${keptCalls}, newest first, to within a minute; refused ones too. Nothing is kept of what was asked or answered.`,
      params: keyParams,
      response: {
        200: Type.Object({ calls: Type.Array(keyCallSchema, { maxItems: keptCalls }) }),
        ...errors(400, 401, 403, 404),
      },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const row = await selectApiKey(deps.db.sql, workspaceId, request.params.keyId)
      if (row === null) throw notFound('API key not found')
      const calls = await deps.lastCalls(workspaceId, row.id)
      return { calls: calls.map(({ at, ...call }) => ({ ...call, at: at.toISOString() })) }
    },
  })
}

function createRoute(app: App, deps: KeyDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: path,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('API keys'),
      operationId: 'createApiKey',
      summary: 'Create an API key',
      description: 'For admins. The value is in this answer and nowhere else. Give it what it needs and no more.',
      params: Type.Object(workspaceParams),
      body: newKeySchema,
      response: { 201: withValue, ...errors(400, 401, 403, 404) },
    },
    handler: async (request, reply) => {
      const input = { ...request.body, expiresAt: readTime('expiresAt', request.body.expiresAt) }
      const { key, value } = await createKeyAs(deps, memberOf(request), input)
      return reply.code(201).send({ key: presentKey(key, deps.clock.now()), value })
    },
  })
}

function changeRoute(app: App, deps: KeyDeps, guard: TeamGuard): void {
  app.route({
    method: 'PATCH',
    url: `${path}/:keyId`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('API keys'),
      operationId: 'changeApiKey',
      summary: 'Change an API key',
      description:
        'For admins. Its name, what it may do and see, whether customers who write for the first time go to it, and how much it may send. It holds at once, on every node. Conversations that it may no longer answer or see go back to people.',
      params: keyParams,
      body: keyChangesSchema,
      response: { 200: Type.Object({ key: keySchema }), ...errors(400, 401, 403, 404, 409) },
    },
    handler: async (request) => {
      const key = await changeKeyAs(deps, memberOf(request), request.params.keyId, request.body)
      return { key: presentKey(key, deps.clock.now()) }
    },
  })
}

function rotateRoute(app: App, deps: KeyDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${path}/:keyId/rotate`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('API keys'),
      operationId: 'rotateApiKey',
      summary: 'Give an API key a new value',
      description: 'For admins. The key stays the same one, with its settings and its conversations.',
      params: keyParams,
      body: rotateKeySchema,
      response: { 200: withValue, ...errors(400, 401, 403, 404, 409) },
    },
    handler: async (request) => {
      const previousValidUntil = readTime('previousValidUntil', request.body.previousValidUntil)
      const { key, value } = await rotateKeyAs(deps, memberOf(request), request.params.keyId, previousValidUntil)
      return { key: presentKey(key, deps.clock.now()), value }
    },
  })
}

function revokeRoute(app: App, deps: KeyDeps, guard: TeamGuard): void {
  app.route({
    method: 'DELETE',
    url: `${path}/:keyId`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('API keys'),
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key',
      description: 'For admins. It stops at once, for good; its conversations go back to people.',
      params: keyParams,
      response: { 200: Type.Object({ key: keySchema }), ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const key = await revokeKeyAs(deps, memberOf(request), request.params.keyId)
      return { key: presentKey(key, deps.clock.now()) }
    },
  })
}

function readTime(field: string, text: string | null | undefined): Date | null {
  if (text === undefined || text === null) return null
  const time = readIsoTime(text)
  if (time === null) throw invalid(field, 'must be an ISO 8601 time')
  return time
}
