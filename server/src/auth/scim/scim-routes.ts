import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { hashToken } from '../../base/encryption/secret-token.ts'
import { ApiError } from '../../base/errors.ts'
import { addressGroup } from '../../base/outgoing/address.ts'
import type { App } from '../../base/route.ts'
import { countAudit, instanceEntry, systemActor } from '../../team/audit.ts'
import { findProviderByScimToken, type Provider } from '../providers/provider.ts'
import type { Limiter } from '../rate-limit/limiter.ts'
import { takeOrRefuse } from '../rate-limit/request-limits.ts'
import { targetOf } from '../sso/sso-routes.ts'
import type { TeamDeps } from '../users/users.ts'
import { maxPage, resourceTypes, schemaDocuments, schemas, serviceProviderConfig } from './discovery.ts'
import {
  changeScimGroup,
  createScimGroup,
  deleteScimGroup,
  findScimGroups,
  requireScimGroup,
  type StoredGroup,
} from './groups.ts'
import { patchGroup, patchUser, readFilter, readGroup, readUser, resourceNotFound, ScimError } from './resource.ts'
import {
  changeScimUser,
  createScimUser,
  deleteScimUser,
  findScimUsers,
  requireScimUser,
  type ScimScope,
  type StoredUser,
} from './users.ts'

export interface ScimDeps extends TeamDeps {
  limiter: Limiter
}

const path = '/scim/v2'
/** Providers send a first synchronization at about 25 requests a second. */
const perMinute = { token: 3000, unknown: 60 }
const bodyLimit = 1024 * 1024
const params = Type.Object({ id: Type.String({ maxLength: 200 }) })
const query = Type.Object({
  filter: Type.Optional(Type.String({ maxLength: 500 })),
  startIndex: Type.Optional(Type.String({ maxLength: 10 })),
  count: Type.Optional(Type.String({ maxLength: 10 })),
  excludedAttributes: Type.Optional(Type.String({ maxLength: 500 })),
})
const hide = true

/** Serves SCIM 2.0 (RFC 7644) to identity providers, which create, change and switch off accounts and groups. */
export function scimRoutes(app: App, deps: ScimDeps): void {
  app.register(async (scope: App) => {
    const providers = new WeakMap<FastifyRequest, Provider>()
    scope.setErrorHandler(sendScimError)
    scope.addHook('onRequest', async (request) => {
      providers.set(request, await authenticate(deps, request))
    })
    const providerOf = (request: FastifyRequest): Provider => {
      const provider = providers.get(request)
      if (provider === undefined) throw new ScimError(401, 'Send the SCIM token')
      return provider
    }
    discoveryRoutes(scope, deps.publicUrl + path)
    userRoutes(scope, deps, providerOf)
    groupRoutes(scope, deps, providerOf)
  })
}

type ProviderOf = (request: FastifyRequest) => Provider

async function authenticate(deps: ScimDeps, request: FastifyRequest): Promise<Provider> {
  const token = /^bearer +(pls_[\w-]{43})$/i.exec(request.headers.authorization ?? '')?.[1]
  const keys = await deps.keyStore.keyring(instanceScope)
  const provider = token === undefined ? undefined : await findProviderByScimToken(deps.db.sql, keys, hashToken(token))
  if (provider !== undefined) {
    await takeOrRefuse(deps.limiter, `scim:${provider.id}`, perMinute.token)
    return provider
  }
  await takeOrRefuse(deps.limiter, `scim-unknown:${addressGroup(deps.clientAddressOf(request.raw))}`, perMinute.unknown)
  throw new ScimError(401, 'The SCIM token is missing or not valid')
}

const send = (reply: FastifyReply, status: number, body: object): FastifyReply =>
  reply.code(status).type('application/scim+json; charset=utf-8').send(JSON.stringify(body))

function discoveryRoutes(scope: App, base: string): void {
  const documents: Record<string, { id: string }[]> = {
    ResourceTypes: resourceTypes(base),
    Schemas: schemaDocuments(base),
  }
  scope.get(`${path}/ServiceProviderConfig`, { schema: { hide } }, (_request, reply) =>
    send(reply, 200, serviceProviderConfig(base)),
  )
  for (const [name, all] of Object.entries(documents)) {
    scope.get(`${path}/${name}`, { schema: { hide } }, (_request, reply) =>
      send(reply, 200, listOf(all, all.length, 1)),
    )
    scope.get(`${path}/${name}/:id`, { schema: { hide, params } }, (request, reply) => {
      const found = all.find(({ id }) => id === request.params.id)
      if (found === undefined) throw resourceNotFound()
      return send(reply, 200, found)
    })
  }
}

