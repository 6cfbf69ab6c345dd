import { forbidden } from '../../base/errors.ts'
import type { TeamCaller } from '../../team/member.ts'

/** The user who is signed in, for what a token cannot have: a name, a password, sessions. */
export function signedInUser({ userId, sessionId }: TeamCaller): { userId: string; sessionId: string } {
  if (userId === null || sessionId === null) throw forbidden('This is for signed-in users, not for tokens')
  return { userId, sessionId }
}
