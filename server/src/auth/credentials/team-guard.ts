import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Sql } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import { isSameSecret } from '../../base/encryption/secret-token.ts'
import { ApiError, forbidden, notFound, unauthorized } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { type LeadSettingsRow, leadSettingsColumns, readLeadSettings } from '../../base/lead-settings.ts'
import { type App, errors } from '../../base/route.ts'
import { setWorkspace } from '../../base/scheduling/work-context.ts'
import { type Member, type Role, roleCovers, type TeamCaller, type TeamGuard } from '../../team/member.ts'
import type { Limiter } from '../rate-limit/limiter.ts'
import { rateLimited, setRateLimitHeaders } from '../rate-limit/request-limits.ts'
import { findSession, needsTouch, touchSession } from '../sign-in/sessions.ts'
import { csrfHeader, refuseForeignOrigin, refuseForgery, sessionCookie } from '../sign-in/visitor.ts'
import { findUser, openPerson, type TeamDeps } from '../users/users.ts'
import { findTeamToken, isTeamToken, noteTokenUse, useIsNews } from './team-tokens.ts'

/** Makes room for the caller on every request; call it once, before any route with a team guard. */
export function decorateTeamRequests(app: App): void {
  app.decorateRequest('teamCaller', null)
  app.decorateRequest('member', null)
  app.addHook('onRoute', (route) => {
    const { security, response } = (route.schema ?? {}) as { security?: object[]; response?: object }
    if (!security?.some((each) => 'session' in each)) return
    // A change is refused to a page that does not send its session's token.
    const refusals = route.method === 'GET' ? errors(429) : errors(403, 429)
    route.schema = { ...route.schema, response: { ...refusals, ...response } }
  })
}

interface TeamGuardDeps extends CredentialDeps {
  /** Requests a minute of a session or team token; without it there is no limit. */
  rate?: { limiter: Limiter; perMinute: number }
}

/**
 * The doors of the team API. Without a valid credential 401; after too many requests 429; in somebody else's workspace
 * 404, as if there were none; with too low a role 403.
 */
export function createTeamGuard(deps: TeamGuardDeps): TeamGuard {
  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<Identity> => {
    const identity = await identify(deps, request)
    await countRequest(deps, identity, reply)
    request.teamCaller = identity.caller
    return identity
  }
  return {
    visitor: () => async (request) => refuseForeignOrigin(request.headers, deps.publicUrl),
    signedIn: () => async (request, reply) => {
      await admit(request, reply)
    },
    operator: () => async (request, reply) => {
      const { caller } = await admit(request, reply)
      if (!caller.isOperator) throw forbidden('Only an operator of this installation may do this')
    },
    member: (minRole) => async (request, reply) => {
      const identity = await admit(request, reply)
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
  const row = await findStanding(sql, workspaceId.toLowerCase(), caller.userId)
  if (row === undefined) return null
  const role = caller.isOperator ? 'owner' : (row.role ?? roleOfToken(identity, row.id))
  if (role === null) return null
  const workspace = {
    ...readLeadSettings(row),
    leadsEnabled: row.leads_enabled,
    inboxEnabled: row.inbox_enabled,
    inboxAvailable: row.inbox_available,
  }
  return { ...caller, workspaceId: row.id, role, workspace }
}

function roleOfToken({ caller, tokenRole }: Identity, workspaceId: string): Role | null {
  const isInside = caller.tokenWorkspaceId === null || caller.tokenWorkspaceId === workspaceId
  return isInside ? tokenRole : null
}

interface StandingRow extends LeadSettingsRow {
  id: string
  leads_enabled: boolean
  inbox_enabled: boolean
  inbox_available: boolean
  role: Role | null
}

async function findStanding(sql: Sql, workspaceId: string, userId: string | null): Promise<StandingRow | undefined> {
  const [row] = await sql<StandingRow[]>`
    select w.id, ${leadSettingsColumns(sql)}, w.leads_enabled, w.inbox_enabled, w.inbox_available, m.role
    from workspaces w
    left join members m on m.workspace_id = w.id and m.user_id = ${userId}::uuid
    where w.id = ${workspaceId}`
  return row
}

/**
 * Who may read the installation's figures: a collector with the token that is for this alone, or an operator by a team
 * token. They tell how much business there is, so nobody else.
 */
export function createMetricsDoor(
  deps: CredentialDeps & { metricsToken: string | null },
): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const { authorization } = request.headers
    // No session will do: the worker's server knows no cookies.
    if (authorization === undefined) throw unauthorized('Send the metrics token, or the team token of an operator')
    if (deps.metricsToken !== null && isSameSecret(tokenIn(authorization), deps.metricsToken)) return
    const { caller } = await identify(deps, request)
    if (!caller.isOperator) throw forbidden('Only an operator of this installation may do this')
  }
}

