import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Visitor } from '../team/team-deps.ts'
import { forgetSignIns, rememberSignIn } from './known-sign-ins.ts'
import { endAllSessions, type NewSession, type SignedInBy, startSession } from './sessions.ts'

/** After a change of what proves who one is: every session ends, and this browser, known alone, gets a new one. */
export async function renewSession(
  tx: Tx,
  instanceKeys: Keyring,
  userId: string,
  signedInBy: SignedInBy,
  visitor: Visitor,
  now: Date,
): Promise<NewSession> {
  await endAllSessions(tx, userId)
  await forgetSignIns(tx, userId)
  const session = await startSession(tx, { userId, signedInBy, device: visitor.device, previousToken: null }, now)
  return { ...session, deviceToken: await rememberSignIn(tx, instanceKeys, userId, visitor, now) }
}
