import type { Tx } from '../base/db.ts'
import { endAllSessions, type NewSession, type SignedInBy, startSession } from './sessions.ts'
import type { Visitor } from './team-deps.ts'

/** After a change of what proves who one is: every session ends, and this browser gets a new one. */
export async function renewSession(
  tx: Tx,
  userId: string,
  signedInBy: SignedInBy,
  visitor: Visitor,
  now: Date,
): Promise<NewSession> {
  await endAllSessions(tx, userId)
  return startSession(tx, { userId, signedInBy, device: visitor.device, previousToken: null }, now)
}
