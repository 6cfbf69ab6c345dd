import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { forbidden } from '../base/errors.ts'
import type { LeadSettings } from '../base/lead-settings.ts'

/** Roles, from the least to the most permissions. */
export const roles = ['member', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

export function roleCovers(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/** The caller of the team API: a signed-in user or a team token. */
export interface TeamCaller {
  userId: string | null
  tokenId: string | null
  /** The workspace of a token; null for users and for installation-wide tokens. */
  tokenWorkspaceId: string | null
  /** The user responsible for what the caller creates: themselves or the token's creator. Null for operator tokens. */
  creatorId: string | null
  sessionId: string | null
  name: string
  /** Whether the caller runs the instance and can do everything in every workspace. */
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

/** Hooks of the team API, for a route's `onRequest`. */
export interface TeamGuard {
  /** Allows anyone, from a page of this service or without a page. */
  visitor(): onRequestHookHandler
  /** Allows any signed-in user and any team token. */
  signedIn(): onRequestHookHandler
  /** Allows members of the workspace in the path (`:workspaceId`) with at least this role. Others get 404. */
  member(minRole: Role): onRequestHookHandler
  operator(): onRequestHookHandler
  /** Returns the current member of a long-running request; null if access has ended. Does not extend the session. */
  stillMember(request: FastifyRequest): Promise<Member | null>
}

declare module 'fastify' {
  interface FastifyRequest {
    teamCaller: TeamCaller | null
    member: Member | null
  }
}

/** Returns the caller after `guard.signedIn` or `guard.operator`. */
export function teamCallerOf(request: FastifyRequest): TeamCaller {
  if (request.teamCaller === null) throw new Error('The route has no team guard')
  return request.teamCaller
}

/** Returns the signed-in user. Throws 403 for a token, which has no name, password or sessions of its own. */
export function signedInUser({ userId, sessionId }: TeamCaller): { userId: string; sessionId: string } {
  if (userId === null || sessionId === null) throw forbidden('Only signed-in users can do this, not tokens')
  return { userId, sessionId }
}

/** Returns the member after `guard.member`. */
export function memberOf(request: FastifyRequest): Member {
  if (request.member === null) throw new Error('The route has no member guard')
  return request.member
}
