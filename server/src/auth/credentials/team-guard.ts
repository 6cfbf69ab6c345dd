import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Sql } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import { isSameSecret } from '../../base/encryption/secret-token.ts'
import { ApiError, forbidden, notFound, unauthorized } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { leadSettingsColumns } from '../../base/lead-settings.ts'
import { selectedAs } from '../../base/postgres/rows.ts'
import { type App, errors } from '../../base/route.ts'
import { setWorkspace } from '../../base/scheduling/work-context.ts'
import {
  type Member,
  type MemberWorkspace,
  type Role,
  roleCovers,
  type TeamCaller,
  type TeamGuard,
} from '../../team/member.ts'
import type { Limiter } from '../rate-limit/limiter.ts'
import { rateLimited, setRateLimitHeaders } from '../rate-limit/request-limits.ts'
import { findSession, needsTouch, touchSession } from '../sign-in/sessions.ts'
import { csrfHeader, ownCookie, refuseCrossOrigin, requireCsrfToken } from '../sign-in/visitor.ts'
import { decryptPerson, findUser, type TeamDeps } from '../users/users.ts'
import { findTeamToken, isTeamToken, isUseDue, recordTokenUse } from './team-tokens.ts'

/** Decorates requests with the caller. Call it once, before any route with a team guard. */
export function decorateTeamRequests(app: App): void {
  app.decorateRequest('teamCaller', null)
  app.decorateRequest('member', null)
  app.addHook('onRoute', (route) => {
    const { security, response } = (route.schema ?? {}) as { security?: object[]; response?: object }
    if (!security?.some((each) => 'session' in each)) return
    // A page must send its session's CSRF token with a change; without it the change is refused.
    const refusals = route.method === 'GET' ? errors(429) : errors(403, 429)
    route.schema = { ...route.schema, response: { ...refusals, ...response } }
  })
}

interface TeamGuardDeps extends CredentialDeps {
  /** Requests per minute of a session or team token. No limit if absent. */
  rate?: { limiter: Limiter; perMinute: number }
}

/**
 * Creates the guards of the team API. They refuse with 401 without a valid credential, 429 after too many requests, 404
 * in a workspace that the caller is not in (as if it did not exist) and 403 if the role is too low.
 */
export function createTeamGuard(deps: TeamGuardDeps): TeamGuard {
  const authorizeRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<Identity> => {
    const identity = await identify(deps, request)
    await countRequest(deps, identity, reply)
    request.teamCaller = identity.caller
    return identity
  }
  return {
    visitor: () => async (request) => refuseCrossOrigin(request.headers, deps.publicUrl),
    signedIn: () => async (request, reply) => {
      await authorizeRequest(request, reply)
    },
    operator: () => async (request, reply) => {
      const { caller } = await authorizeRequest(request, reply)
      if (!caller.isOperator) throw forbidden('Only operators of this installation can do this')
    },
    member: (minRole) => async (request, reply) => {
      const identity = await authorizeRequest(request, reply)
      const member = await memberIn(deps.db.sql, workspaceIdIn(request), identity)
      if (member === null) throw notFound('Workspace not found')
      setWorkspace(member.workspaceId)
      if (!roleCovers(member.role, minRole)) throw forbidden(`This needs the role ${minRole} in the workspace`)
      request.member = member
    },
    stillMember: async (request) => {
      try {
        return await memberIn(deps.db.sql, workspaceIdIn(request), await identify(deps, request, { isUse: false }))
      } catch (error) {
        if (error instanceof ApiError) return null
        throw error
      }
    },
  }
}

async function countRequest({ rate }: TeamGuardDeps, identity: Identity, reply: FastifyReply): Promise<void> {
  if (rate === undefined || rate.perMinute === 0 || identity.isLocal) return
  const { sessionId, tokenId } = identity.caller
  const take = await rate.limiter.take(`team:${sessionId ?? tokenId}`, rate.perMinute)
  setRateLimitHeaders(reply, take)
  if (!take.allowed) throw rateLimited(take)
}

function workspaceIdIn(request: FastifyRequest): string {
  const { workspaceId } = request.params as { workspaceId?: string }
  if (workspaceId === undefined) throw new Error('A member guard needs :workspaceId in the path')
  return workspaceId
}

async function memberIn(sql: Sql, workspaceId: string, identity: Identity): Promise<Member | null> {
  if (!isUuid(workspaceId)) return null
  const { caller } = identity
  const [row] = await sql<WorkspaceAccessRow[]>`
    select ${leadSettingsColumns}, ${accessColumns}, m.role
    from workspaces w
    left join members m on m.workspace_id = w.id and m.user_id = ${caller.userId}::uuid
    where w.id = ${workspaceId.toLowerCase()}`
  if (row === undefined) return null
  const { id, role: memberRole, ...workspace } = row
  const role = caller.isOperator ? 'owner' : (memberRole ?? roleOfToken(identity, id))
  return role === null ? null : { ...caller, workspaceId: id, role, workspace }
}

const accessColumns = selectedAs('w', ['id', 'leadsEnabled', 'inboxEnabled', 'inboxAvailable'])

