import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../base/db.ts'
import type { ChannelEvent } from '../../channel-event.ts'
import type { SessionConnection } from '../../connection/connection.ts'
import { isWorthNoting, lagOf, noteActivity } from '../../health/activity.ts'
import { readEvent, type SocketUpdate } from '../read/read-event.ts'
import { mayBePreset } from '../send/connector.ts'
import { sendWaiting } from '../send/outbox.ts'
import { endSends, findOwn, type SendEnd } from '../send/sends.ts'
import type { SocketEvent } from '../transport/transport.ts'
import { afterClose } from './disconnect.ts'
import {
  act,
  closeLine,
  giveUp,
  type Hold,
  type HoldDeps,
  isHeld,
  type Line,
  logoutLine,
  loseHold,
  moveHold,
  openLine,
  stopHold,
  type Teller,
} from './held-session.ts'
import { codeShownMs, qrShownMs } from './session.ts'
import { isOurs, LeaseLost } from './session-lease.ts'
import { NumberTaken, type SessionTransition } from './session-transition.ts'

/**
 * Processes an event of the socket and resolves when it is committed. Never throws. If the session belongs to another
 * process, the event must not be acknowledged: the socket is closing when this resolves.
 */
export async function handleSocketEvent(deps: HoldDeps, hold: Hold, from: Teller, event: SocketEvent): Promise<void> {
  const { connection, epoch } = from
  if (epoch !== hold.epoch) return
  if (!isHeld(hold)) return loseHold(deps, hold)
  try {
    const { update, events, skipped } = readEvent(event, deps.clock.now())
    for (const code of new Set(skipped)) {
      deps.log.debug('ignored session event item', { connectionId: connection.id, code })
    }
    if (events.length > 0 && !(await ingest(deps, hold, connection, events))) return loseHold(deps, hold)
    if (update !== null && epoch === hold.epoch && !hold.line?.isLeaving) await heed(deps, hold, update)
  } catch (error) {
    giveUp(deps, hold, error)
  }
}

/** Sends waiting messages, if the socket is open. */
export function sendSoon(deps: HoldDeps, hold: Hold): void {
  act(deps, hold, async () => {
    const { line, lease, sending } = hold
    if (line === null || !line.isOpen) return
    const isOurs = () => isHeld(hold) && hold.line === line && line.isOpen
    for (const work of await sendWaiting(deps, { lease, line, isOurs })) {
      sending.add(work)
      work.finally(() => sending.delete(work))
    }
  })
}

async function heed(deps: HoldDeps, hold: Hold, update: SocketUpdate): Promise<void> {
  const { line } = hold
  if (update.qr !== undefined && line !== null) await showQr(deps, hold, line, update.qr)
  if (update.isNewLogin) await moveHold(deps, hold, { ...linked, state: 'connecting', reason: 'reconnecting' })
  try {
    if (update.state === 'open') await opened(deps, hold, update)
    else if (update.phone) await moveHold(deps, hold, { phone: update.phone })
  } catch (error) {
    if (!(error instanceof NumberTaken)) throw error
    if (hold.line !== null) hold.line.isOpen = true
    act(deps, hold, async () => {
      await logoutLine(deps, hold)
      await stopHold(deps, hold, { reason: 'number_taken', forgets: true, phone: null })
    })
  }
  if (update.state === 'closed') act(deps, hold, () => closed(deps, hold, update.code ?? null))
}

/** The phone is linked: removes the code. */
const linked: SessionTransition = { isPaired: true, pairing: null, shownUntil: null }

async function opened(deps: HoldDeps, hold: Hold, { phone }: SocketUpdate): Promise<void> {
  const open: SessionTransition = { ...linked, state: 'open', reason: null, attempt: 0, nextAttemptAt: null }
  await moveHold(deps, hold, phone ? { ...open, phone } : open)
  if (hold.line !== null) hold.line.isOpen = true
  sendSoon(deps, hold)
}

async function closed(deps: HoldDeps, hold: Hold, code: number | null): Promise<void> {
  const { clock, log } = deps
  await closeLine(deps, hold)
  const { attempt, isPaired } = hold.session
  log.info('linked session closed', {
    connectionId: hold.lease.connectionId,
    code: String(code ?? 'no answer'),
    attempt,
  })
  const next = afterClose(code, { isPairing: !isPaired, attempt, random: deps.random() })
  if (next.act === 'stop') return stopHold(deps, hold, next)
  const later = { attempt: attempt + 1, reason: isPaired ? 'reconnecting' : 'network_unreachable' }
  if (next.delayMs > 0) {
    const nextAttemptAt = new Date(clock.now().getTime() + next.delayMs)
    return moveHold(deps, hold, { ...later, state: 'waiting', nextAttemptAt })
  }
  await moveHold(deps, hold, later)
  await openLine(deps, hold, handleSocketEvent)
}

