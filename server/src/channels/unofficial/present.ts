import type { Static } from 'typebox'
import type { StoredSession } from '../connection.ts'
import type { sessionSchema } from './schema.ts'
import type { Session } from './session.ts'

/** A session for those who may see it. Who only works with the inbox is not shown what links a device to the number. */
export function presentSession(
  { id, numberId }: Pick<StoredSession, 'id' | 'numberId'>,
  session: Session,
  { mayPair, now }: { mayPair: boolean; now: Date },
): Static<typeof sessionSchema> {
  const { pairing, shownUntil } = session
  const isShown = mayPair && session.state === 'pairing' && shownUntil !== null && shownUntil > now
  return {
    state: session.state,
    reason: session.reason,
    stateChangedAt: session.stateChangedAt.toISOString(),
    paired: session.isPaired,
    phone: numberId === id ? null : numberId,
    method: session.state === 'pairing' ? (pairing?.method ?? null) : null,
    qr: isShown && pairing?.method === 'qr' ? pairing.qr : null,
    pairingCode: isShown && pairing?.method === 'code' ? pairing.code : null,
    shownUntil: isShown ? shownUntil.toISOString() : null,
    nextAttemptAt: session.state === 'waiting' ? (session.nextAttemptAt?.toISOString() ?? null) : null,
  }
}