function roleOfToken({ caller, tokenRole }: Identity, workspaceId: string): Role | null {
  const isInside = caller.tokenWorkspaceId === null || caller.tokenWorkspaceId === workspaceId
  return isInside ? tokenRole : null
}

interface WorkspaceAccessRow extends MemberWorkspace {
  id: string
  role: Role | null
}

/**
 * Creates the guard of the metrics. It accepts the metrics token, or the team token of an operator. Metrics show how
 * much business there is, so nobody else may read them.
 */
export function createMetricsGuard(
  deps: CredentialDeps & { metricsToken: string | null },
): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const { authorization } = request.headers
    // Accepts no session: the worker's server reads no cookies.
    if (authorization === undefined) throw unauthorized('Send the metrics token, or the team token of an operator')
    if (deps.metricsToken !== null && isSameSecret(bearerTokenIn(authorization), deps.metricsToken)) return
    const { caller } = await identify(deps, request)
    if (!caller.isOperator) throw forbidden('Only operators of this installation can do this')
  }
}

type CredentialDeps = Pick<TeamDeps, 'db' | 'keyStore' | 'clock' | 'wallClock' | 'sessionIdleMs' | 'publicUrl'> & {
  /** Operator token from the environment. */
  teamToken: string | null
  /** Token of the running process, which the command line on the same machine uses. */
  localToken?: string
}

/** A caller, with the role that a token has in every workspace where it works. */
interface Identity {
  caller: TeamCaller
  tokenRole: Role | null
  /** True for the command line on the same machine. */
  isLocal?: true
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Returns the caller, by bearer token, else by session cookie. Throws 401, or 403 for a cross-site change. Rechecking a
 * long-running request (`isUse: false`) does not extend its session.
 */
async function identify(
  deps: CredentialDeps,
  request: FastifyRequest,
  { isUse }: { isUse: boolean } = { isUse: true },
): Promise<Identity> {
  const { authorization } = request.headers
  if (authorization !== undefined) return authenticateToken(deps, bearerTokenIn(authorization))
  const sessionToken = ownCookie(deps.publicUrl, 'session').read(request)
  const caller = await findCallerBySession(deps, sessionToken, { isUse })
  if (sessionToken === null || caller === null) throw unauthorized('Sign in, or send a team token')
  if (!safeMethods.has(request.method)) {
    requireCsrfToken(request.headers, deps.publicUrl, sessionToken, request.headers[csrfHeader]?.toString())
  }
  return { caller, tokenRole: null }
}

/** Returns the user of a live session and extends the session; null if the session has ended. */
export async function findCallerBySession(
  deps: Omit<CredentialDeps, 'teamToken' | 'localToken'>,
  sessionToken: string | null,
  { isUse }: { isUse: boolean } = { isUse: true },
): Promise<TeamCaller | null> {
  const now = deps.wallClock.now()
  const session = await findSession(deps, sessionToken, now)
  const user = session === undefined ? undefined : await findUser(deps.db.sql, session.userId)
  if (session === undefined || user === undefined) return null
  if (isUse && needsTouch(session, now)) await deps.db.tx((tx) => touchSession(tx, session.id, now))
  const person = await deps.keyStore.withKeyring(instanceScope, (keys) => decryptPerson(keys, user.id, user.person))
  return {
    userId: user.id,
    tokenId: null,
    tokenWorkspaceId: null,
    creatorId: user.id,
    sessionId: session.id,
    name: person.name,
    isOperator: user.is_operator,
    actor: { type: 'user', id: user.id },
  }
}

/** Returns the value of a `Bearer` header; empty if it is not one. */
function bearerTokenIn(authorization: string): string {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
}

async function authenticateToken(deps: CredentialDeps, value: string): Promise<Identity> {
  if (deps.teamToken !== null && isSameSecret(value, deps.teamToken)) return instanceToken
  if (deps.localToken !== undefined && isSameSecret(value, deps.localToken)) return { ...instanceToken, isLocal: true }
  const now = deps.clock.now()
  const token = isTeamToken(value) ? await findTeamToken(deps.db.sql, value, now) : undefined
  if (token === undefined) throw unauthorized('Team token not valid')
  if (isUseDue(token, now)) await deps.db.tx((tx) => recordTokenUse(tx, token.id, now))
  const caller: TeamCaller = {
    userId: null,
    tokenId: token.id,
    tokenWorkspaceId: token.workspaceId,
    creatorId: token.createdBy,
    sessionId: null,
    name: token.name,
    isOperator: token.workspaceId === null && token.role === 'owner',
    actor: { type: 'token', id: token.id },
  }
  return { caller, tokenRole: token.role }
}

// Neither token has a row, so both use the id of the instance.
const instanceToken: Identity = {
  caller: {
    userId: null,
    tokenId: instanceScope,
    tokenWorkspaceId: null,
    creatorId: null,
    sessionId: null,
    name: 'Operator token',
    isOperator: true,
    actor: { type: 'token', id: instanceScope },
  },
  tokenRole: 'owner',
}