const listOf = (resources: readonly object[], totalResults: number, startIndex: number) => ({
  schemas: [schemas.list],
  ...{ totalResults, startIndex, itemsPerPage: resources.length, Resources: resources },
})

/** Returns the page that the query asks for; invalid numbers count as the defaults, as RFC 7644 prescribes for some. */
function pageIn({ startIndex, count }: { startIndex?: string; count?: string }) {
  const number = (text: string | undefined, fallback: number) => (/^\d+$/.test(text ?? '') ? Number(text) : fallback)
  const start = Math.max(1, number(startIndex, 1))
  return { start, offset: start - 1, limit: Math.min(maxPage, number(count, 100)) }
}

/** Runs a change for the provider of the request, and counts it in the log. */
function changeFor<T>(deps: ScimDeps, provider: Provider, action: string, work: (scope: ScimScope) => Promise<T>) {
  return deps.keyStore.withKeyring(instanceScope, (keys: Keyring) =>
    deps.db.tx(async (tx) => {
      const now = deps.clock.now()
      const result = await work({ tx, keys, provider, now })
      await countAudit(tx, instanceEntry(systemActor, action, targetOf(provider.id)), deps.wallClock.now())
      return result
    }),
  )
}

function userRoutes(scope: App, deps: ScimDeps, providerOf: ProviderOf): void {
  const { db, keyStore, publicUrl } = deps
  const url = `${path}/Users`
  const shown = (stored: StoredUser) => presentUser(publicUrl + url, stored)
  scope.get(url, { schema: { hide, querystring: query } }, async (request, reply) => {
    const { filter: text, ...rest } = request.query
    const filter = text === undefined ? null : readFilter(text, ['userName', 'externalId', 'id'])
    const page = pageIn(rest)
    const { users, total } = await keyStore.withKeyring(instanceScope, (keys) =>
      findScimUsers(db.sql, keys, providerOf(request).id, filter, page),
    )
    return send(reply, 200, listOf(users.map(shown), total, page.start))
  })
  scope.get(`${url}/:id`, { schema: { hide, params } }, async (request, reply) => {
    const stored = await keyStore.withKeyring(instanceScope, (keys) =>
      requireScimUser(db.sql, keys, providerOf(request).id, request.params.id),
    )
    return send(reply, 200, shown(stored))
  })
  scope.post(url, { schema: { hide }, bodyLimit }, async (request, reply) => {
    const user = readUser(request.body)
    const stored = await changeFor(deps, providerOf(request), 'scim.user-created', (change) =>
      createScimUser(change, user),
    )
    const body = shown(stored)
    return send(reply.header('location', body.meta.location), 201, body)
  })
  scope.put(`${url}/:id`, { schema: { hide, params }, bodyLimit }, async (request, reply) => {
    const user = readUser(request.body)
    const { id } = request.params
    const work = (change: ScimScope) => changeScimUser(change, id, () => user)
    return send(reply, 200, shown(await changeFor(deps, providerOf(request), 'scim.user-changed', work)))
  })
  scope.patch(`${url}/:id`, { schema: { hide, params }, bodyLimit }, async (request, reply) => {
    const { id } = request.params
    const work = (change: ScimScope) => changeScimUser(change, id, (before) => patchUser(before, request.body))
    return send(reply, 200, shown(await changeFor(deps, providerOf(request), 'scim.user-changed', work)))
  })
  scope.delete(`${url}/:id`, { schema: { hide, params } }, async (request, reply) => {
    const { id } = request.params
    await changeFor(deps, providerOf(request), 'scim.user-deleted', (change) => deleteScimUser(change, id))
    return reply.code(204).send()
  })
}

function presentUser(base: string, { id, user, createdAt, updatedAt }: StoredUser) {
  const { userName, externalId, displayName, givenName, familyName, email, isActive } = user
  const hasName = givenName !== null || familyName !== null
  return {
    schemas: [schemas.user],
    id,
    userName,
    ...(externalId !== null && { externalId }),
    ...(displayName !== null && { displayName }),
    ...(hasName && { name: { ...(givenName !== null && { givenName }), ...(familyName !== null && { familyName }) } }),
    ...(email !== null && { emails: [{ value: email, type: 'work', primary: true }] }),
    active: isActive,
    meta: metaOf('User', base, id, createdAt, updatedAt),
  }
}