type CredentialDeps = Pick<TeamDeps, 'db' | 'keyStore' | 'clock' | 'wallClock' | 'sessionIdleMs' | 'publicUrl'> & {
  /** The operator's token of the environment. */
  teamToken: string | null
  /** The running process's own, which it hands to the command line on the same machine. */
  localToken?: string
}

/** A caller, and the role that a token has wherever it works. */
interface Identity {
  caller: TeamCaller
  tokenRole: Role | null
  /** The command line on the same machine. */
  isLocal?: true
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Who calls: by bearer token, else by session cookie. Throws 401, or 403 for a change that another site forged. Looking
 * again at a request that goes on is no use of its session.
 */
async function identify(
  deps: CredentialDeps,
  request: FastifyRequest,
  { isUse }: { isUse: boolean } = { isUse: true },
): Promise<Identity> {
  const { authorization } = request.headers
  if (authorization !== undefined) return byToken(deps, tokenIn(authorization))
  const sessionToken = sessionCookie(deps.publicUrl).read(request)
  const caller = sessionToken === null ? null : await findCallerBySession(deps, sessionToken, { isUse })
  if (sessionToken === null || caller === null) throw unauthorized('Sign in, or send a team token')
  if (!safeMethods.has(request.method)) {
    refuseForgery(request.headers, deps.publicUrl, sessionToken, request.headers[csrfHeader]?.toString())
  }
  return { caller, tokenRole: null }
}

/** The user of a live session, which by its use stays alive; null when the session is over. */
export async function findCallerBySession(
  deps: Omit<CredentialDeps, 'teamToken' | 'localToken'>,
  sessionToken: string,
  { isUse }: { isUse: boolean } = { isUse: true },
): Promise<TeamCaller | null> {
  const now = deps.wallClock.now()
  const session = await findSession(deps, sessionToken, now)
  const user = session === undefined ? undefined : await findUser(deps.db.sql, session.user_id)
  if (session === undefined || user === undefined) return null
  if (isUse && needsTouch(session, now)) await deps.db.tx((tx) => touchSession(tx, session.id, now))
  const person = await deps.keyStore.withKeyring(instanceScope, (keys) => openPerson(keys, user.id, user.person))
  return {
    userId: user.id,
    tokenId: null,
    tokenWorkspaceId: null,
    makerId: user.id,
    sessionId: session.id,
    name: person.name,
    isOperator: user.is_operator,
    actor: { type: 'user', id: user.id },
  }
}

/** The value of a `Bearer` header; empty when it is none. */
function tokenIn(authorization: string): string {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
}

async function byToken(deps: CredentialDeps, value: string): Promise<Identity> {
  if (deps.teamToken !== null && isSameSecret(value, deps.teamToken)) return instanceToken
  if (deps.localToken !== undefined && isSameSecret(value, deps.localToken)) return { ...instanceToken, isLocal: true }
  const now = deps.clock.now()
  const token = isTeamToken(value) ? await findTeamToken(deps.db.sql, value, now) : undefined
  if (token === undefined) throw unauthorized('Team token not valid')
  if (useIsNews(token, now)) await deps.db.tx((tx) => noteTokenUse(tx, token.id, now))
  const caller: TeamCaller = {
    userId: null,
    tokenId: token.id,
    tokenWorkspaceId: token.workspace_id,
    makerId: token.created_by,
    sessionId: null,
    name: token.name,
    isOperator: token.workspace_id === null && token.role === 'owner',
    actor: { type: 'token', id: token.id },
  }
  return { caller, tokenRole: token.role }
}

// Neither of the two has a row, so they go by the id of the instance.
const instanceToken: Identity = {
  caller: {
    userId: null,
    tokenId: instanceScope,
    tokenWorkspaceId: null,
    makerId: null,
    sessionId: null,
    name: 'Operator token',
    isOperator: true,
    actor: { type: 'token', id: instanceScope },
  },
  tokenRole: 'owner',
}
