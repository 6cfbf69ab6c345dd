import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { type App, titled } from '../../base/route.ts'
import { unpaged } from '../../base/schema-types.ts'
import { readTime, withIsoTimes } from '../../base/time.ts'
import type { TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { idSchema, workspaceParams } from '../../team/team-schema.ts'
import { changeKeyAs, createKeyAs, type KeyDeps, revokeKeyAs, rotateKeyAs } from './change-key.ts'
import {
  keyCallSchema,
  keyChangesSchema,
  keySchema,
  keyValueSchema,
  newKeySchema,
  presentKey,
  rotateKeySchema,
} from './key-schema.ts'
import { maxCallsPerKey } from './last-calls.ts'
import { selectApiKey, selectApiKeys } from './queries.ts'

const path = '/api/team/v1/workspaces/:workspaceId/keys'
const keyParams = Type.Object({ ...workspaceParams, keyId: idSchema('The key.') })
const withValue = titled('ApiKeyWithValue', { key: keySchema, value: keyValueSchema })

/** Adds the routes for API keys. A key's value appears only in the response that creates it. */
export function keyTeamRoutes(app: App, deps: KeyDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'API keys')
  const { db, clock } = deps
  api.get(path, 'member', {
    operationId: 'listApiKeys',
    summary: 'List API keys',
    description: 'Newest first, including revoked and expired keys.',
    answers: { 200: Type.Object({ keys: Type.Array(keySchema, unpaged) }) },
    run: async ({ member }) => {
      const rows = await selectApiKeys(db.sql, member.workspaceId)
      return { keys: rows.map((row) => presentKey(row, clock.now())) }
    },
  })
  api.get(`${path}/:keyId`, 'member', {
    operationId: 'getApiKey',
    summary: 'Get an API key',
    description: 'Returns its settings, never its value.',
    params: keyParams,
    answers: { 200: Type.Object({ key: keySchema }) },
    run: async ({ member, params }) => {
      const row = await selectApiKey(db.sql, member.workspaceId, params.keyId)
      if (row === null) throw notFound('API key not found')
      return { key: presentKey(row, clock.now()) }
    },
  })
  api.get(`${path}/:keyId/calls`, 'member', {
    operationId: 'listApiKeyCalls',
    summary: 'List the last calls of an API key',
    description: `The last ${maxCallsPerKey}, newest first, including refused ones. Calls appear within a minute. Requests and responses are not stored.`,
    params: keyParams,
    answers: { 200: Type.Object({ calls: Type.Array(keyCallSchema, { maxItems: maxCallsPerKey }) }) },
    run: async ({ member, params }) => {
      const { workspaceId } = member
      const row = await selectApiKey(deps.db.sql, workspaceId, params.keyId)
      if (row === null) throw notFound('API key not found')
      const calls = await deps.lastCalls(workspaceId, row.id)
      return { calls: calls.map(withIsoTimes) }
    },
  })
  changeRoutes(api, deps)
}

function changeRoutes(api: TeamApi, deps: KeyDeps): void {
  api.post(path, 'admin', {
    operationId: 'createApiKey',
    summary: 'Create an API key',
    description: 'For admins. The value is shown only in this response. Grant only the scopes that the key needs.',
    body: newKeySchema,
    answers: { 201: withValue },
    allErrors: [400, 401, 403, 404],
    run: async ({ member, body }) => {
      const input = { ...body, expiresAt: readTime('expiresAt', body.expiresAt) }
      const { key, value } = await createKeyAs(deps, member, input)
      return { key: presentKey(key, deps.clock.now()), value }
    },
  })
  api.patch(`${path}/:keyId`, 'admin', {
    operationId: 'changeApiKey',
    summary: 'Change an API key',
    description:
      'For admins. Changes its name, permissions, tools, visibility, send limits, and whether new conversations are assigned to it. Takes effect immediately on every node. Conversations that it can no longer answer or see are returned to people.',
    params: keyParams,
    body: keyChangesSchema,
    answers: { 200: Type.Object({ key: keySchema }) },
    allErrors: [400, 401, 403, 404, 409],
    run: async ({ member, params, body }) => {
      const key = await changeKeyAs(deps, member, params.keyId, body)
      return { key: presentKey(key, deps.clock.now()) }
    },
  })
  api.post(`${path}/:keyId/rotate`, 'admin', {
    operationId: 'rotateApiKey',
    summary: 'Rotate an API key',
    description: 'For admins. Replaces its value. The key keeps its id, settings and conversations.',
    params: keyParams,
    body: rotateKeySchema,
    answers: { 200: withValue },
    allErrors: [400, 401, 403, 404, 409],
    run: async ({ member, params, body }) => {
      const previousValidUntil = readTime('previousValidUntil', body.previousValidUntil)
      const { key, value } = await rotateKeyAs(deps, member, params.keyId, previousValidUntil)
      return { key: presentKey(key, deps.clock.now()), value }
    },
  })
  api.delete(`${path}/:keyId`, 'admin', {
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description:
      'For admins. The key stops working immediately and permanently. Its conversations are returned to people.',
    params: keyParams,
    answers: { 200: Type.Object({ key: keySchema }) },
    run: async ({ member, params }) => {
      const key = await revokeKeyAs(deps, member, params.keyId)
      return { key: presentKey(key, deps.clock.now()) }
    },
  })
}
