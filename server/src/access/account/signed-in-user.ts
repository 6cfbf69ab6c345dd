import type { FastifyRequest } from 'fastify'
import { forbidden } from '../../base/errors.ts'
import { teamCallerOf } from '../../team/member.ts'

/** The user whom `guard.signedIn` let in, for what a token cannot have: a name, a password, sessions. */
export function signedInUser(request: FastifyRequest): { userId: string; sessionId: string } {
  const { userId, sessionId } = teamCallerOf(request)
  if (userId === null || sessionId === null) throw forbidden('This is for signed-in users, not for tokens')
  return { userId, sessionId }
}
