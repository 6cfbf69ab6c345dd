import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../base/db.ts'
import type { ChannelEvent } from '../../channel-event.ts'
import type { SessionConnection } from '../../connection/connection.ts'
import { isActivityDue, measureLag, storeActivity } from '../../health/activity.ts'
import { parseEvent, type SocketUpdate } from '../parse/parse-event.ts'
import { mayBeOwnMessageId } from '../send/connector.ts'
import { sendWaitingMessages } from '../send/outbox.ts'
import { endSends, findOwnSends, type SendEnd } from '../send/sends.ts'
import type { SocketEvent } from '../transport/transport.ts'
import { decideAfterClose } from './disconnect.ts'
import {
  closeSocket,
  dropAfterError,
  dropSession,
  enqueueAction,
  type HeldSession,
  isHeld,
  logoutSocket,
  openSocket,
  type SessionWorkerDeps,
  type SocketOrigin,
  type SocketState,
  stopSession,
  updateSession,
} from './held-session.ts'
import { codeShownMs, qrShownMs } from './session.ts'
import { isLeaseOurs, LeaseLostError } from './session-lease.ts'
import { NumberTakenError, type SessionTransition } from './session-transition.ts'

/**
 * Processes an event of the socket and resolves when it is committed. Never throws. If the session belongs to another
 * process, the event must not be acknowledged: the socket is closing when this resolves.
 */
export async function handleSocketEvent(
  deps: SessionWorkerDeps,
  held: HeldSession,
  origin: SocketOrigin,
  event: SocketEvent,
): Promise<void> {
  const { connection, epoch } = origin
  if (epoch !== held.epoch) return
  if (!isHeld(held)) return dropSession(deps, held)
  try {
    const { update, events, skipped } = parseEvent(event, deps.clock.now())
    for (const code of new Set(skipped)) {
      deps.log.debug('ignored session event item', { connectionId: connection.id, code })
    }
    if (events.length > 0 && !(await storeEvents(deps, held, connection, events))) return dropSession(deps, held)
    if (update !== null && epoch === held.epoch && !held.socketState?.isClosing) await applyUpdate(deps, held, update)
  } catch (error) {
    dropAfterError(deps, held, error)
  }
}

async function applyUpdate(deps: SessionWorkerDeps, held: HeldSession, update: SocketUpdate): Promise<void> {
  const { socketState } = held
  if (update.qr !== undefined && socketState !== null) await showQr(deps, held, socketState, update.qr)
  if (update.isNewLogin) await updateSession(deps, held, { ...linked, state: 'connecting', reason: 'reconnecting' })
  try {
    if (update.state === 'open') await handleOpen(deps, held, update)
    else if (update.phone) await updateSession(deps, held, { phone: update.phone })
  } catch (error) {
    if (!(error instanceof NumberTakenError)) throw error
    if (held.socketState !== null) held.socketState.isOpen = true
    enqueueAction(deps, held, async () => {
      await logoutSocket(deps, held)
      await stopSession(deps, held, { reason: 'number_taken', forgets: true, phone: null })
    })
  }
  if (update.state === 'closed') enqueueAction(deps, held, () => handleClose(deps, held, update.code ?? null))
}

/** The phone is linked: removes the code. */
const linked: SessionTransition = { isPaired: true, pairing: null, shownUntil: null }

async function handleOpen(deps: SessionWorkerDeps, held: HeldSession, { phone }: SocketUpdate): Promise<void> {
  const open: SessionTransition = { ...linked, state: 'open', reason: null, attempt: 0, nextAttemptAt: null }
  await updateSession(deps, held, phone ? { ...open, phone } : open)
  if (held.socketState !== null) held.socketState.isOpen = true
  sendWaitingMessages(deps, held)
}

async function handleClose(deps: SessionWorkerDeps, held: HeldSession, code: number | null): Promise<void> {
  const { clock, log } = deps
  await closeSocket(deps, held)
  const { attempt, isPaired } = held.session
  log.info('linked session closed', {
    connectionId: held.lease.connectionId,
    code: String(code ?? 'no answer'),
    attempt,
  })
  const next = decideAfterClose(code, { isPairing: !isPaired, attempt, random: deps.random() })
  if (next.act === 'stop') return stopSession(deps, held, next)
  const later = { attempt: attempt + 1, reason: isPaired ? 'reconnecting' : 'network_unreachable' }
  if (next.delayMs > 0) {
    const nextAttemptAt = new Date(clock.now().getTime() + next.delayMs)
    return updateSession(deps, held, { ...later, state: 'waiting', nextAttemptAt })
  }
  await updateSession(deps, held, later)
  await openSocket(deps, held, handleSocketEvent)
}

async function showQr(deps: SessionWorkerDeps, held: HeldSession, socketState: SocketState, qr: string): Promise<void> {
  const { isPaired, pairing } = held.session
  // A QR code for a paired session means that the network no longer knows the device.
  if (isPaired) return enqueueAction(deps, held, () => stopSession(deps, held, { reason: 'logged_out', forgets: true }))
  if (pairing?.method === 'code') {
    if (!socketState.isCodeRequested) enqueueAction(deps, held, () => requestPairingCode(deps, held, socketState))
    socketState.isCodeRequested = true
    return
  }
  const shownUntil = new Date(deps.clock.now().getTime() + qrShownMs(socketState.qrCount++))
  // If a member has since requested a code to type, keeps that pairing.
  await updateSession(deps, held, (before) =>
    before.pairing?.method === 'code' ? {} : { pairing: { method: 'qr', qr }, shownUntil },
  )
}

