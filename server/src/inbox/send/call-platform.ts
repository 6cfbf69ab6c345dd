import { setTimeout as sleep } from 'node:timers/promises'
import { harmless } from '../../base/db.ts'
import type { Outgoing, RefusalEffect, SendResult } from '../../channels/connector.ts'
import type { FileToUpload, MediaWay, Uploaded } from '../../channels/media-way.ts'
import { allowStart, type DispatchKey, ownerHasChanged, stayAlive, takeoverWaitMs } from '../conversation/dispatches.ts'
import { outcomeUnknown } from '../conversation/message.ts'
import { forgetPlatformId, openUpload, storePlatformId } from '../media/sent-media.ts'
import { type FileToGive, withFile } from './check-named.ts'
import { takePlace } from './pace.ts'
import { recordResult } from './record-result.ts'
import type { Reserved, Start } from './reserve.ts'
import type { PartOutcome, SendDeps } from './send-deps.ts'
import { persist } from './send-deps.ts'

/** A connector gives up sooner; this is for one that does not. */
const maxCallMs = 25_000
/** How long a send waits for those before it in its conversation, so that its caller is still there for the answer. */
const maxTurnMs = 25_000
const pollMs = 250
/** How soon to ask again while a change of owner is about to be. */
const heldMs = 50
const aliveEveryMs = 5000

export interface Refusal {
  effect: RefusalEffect
  errorCode: string
}

/** A part that the platform has accepted. */
export type AcceptedPart = Extract<SendResult, { outcome: 'accepted' }>

/** What the platform made of a send. */
export interface CallResult {
  /** The only part, when it was accepted: that is not noted yet. Null when all is noted. */
  accepted: AcceptedPart | null
  /** Why the platform refused a part; null when it did not. */
  refusal: Refusal | null
  /** The platform took its first part. */
  isTaken: boolean
}

/**
 * Takes a reserved send to the platform, part after part, no transaction being open. What becomes of each part is in the
 * database before the next one goes; anything but acceptance ends it. An only part that was accepted
 * is noted with its settling.
 */
export async function callPlatform(deps: SendDeps, reserved: Reserved): Promise<CallResult> {
  const given = await give(deps, reserved, false)
  if ('stopped' in given) return noteEnd(deps, reserved, 1, given.stopped)
  let isOurTurn = await deps.step('awaitTurn', async () => reserved.turn === 1 || awaitTurn(deps, reserved))
  for (const [index, outgoing] of given.parts.entries()) {
    const start = index === 0 ? reserved.start : null
    isOurTurn = isOurTurn && (await deps.step('awaitPace', () => awaitPace(deps, reserved, start)))
    const sent = isOurTurn
      ? await deps.step('call', () => sendPart(deps, reserved, index + 1, outgoing, start))
      : notSent
    const result = isFileGone(reserved, sent) ? await sendAnew(deps, reserved) : sent
    if (result.outcome !== 'accepted') return noteEnd(deps, reserved, index + 1, result)
    if (given.parts.length === 1) return { accepted: result, refusal: null, isTaken: true }
    await deps.step('note', () => recordResult(deps, reserved, index + 1, result))
  }
  return { accepted: null, refusal: null, isTaken: true }
}

/** Notes what ended a send at this part. */
async function noteEnd(deps: SendDeps, reserved: Reserved, part: number, result: PartOutcome): Promise<CallResult> {
  await deps.step('note', () => recordResult(deps, reserved, part, result))
  return { accepted: null, refusal: result.outcome === 'refused' ? result : null, isTaken: part > 1 }
}

/** The parts as they go to the platform, which has their file then. */
async function give(deps: SendDeps, reserved: Reserved, isGone: boolean): Promise<Given> {
  const { file, parts } = reserved
  return file === null ? { parts } : deps.step('upload', () => giveFile(deps, reserved, file, isGone))
}

const isFileGone = ({ file }: Reserved, result: PartOutcome): boolean =>
  file !== null && result.outcome === 'refused' && result.isFileGone === true

/**
 * Once more, with the file given anew: the platform may lose it before its time, and its refusal proves that nothing was
 * sent. Only once, and only a file's send, which is one part.
 */
async function sendAnew(deps: SendDeps, reserved: Reserved): Promise<PartOutcome> {
  const given = await give(deps, reserved, true)
  if ('stopped' in given) return given.stopped
  const [outgoing] = given.parts
  const mayGo = outgoing !== undefined && (await deps.step('awaitPace', () => awaitPace(deps, reserved, null)))
  return mayGo ? deps.step('call', () => sendPart(deps, reserved, 1, outgoing, null)) : notSent
}

