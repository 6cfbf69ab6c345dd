import type { FastifyRequest } from 'fastify'
import { findCallerBySession } from '../../access/credentials/team-credential.ts'
import { sessionCookie } from '../../access/sign-in/cookies.ts'
import { csrfTokenOf } from '../../access/sign-in/csrf.ts'
import type { TeamDeps } from '../../access/users/team-deps.ts'
import type { TeamCaller } from '../../team/member.ts'

export type SiteDeps = TeamDeps

export interface SignedInVisit {
  caller: TeamCaller
  sessionToken: string
  csrfToken: string
}

/** Who looks at the page; null for a stranger. */
export async function signedInVisit(deps: SiteDeps, request: FastifyRequest): Promise<SignedInVisit | null> {
  const sessionToken = sessionCookie(deps.publicUrl).read(request)
  const caller = sessionToken === null ? null : await findCallerBySession(deps, sessionToken)
  if (sessionToken === null || caller === null) return null
  return { caller, sessionToken, csrfToken: csrfTokenOf(sessionToken) }
}
