import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { LeadSettings } from '../base/lead-settings.ts'

/** From the least to the most that a member may do. */
export const roles = ['member', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

export function roleCovers(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/** Who calls the team API: a signed-in user or a team token. */
export interface TeamCaller {
  userId: string | null
  tokenId: string | null
  /** The one workspace that a token is for; null for users and for tokens of the whole installation. */
  tokenWorkspaceId: string | null
  /** The user who answers for what the caller makes: themselves, or who made the token. Null for an operator's setting. */
  makerId: string | null
  /** The session that a user came with. */
  sessionId: string | null
  /** The user's or the token's name. */
  name: string
  /** Runs the instance: may do everything in every workspace. */
  isOperator: boolean
  actor: TeamActor
}

export type TeamActor = { type: 'user' | 'token'; id: string }

export interface MemberWorkspace extends LeadSettings {
  leadsEnabled: boolean
  inboxEnabled: boolean
  inboxAvailable: boolean
}

/** A caller inside one workspace. */
export interface Member extends TeamCaller {
  workspaceId: string
  role: Role
  workspace: MemberWorkspace
}

/** The doors of the team API, for a route's `onRequest`. */
export interface TeamGuard {
  /** Anyone, from a page of this service or from no page. */
  visitor(): onRequestHookHandler
  /** Anyone who is signed in, or any team token. */
  signedIn(): onRequestHookHandler
  /** Members of the workspace in the path (`:workspaceId`) from this role up. Others are told that there is none. */
  member(minRole: Role): onRequestHookHandler
  operator(): onRequestHookHandler
  /** The member behind a request that goes on, as of now; null once that has ended. Does not keep a session alive. */
  stillMember(request: FastifyRequest): Promise<Member | null>
}

declare module 'fastify' {
  interface FastifyRequest {
    teamCaller: TeamCaller | null
    member: Member | null
  }
}

/** The caller behind `guard.signedIn` or `guard.operator`. */
export function teamCallerOf(request: FastifyRequest): TeamCaller {
  if (request.teamCaller === null) throw new Error('The route has no team guard')
  return request.teamCaller
}

/** The member behind `guard.member`. */
export function memberOf(request: FastifyRequest): Member {
  if (request.member === null) throw new Error('The route has no member guard')
  return request.member
}