const notSent: PartOutcome = { outcome: 'stopped', errorCode: 'not_sent' }

// False when those before it take too long, as after one to a platform that hangs; and when this process was taken for dead
// meanwhile: others may have gone first, so it must not send any more.
async function awaitTurn(deps: SendDeps, reserved: Reserved): Promise<boolean> {
  const waitMs = deps.maxTurnMs ?? maxTurnMs
  let giveUpAt = performance.now() + waitMs
  for (;;) {
    const woken = deps.wakes.next(reserved.conversationId, pollMs)
    const state = await deps.db.tx((tx) => stayAlive(tx, reserved), harmless)
    if (state === undefined) return false
    if (!state.waits) return true
    // A file takes its time, which has an end of its own.
    if (state.isBehindFile) giveUpAt = performance.now() + waitMs
    if (performance.now() >= giveUpAt) return false
    await woken
  }
}

async function awaitPace(deps: SendDeps, reserved: Reserved, start: Start | null): Promise<boolean> {
  const waitMs = start === null ? await takePlaceOf(deps, reserved) : start.waitMs
  const goAt = performance.now() + waitMs
  for (let leftMs = waitMs; leftMs > 0; leftMs = goAt - performance.now()) {
    if ((await deps.db.tx((tx) => stayAlive(tx, reserved), harmless)) === undefined) return false
    await sleep(Math.min(leftMs, aliveEveryMs))
  }
  return true
}

function takePlaceOf(deps: SendDeps, { workspaceId, connection, conversationId }: Reserved): Promise<number> {
  const paces = deps.pacesOf(connection)
  return deps.db.statement((tx) => takePlace(tx, workspaceId, connection.id, conversationId, paces), null, harmless)
}

async function sendPart(
  deps: SendDeps,
  reserved: Reserved,
  part: number,
  message: Outgoing,
  start: Start | null,
): Promise<PartOutcome> {
  const deadline = await deps.step('allow', async () => deadlineOf(deps, start) ?? (await allowedUntil(deps, reserved)))
  if (deadline === null) {
    const isTakenOver = await ownerHasChanged(deps.db.sql, reserved)
    return isTakenOver ? { outcome: 'stopped', errorCode: 'owner_changed' } : notSent
  }
  const { connector, connection, recipient } = reserved
  const correlator = `${reserved.messageId}:${part}`
  return withinReason(deps, reserved, () => connector.send(connection, { recipient, message, correlator, deadline }))
}

/** The moment until which a call may start that was allowed with the reservation, while enough of that time is left. */
function deadlineOf(deps: SendDeps, start: Start | null): Date | null {
  return start?.isAllowed ? startBy(deps, start.askedAt) : null
}

function startBy(deps: SendDeps, askedAt: number): Date | null {
  const leftMs = takeoverWaitMs - (performance.now() - askedAt)
  return leftMs > takeoverWaitMs / 2 ? new Date(deps.clock.now().getTime() + leftMs) : null
}

/** The moment until which the call may start; null when it may not. */
async function allowedUntil(deps: SendDeps, dispatch: DispatchKey): Promise<Date | null> {
  for (;;) {
    // Taken before the database's mark is set, so that it runs out before the mark does, whatever clocks there are.
    const askedAt = performance.now()
    const start = await deps.db.statement((tx) => allowStart(tx, dispatch, takeoverWaitMs), null, harmless)
    if (start === 'refused') return null
    if (start === 'held') {
      await sleep(heldMs)
      continue
    }
    const deadline = startBy(deps, askedAt)
    if (deadline !== null) return deadline
  }
}

async function withinReason(
  deps: SendDeps,
  { messageId }: Reserved,
  call: () => Promise<SendResult>,
): Promise<SendResult> {
  const unknown: SendResult = { outcome: 'unknown', errorCode: outcomeUnknown }
  const { promise: late, resolve: giveUp } = Promise.withResolvers<SendResult>()
  // Cleared rather than aborted: an error for each call would be made for nobody.
  const timer = setTimeout(giveUp, maxCallMs, unknown)
  try {
    return await Promise.race([call(), late])
  } catch (error) {
    deps.log.error('a connector failed', { messageId }, error)
    return unknown
  } finally {
    clearTimeout(timer)
  }
}

