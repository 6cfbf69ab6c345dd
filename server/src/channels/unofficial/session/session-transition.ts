import type { Tx } from '../../../base/db.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import { publishConnection } from '../../../team/live-updates.ts'
import { isNumberTaken } from '../../connection/connection.ts'
import { lockConnection } from '../../connection/queries.ts'
import { reservationOf } from '../../connection/registration.ts'
import { updateColumns } from '../../connection/update-columns.ts'
import { encryptPairing, type Session } from './session.ts'
import { type Lease, LeaseLostError } from './session-lease.ts'
import { findSession } from './session-queries.ts'

/** Change of a session; omitted fields stay the same. */
export type SessionTransition = Partial<
  Pick<Session, 'state' | 'reason' | 'isPaired' | 'wish' | 'pairing' | 'shownUntil' | 'attempt' | 'nextAttemptAt'>
> & {
  /** Digits of the linked phone. */
  phone?: string | null
  /** Deletes the keys: the device no longer exists. */
  forgets?: boolean
}

/** The phone is already linked to another connection. */
export class NumberTakenError extends Error {}

/**
 * Changes a session that is still ours, and its connection, which can send only while the session is open. Linking a
 * phone voids an earlier risk confirmation. Throws LeaseLostError and NumberTakenError.
 */
export async function transitionSession(
  tx: Tx,
  keyring: Keyring,
  lease: Lease,
  decide: SessionTransition | ((before: Session) => SessionTransition),
  now: Date,
): Promise<Session> {
  const before = await findSession(tx, keyring, lease, 'for update')
  if (before === undefined) throw new LeaseLostError()
  return applyTransition(tx, keyring, before, typeof decide === 'function' ? decide(before) : decide, now)
}

/** Changes a session that is already locked. */
export async function applyTransition(
  tx: Tx,
  keyring: Keyring,
  before: Session,
  transition: SessionTransition,
  now: Date,
): Promise<Session> {
  const { workspaceId, connectionId } = before
  const connection = { workspaceId, id: connectionId }
  const { phone, forgets, ...changes } = transition
  const merged = { ...before, ...changes }
  const isSame = merged.state === before.state && merged.reason === before.reason
  const after = isSame ? merged : { ...merged, stateChangedAt: now }
  if (forgets) await deleteKeys(tx, before)
  await writeSession(tx, keyring, after)
  // The risk was accepted for the previous pairing.
  if (after.isPaired && !before.isPaired)
    await updateColumns(tx, connection, tx`acknowledged_at = null, acknowledged_by = null, updated_at = ${now}`)
  if (phone !== undefined) await storeNumber(tx, keyring, before, phone, now)
  await syncConnectionState(tx, after, now)
  publishConnection(tx, workspaceId, connectionId)
  return after
}

async function writeSession(tx: Tx, keyring: Keyring, session: Session): Promise<void> {
  await tx`
    update channel_sessions
    set state = ${session.state},
      reason = ${session.reason},
      state_changed_at = ${session.stateChangedAt},
      is_paired = ${session.isPaired},
      wish = ${session.wish},
      pairing = ${encryptPairing(keyring, session.connectionId, session.pairing)},
      shown_until = ${session.shownUntil},
      attempt = ${session.attempt},
      next_attempt_at = ${session.nextAttemptAt}
    where workspace_id = ${session.workspaceId}
      and connection_id = ${session.connectionId}`
}

async function deleteKeys(tx: Tx, { workspaceId, connectionId }: Session): Promise<void> {
  await tx`
    delete from session_keys
    where workspace_id = ${workspaceId}
      and connection_id = ${connectionId}`
}

async function storeNumber(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, connectionId }: Session,
  phone: string | null,
  now: Date,
): Promise<void> {
  const one = await lockConnection(tx, keyring, workspaceId, connectionId)
  const [numberId, reservedAs] =
    phone === null ? [connectionId, null] : [phone, reservationOf(one?.settings.baseUrl ?? null, phone)]
  if (one === undefined || (one.numberId === numberId && one.reservedAs === reservedAs)) return
  try {
    await updateColumns(tx, one, tx`number_id = ${numberId}, reserved_as = ${reservedAs}, updated_at = ${now}`)
  } catch (error) {
    if (isNumberTaken(error)) throw new NumberTakenError()
    throw error
  }
}

/** Ends the pause of a connection: its state follows the session again. */
export async function endPause(tx: Tx, session: Session, now: Date): Promise<void> {
  const { workspaceId, connectionId } = session
  const columns = tx`state = 'unavailable', state_changed_at = ${now}`
  await updateColumns(tx, { workspaceId, id: connectionId }, columns, tx`state = 'paused'`)
  await syncConnectionState(tx, session, now)
  publishConnection(tx, workspaceId, connectionId)
}

/** Sets the connection's state from the session's; a paused connection stays paused. */
function syncConnectionState(tx: Tx, session: Session, now: Date): Promise<boolean> {
  const isOpen = session.state === 'open'
  const [state, reason] = isOpen ? ['active', null] : ['unavailable', session.reason]
  const columns = tx`
      state = ${state},
      state_reason = ${reason},
      state_changed_at = ${now},
      updated_at = ${now}`
  const isOther = tx`state <> 'paused' and (state, coalesce(state_reason, '')) <> (${state}, ${reason ?? ''})`
  return updateColumns(tx, { workspaceId: session.workspaceId, id: session.connectionId }, columns, isOther)
}
