import type { Static } from 'typebox'
import type { StoredSession } from '../../connection/connection.ts'
import type { sessionSchema } from './schema.ts'
import type { Session } from './session.ts'

/** A session for those who may see it. Who only works with the inbox is not shown what links a device to the number. */
export function presentSession(
  { id, numberId }: Pick<StoredSession, 'id' | 'numberId'>,
  session: Session,
  { mayPair, now }: { mayPair: boolean; now: Date },
): Static<typeof sessionSchema> {
  const { pairing, shownUntil, wish } = session
  // Asked to be unlinked, a phone is none of ours any more, though the holder has yet to tell the network.
  const isLeaving = wish === 'unpair' || wish === 'pair'
  const isShown = mayPair && session.state === 'pairing' && shownUntil !== null && shownUntil > now
  return {
    state: session.state,
    reason: session.reason,
    stateChangedAt: session.stateChangedAt.toISOString(),
    paired: session.isPaired && !isLeaving,
    phone: numberId === id || wish === 'unpair' ? null : numberId,
    method: session.state === 'pairing' ? (pairing?.method ?? null) : null,
    qr: isShown && pairing?.method === 'qr' ? pairing.qr : null,
    pairingCode: isShown && pairing?.method === 'code' ? pairing.code : null,
    shownUntil: isShown ? shownUntil.toISOString() : null,
    nextAttemptAt: session.state === 'waiting' ? (session.nextAttemptAt?.toISOString() ?? null) : null,
  }
}
