import type { FastifyRequest } from 'fastify'
import { unauthorized } from '../../base/errors.ts'
import { sameSecret } from '../../base/sealing/secret-token.ts'
import { instanceScope } from '../../base/sealing/vault.ts'
import type { Role, TeamCaller } from '../../team/member.ts'
import { sessionCookie } from '../sign-in/cookies.ts'
import { csrfHeader, refuseForgery } from '../sign-in/csrf.ts'
import { findSession, needsTouch, touchSession } from '../sign-in/sessions.ts'
import type { TeamDeps } from '../users/team-deps.ts'
import { findUser, openPerson } from '../users/users.ts'
import { findTeamToken, isTeamToken, noteTokenUse, useIsNews } from './team-tokens.ts'

export type CredentialDeps = Pick<TeamDeps, 'db' | 'vault' | 'clock' | 'wallClock' | 'sessionIdleMs' | 'publicUrl'> & {
  /** The operator's token of the environment. */
  teamToken: string | null
  /** The running process's own, which it hands to the command line on the same machine. */
  localToken?: string
}

/** A caller, and the role that a token has wherever it works. */
export interface Identity {
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
export async function identify(
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
  const person = await deps.vault.withKeyring(instanceScope, (keys) => openPerson(keys, user.id, user.person))
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
export function tokenIn(authorization: string): string {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
}

async function byToken(deps: CredentialDeps, value: string): Promise<Identity> {
  if (deps.teamToken !== null && sameSecret(value, deps.teamToken)) return instanceToken
  if (deps.localToken !== undefined && sameSecret(value, deps.localToken)) return { ...instanceToken, isLocal: true }
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