/** Well before a send that nobody has settled is given up. */
const maxUploadMs = 4 * 60_000
const usualAliveEveryMs = 4_000
/** The platform's id has to live until the message is there. */
const leftToLiveMs = 3_600_000

/** What is sent once the platform has its file, or why nothing is. */
type Given = { parts: Outgoing[] } | { stopped: PartOutcome }

/**
 * Gives the platform the file of a send, unless it has it; `isGone`: it does not know it any more. What it calls the file is
 * kept, so that it is not given twice. No message leaves here, and this may be done again.
 */
async function giveFile(deps: SendDeps, reserved: Reserved, file: FileToGive, isGone: boolean): Promise<Given> {
  const { platform } = file
  const isKnown = platform !== null && platform.livesUntil.getTime() > deps.clock.now().getTime() + leftToLiveMs
  if (isKnown && !isGone) return { parts: reserved.parts.map((part) => withFile(part, platform.id)) }
  if (isGone) await persist(() => deps.db.tx((tx) => forgetPlatformId(tx, reserved.workspaceId, file.id)))
  const uploaded = await upload(deps, reserved, file)
  if (uploaded === null) return { stopped: { outcome: 'stopped', errorCode: 'not_sent' } }
  if (uploaded.outcome !== 'taken') return { stopped: outcomeOf(uploaded) }
  const { platformId, livesUntil } = uploaded
  await keep(deps, reserved, file.id, { id: platformId, livesUntil })
  return { parts: reserved.parts.map((part) => withFile(part, platformId)) }
}

/** Null when this process was taken for dead meanwhile, or it took too long. */
async function upload(
  deps: SendDeps,
  { workspaceId, conversationId, messageId, connection }: Reserved,
  { id }: FileToGive,
): Promise<Uploaded | null> {
  const way = deps.mediaWayOf(connection.channel)
  const opened = way === undefined ? null : await openUpload(deps, way.limits, workspaceId, id)
  if (way === undefined || opened === null) return { outcome: 'refused', errorCode: 'file_missing' }
  const over = new AbortController()
  const limit = setTimeout(() => over.abort(), maxUploadMs)
  const stopping = new AbortController()
  const alive = keepAlive(deps, { workspaceId, conversationId, messageId }, over, stopping.signal)
  try {
    return await uploadTo(deps, way, connection, opened, over.signal)
  } finally {
    clearTimeout(limit)
    stopping.abort()
    await alive
  }
}

async function uploadTo(
  { log }: SendDeps,
  way: MediaWay,
  connection: Reserved['connection'],
  file: FileToUpload,
  signal: AbortSignal,
): Promise<Uploaded | null> {
  const uploaded = await way.upload(connection, file, signal).catch((error: unknown) => {
    log.error('a file was not given to the platform', { connectionId: connection.id }, error)
    return { outcome: 'failed', errorCode: 'internal', isDown: false } as const
  })
  return signal.aborted && uploaded.outcome !== 'taken' ? null : uploaded
}

/** Says that this process is at work, and calls the upload off once others take it for dead. */
async function keepAlive(
  { db, log, aliveEveryMs = usualAliveEveryMs }: SendDeps,
  dispatch: { workspaceId: string; conversationId: string; messageId: string },
  over: AbortController,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    const standing = await db
      .tx((tx) => stayAlive(tx, dispatch))
      .catch((error: unknown) => {
        log.warn('a send did not say that it is at work', { messageId: dispatch.messageId }, error)
        return null
      })
    if (standing === undefined) return over.abort()
    await sleep(aliveEveryMs, undefined, { signal: stop }).catch(() => {})
  }
}

function outcomeOf(uploaded: Exclude<Uploaded, { outcome: 'taken' }>): PartOutcome {
  const { errorCode } = uploaded
  if (uploaded.outcome === 'refused') return { outcome: 'refused', errorCode, effect: 'none' }
  return uploaded.isDown
    ? { outcome: 'refused', errorCode, effect: 'connection_unavailable' }
    : { outcome: 'unreachable', errorCode }
}

/** Not to be given twice; but that it is not kept is no reason not to send. */
async function keep(
  { db, vault, log }: SendDeps,
  { workspaceId, messageId }: Reserved,
  id: string,
  platform: { id: string; livesUntil: Date },
): Promise<void> {
  const keyring = await vault.keyring(workspaceId)
  await persist(() => db.tx((tx) => storePlatformId({ tx, keyring, workspaceId }, id, platform))).catch(
    (error: unknown) => log.warn('how the platform calls a file is not kept', { messageId }, error),
  )
}