async function requestPairingCode(deps: SessionWorkerDeps, held: HeldSession, socketState: SocketState): Promise<void> {
  const { pairing } = held.session
  if (held.socketState !== socketState || pairing?.method !== 'code') return
  try {
    const code = await socketState.socket.pairingCode(pairing.phone)
    const shownUntil = new Date(deps.clock.now().getTime() + codeShownMs)
    await updateSession(deps, held, (before) =>
      before.pairing?.method === 'code' && before.wish === null
        ? { pairing: { ...before.pairing, code }, shownUntil }
        : {},
    )
  } catch (error) {
    if (error instanceof LeaseLostError) throw error
    deps.log.warn('failed to get a pairing code; ending the pairing', { connectionId: held.lease.connectionId }, error)
    await stopSession(deps, held, { reason: 'pairing_ended', forgets: true })
  }
}

const defaultRetryMs = 500
/** Maximum attempts while the database is reachable. */
const maxAttempts = 20

/**
 * Stores the network's events. Returns true when they are committed; false if the session now belongs to another
 * process, so that they must not be acknowledged. Logs and drops events that cannot be stored although the database is
 * reachable: they must not block later ones.
 */
async function storeEvents(
  deps: SessionWorkerDeps,
  held: HeldSession,
  connection: SessionConnection,
  events: readonly ChannelEvent[],
): Promise<boolean> {
  const { connectionId } = held.lease
  for (let attemptNumber = 1; isHeld(held); attemptNumber++) {
    try {
      return await storeEventsOnce(deps, held, connection, events)
    } catch (error) {
      deps.log.warn('failed to store session events; retrying', { connectionId, attempt: attemptNumber }, error)
      if (attemptNumber >= maxAttempts && (await isDatabaseReachable(deps.db))) {
        deps.log.error('dropping session events after retries', { connectionId, count: events.length }, error)
        return true
      }
      await sleep(deps.retryMs ?? defaultRetryMs)
    }
  }
  return false
}

async function storeEventsOnce(
  deps: SessionWorkerDeps,
  held: HeldSession,
  connection: SessionConnection,
  events: readonly ChannelEvent[],
): Promise<boolean> {
  const { db, clock } = deps
  const { lease } = held
  if (!(await isLeaseOurs(db.sql, lease))) return false
  const own = await findOwnSends(db.sql, lease, listPresetIds(events))
  const separated = separateOwnMessages(events, own)
  await deps.receive(connection, separated)
  const ends = listSendEnds(separated, own)
  for (const { id } of ends) held.socketState?.unacknowledged.delete(id)
  const now = clock.now()
  const mustStoreActivity = isActivityDue(held.activityStoredAt, now)
  if (ends.length === 0 && !mustStoreActivity) return true
  await db.tx(async (tx) => {
    await endSends(tx, lease, ends)
    if (mustStoreActivity) await storeActivity(tx, connection, 'in', now, measureLag(separated, now))
  })
  if (mustStoreActivity) held.activityStoredAt = now
  return true
}

async function isDatabaseReachable({ sql }: Db): Promise<boolean> {
  return sql`select 1`.then(
    () => true,
    () => false,
  )
}

type Status = Extract<ChannelEvent, { type: 'status' }>

/** Returns ids of the events that may belong to our own messages. */
function listPresetIds(events: readonly ChannelEvent[]): string[] {
  const ids = events.flatMap((event) =>
    'externalId' in event && mayBeOwnMessageId(event.externalId) ? [event.externalId] : [],
  )
  return [...new Set(ids)]
}

/**
 * Separates our own messages from what a person wrote on the phone: for ours, only the status is kept. `own`: our ids
 * with their correlators, by which a status finds a message whose outcome was unknown.
 */
function separateOwnMessages(events: readonly ChannelEvent[], own: ReadonlyMap<string, string | null>): ChannelEvent[] {
  return events.flatMap((event): ChannelEvent[] => {
    if (!('externalId' in event) || !own.has(event.externalId)) return [event]
    const correlator = own.get(event.externalId) ?? null
    switch (event.type) {
      case 'status':
        return [{ ...event, correlator }]
      case 'echo':
        return [statusOf(event, 'sent', correlator)]
      case 'history':
        return event.status === 'pending' ? [] : [statusOf(event, event.status, correlator)]
      case 'message':
        // A message from someone else with one of our ids is not treated as ours.
        return [event]
      default:
        return event satisfies never
    }
  })
}

function statusOf(
  { externalId, at, customer }: Extract<ChannelEvent, { externalId: string; at: Date }>,
  status: Status['status'],
  correlator: string | null,
): Status {
  // The history does not give the reason for a failure.
  const errorCode = status === 'failed' ? 'unknown' : null
  return { type: 'status', externalId, status, errorCode, at, correlator, customer }
}

/** Returns the final states of our own messages, for the senders that wait for them. */
function listSendEnds(events: readonly ChannelEvent[], own: ReadonlyMap<string, string | null>): SendEnd[] {
  const ends = new Map<string, SendEnd>()
  for (const event of events) {
    if (event.type !== 'status' || !own.has(event.externalId)) continue
    const { externalId: id, status, errorCode } = event
    if (status === 'failed') ends.set(id, { id, state: 'refused', errorCode: errorCode ?? 'unknown' })
    else ends.set(id, { id, state: 'accepted', errorCode: null })
  }
  return [...ends.values()]
}