const metaOf = (resourceType: string, base: string, id: string, createdAt: Date, updatedAt: Date) => ({
  resourceType,
  created: createdAt.toISOString(),
  lastModified: updatedAt.toISOString(),
  location: `${base}/${id}`,
})

function groupRoutes(scope: App, deps: ScimDeps, providerOf: ProviderOf): void {
  const { db, publicUrl } = deps
  const url = `${path}/Groups`
  const leavesMembers = (excluded = '') => excluded.split(',').some((name) => name.trim().toLowerCase() === 'members')
  const shown = (stored: StoredGroup, isShort = false) => presentGroup(publicUrl + path, stored, isShort)
  scope.get(url, { schema: { hide, querystring: query } }, async (request, reply) => {
    const { filter: text, excludedAttributes, ...rest } = request.query
    const filter = text === undefined ? null : readFilter(text, ['displayName', 'externalId', 'id'])
    const page = pageIn(rest)
    const isShort = leavesMembers(excludedAttributes)
    const { groups, total } = await findScimGroups(db.sql, providerOf(request).id, filter, page, !isShort)
    return send(
      reply,
      200,
      listOf(
        groups.map((group) => shown(group, isShort)),
        total,
        page.start,
      ),
    )
  })
  scope.get(`${url}/:id`, { schema: { hide, params, querystring: query } }, async (request, reply) => {
    const stored = await requireScimGroup(db.sql, providerOf(request).id, request.params.id)
    return send(reply, 200, shown(stored, leavesMembers(request.query.excludedAttributes)))
  })
  scope.post(url, { schema: { hide }, bodyLimit }, async (request, reply) => {
    const group = readGroup(request.body)
    const stored = await changeFor(deps, providerOf(request), 'scim.group-changed', (change) =>
      createScimGroup(change, group),
    )
    const body = shown(stored)
    return send(reply.header('location', body.meta.location), 201, body)
  })
  scope.put(`${url}/:id`, { schema: { hide, params }, bodyLimit }, async (request, reply) => {
    const group = readGroup(request.body)
    const work = (change: ScimScope) => changeScimGroup(change, request.params.id, () => group)
    return send(reply, 200, shown(await changeFor(deps, providerOf(request), 'scim.group-changed', work)))
  })
  scope.patch(`${url}/:id`, { schema: { hide, params }, bodyLimit }, async (request, reply) => {
    const change = (before: StoredGroup['group']) => patchGroup(before, request.body)
    const work = (scoped: ScimScope) => changeScimGroup(scoped, request.params.id, change)
    return send(reply, 200, shown(await changeFor(deps, providerOf(request), 'scim.group-changed', work)))
  })
  scope.delete(`${url}/:id`, { schema: { hide, params } }, async (request, reply) => {
    const { id } = request.params
    await changeFor(deps, providerOf(request), 'scim.group-changed', (change) => deleteScimGroup(change, id))
    return reply.code(204).send()
  })
}

function presentGroup(base: string, { id, group, createdAt, updatedAt }: StoredGroup, isShort: boolean) {
  const { displayName, externalId, members } = group
  return {
    schemas: [schemas.group],
    id,
    displayName,
    ...(externalId !== null && { externalId }),
    ...(!isShort && { members: [...members].map((value) => ({ value, $ref: `${base}/Users/${value}` })) }),
    meta: metaOf('Group', `${base}/Groups`, id, createdAt, updatedAt),
  }
}

/** Sends errors as SCIM prescribes them; throws unexpected ones to the server's error handler. */
function sendScimError(error: unknown, _request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = toScimError(error)
  if (known === null) throw error
  const { status, scimType, message } = known
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  if (error instanceof ApiError) reply.headers(error.headers)
  const body = { schemas: [schemas.error], status: String(status), ...(scimType && { scimType }), detail: message }
  return send(reply, status, body)
}

function toScimError(error: unknown): ScimError | null {
  if (error instanceof ScimError) return error
  if (error instanceof ApiError) {
    const { statusCode, message } = error
    return new ScimError(
      statusCode,
      message,
      statusCode === 409 ? 'uniqueness' : statusCode === 400 ? 'invalidSyntax' : null,
    )
  }
  const { statusCode = 500, validation } = error as { statusCode?: number; validation?: unknown }
  if (validation !== undefined) return new ScimError(400, 'The query or path is not valid', 'invalidValue')
  if (statusCode < 400 || statusCode >= 500) return null
  return new ScimError(statusCode, statusCode === 413 ? 'The body is larger than 1 MiB' : 'The body cannot be read')
}