async function showQr(deps: HoldDeps, hold: Hold, line: Line, qr: string): Promise<void> {
  const { isPaired, pairing } = hold.session
  // A QR code for a paired session means that the network no longer knows the device.
  if (isPaired) return act(deps, hold, () => stopHold(deps, hold, { reason: 'logged_out', forgets: true }))
  if (pairing?.method === 'code') {
    if (!line.isCodeAsked) act(deps, hold, () => askCode(deps, hold, line))
    line.isCodeAsked = true
    return
  }
  const shownUntil = new Date(deps.clock.now().getTime() + qrShownMs(line.qrs++))
  // If a member has since requested a code to type, keeps that pairing.
  await moveHold(deps, hold, (before) =>
    before.pairing?.method === 'code' ? {} : { pairing: { method: 'qr', qr }, shownUntil },
  )
}

async function askCode(deps: HoldDeps, hold: Hold, line: Line): Promise<void> {
  const { pairing } = hold.session
  if (hold.line !== line || pairing?.method !== 'code') return
  try {
    const code = await line.socket.pairingCode(pairing.phone)
    const shownUntil = new Date(deps.clock.now().getTime() + codeShownMs)
    await moveHold(deps, hold, (before) =>
      before.pairing?.method === 'code' && before.wish === null
        ? { pairing: { ...before.pairing, code }, shownUntil }
        : {},
    )
  } catch (error) {
    if (error instanceof LeaseLost) throw error
    deps.log.warn('failed to get a pairing code; ending the pairing', { connectionId: hold.lease.connectionId }, error)
    await stopHold(deps, hold, { reason: 'pairing_ended', forgets: true })
  }
}

const defaultRetryMs = 500
/** Maximum attempts while the database is reachable. */
const maxTries = 20

/**
 * Stores the network's events. Returns true when they are committed; false if the session now belongs to another
 * process, so that they must not be acknowledged. Logs and drops events that cannot be stored although the database is
 * reachable: they must not block later ones.
 */
async function ingest(
  deps: HoldDeps,
  hold: Hold,
  connection: SessionConnection,
  events: readonly ChannelEvent[],
): Promise<boolean> {
  const { connectionId } = hold.lease
  for (let tries = 1; isHeld(hold); tries++) {
    try {
      return await handOnOnce(deps, hold, connection, events)
    } catch (error) {
      deps.log.warn('failed to store session events; retrying', { connectionId, attempt: tries }, error)
      if (tries >= maxTries && (await answers(deps.db))) {
        deps.log.error('dropping session events after retries', { connectionId, count: events.length }, error)
        return true
      }
      await sleep(deps.retryMs ?? defaultRetryMs)
    }
  }
  return false
}

async function handOnOnce(
  deps: HoldDeps,
  hold: Hold,
  connection: SessionConnection,
  events: readonly ChannelEvent[],
): Promise<boolean> {
  const { db, clock } = deps
  const { lease } = hold
  if (!(await isOurs(db.sql, lease))) return false
  const own = await findOwn(db.sql, lease, presetIdsIn(events))
  const told = tellOwnApart(events, own)
  await deps.receive(connection, told)
  const ends = endsOf(told, own)
  for (const { id } of ends) hold.line?.awaited.delete(id)
  const now = clock.now()
  const isWorth = isWorthNoting(hold.notedAt, now)
  if (ends.length === 0 && !isWorth) return true
  await db.tx(async (tx) => {
    await endSends(tx, lease, ends)
    if (isWorth) await noteActivity(tx, connection, 'in', now, lagOf(told, now))
  })
  if (isWorth) hold.notedAt = now
  return true
}

async function answers({ sql }: Db): Promise<boolean> {
  return sql`select 1`.then(
    () => true,
    () => false,
  )
}

type Status = Extract<ChannelEvent, { type: 'status' }>

/** Returns ids of the events that may belong to our own messages. */
function presetIdsIn(events: readonly ChannelEvent[]): string[] {
  const ids = events.flatMap((event) =>
    'externalId' in event && mayBePreset(event.externalId) ? [event.externalId] : [],
  )
  return [...new Set(ids)]
}

/**
 * Separates our own messages from what a person wrote on the phone: for ours, only the status is kept. `own`: our ids
 * with their correlators, by which a status finds a message whose outcome was unknown.
 */
function tellOwnApart(events: readonly ChannelEvent[], own: ReadonlyMap<string, string | null>): ChannelEvent[] {
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
function endsOf(events: readonly ChannelEvent[], own: ReadonlyMap<string, string | null>): SendEnd[] {
  const ends = new Map<string, SendEnd>()
  for (const event of events) {
    if (event.type !== 'status' || !own.has(event.externalId)) continue
    const { externalId: id, status, errorCode } = event
    if (status === 'failed') ends.set(id, { id, state: 'refused', errorCode: errorCode ?? 'unknown' })
    else ends.set(id, { id, state: 'accepted', errorCode: null })
  }
  return [...ends.values()]
}
