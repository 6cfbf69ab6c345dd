import { setTimeout as sleep } from 'node:timers/promises'
import { idempotent } from '../../base/db.ts'
import type { Outgoing, RefusalEffect, SendResult } from '../../channels/connector.ts'
import type { FileToUpload, MediaWay, Uploaded } from '../../channels/media-transport.ts'
import {
  allowStart,
  type DispatchKey,
  hasOwnerChanged,
  renewDispatch,
  takeoverWaitMs,
} from '../conversation/dispatches.ts'
import { outcomeUnknown } from '../conversation/message.ts'
import { clearPlatformId, openUpload, storePlatformId } from '../media/attached-uploads.ts'
import { type OutgoingFile, withFile } from './check-references.ts'
import { recordResult } from './record-result.ts'
import type { ReservedSend, SendStart } from './reserve.ts'
import type { PartOutcome, SendDeps } from './send-deps.ts'
import { retryWrite } from './send-deps.ts'
import { reserveSlot } from './send-rate.ts'

/** A connector gives up sooner; this is for one that does not. */
const maxCallMs = 25_000
/** How long a send waits for those before it in its conversation, so that its caller is still there for the answer. */
const maxTurnMs = 25_000
const pollMs = 250
/** How soon to ask again while a change of owner is about to be. */
const retryWhenHeldMs = 50
const renewEveryMs = 5000

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
  hasAcceptedPart: boolean
}

/**
 * Takes a reserved send to the platform, part after part, no transaction being open. What becomes of each part is in the
 * database before the next one goes; anything but acceptance ends it. An only part that was accepted
 * is noted with its settling.
 */
export async function callPlatform(deps: SendDeps, reserved: ReservedSend): Promise<CallResult> {
  const prepared = await prepareParts(deps, reserved, false)
  if ('stopped' in prepared) return recordEnd(deps, reserved, 1, prepared.stopped)
  let isOurTurn = await deps.step('awaitTurn', async () => reserved.turn === 1 || awaitTurn(deps, reserved))
  for (const [index, outgoing] of prepared.parts.entries()) {
    const start = index === 0 ? reserved.start : null
    isOurTurn = isOurTurn && (await deps.step('awaitPace', () => awaitRate(deps, reserved, start)))
    const sent = isOurTurn
      ? await deps.step('call', () => sendPart(deps, reserved, index + 1, outgoing, start))
      : notSent
    const result = isFileGone(reserved, sent) ? await resendWithFile(deps, reserved) : sent
    if (result.outcome !== 'accepted') return recordEnd(deps, reserved, index + 1, result)
    if (prepared.parts.length === 1) return { accepted: result, refusal: null, hasAcceptedPart: true }
    await deps.step('note', () => recordResult(deps, reserved, index + 1, result))
  }
  return { accepted: null, refusal: null, hasAcceptedPart: true }
}

/** Notes what ended a send at this part. */
async function recordEnd(
  deps: SendDeps,
  reserved: ReservedSend,
  part: number,
  result: PartOutcome,
): Promise<CallResult> {
  await deps.step('note', () => recordResult(deps, reserved, part, result))
  return { accepted: null, refusal: result.outcome === 'refused' ? result : null, hasAcceptedPart: part > 1 }
}

/** The parts as they go to the platform, which has their file then. */
async function prepareParts(deps: SendDeps, reserved: ReservedSend, isGone: boolean): Promise<PreparedSend> {
  const { file, parts } = reserved
  return file === null ? { parts } : deps.step('upload', () => uploadMedia(deps, reserved, file, isGone))
}

const isFileGone = ({ file }: ReservedSend, result: PartOutcome): boolean =>
  file !== null && result.outcome === 'refused' && result.isFileGone === true

/**
 * Once more, with the file given anew: the platform may lose it before its time, and its refusal proves that nothing was
 * sent. Only once, and only a file's send, which is one part.
 */
async function resendWithFile(deps: SendDeps, reserved: ReservedSend): Promise<PartOutcome> {
  const prepared = await prepareParts(deps, reserved, true)
  if ('stopped' in prepared) return prepared.stopped
  const [outgoing] = prepared.parts
  const canSend = outgoing !== undefined && (await deps.step('awaitPace', () => awaitRate(deps, reserved, null)))
  return canSend ? deps.step('call', () => sendPart(deps, reserved, 1, outgoing, null)) : notSent
}

const notSent: PartOutcome = { outcome: 'stopped', errorCode: 'not_sent' }

// False when those before it take too long, as after one to a platform that hangs; and when this process was taken for dead
// meanwhile: others may have gone first, so it must not send any more.
async function awaitTurn(deps: SendDeps, reserved: ReservedSend): Promise<boolean> {
  const waitMs = deps.maxTurnMs ?? maxTurnMs
  let giveUpAt = performance.now() + waitMs
  for (;;) {
    const woken = deps.wakeups.next(reserved.conversationId, pollMs)
    const state = await deps.db.tx((tx) => renewDispatch(tx, reserved), idempotent)
    if (state === undefined) return false
    if (!state.waits) return true
    // A file takes its time, which has an end of its own.
    if (state.isBehindFile) giveUpAt = performance.now() + waitMs
    if (performance.now() >= giveUpAt) return false
    await woken
  }
}

async function awaitRate(deps: SendDeps, reserved: ReservedSend, start: SendStart | null): Promise<boolean> {
  const waitMs = start === null ? await reserveSlotFor(deps, reserved) : start.waitMs
  const goAt = performance.now() + waitMs
  for (let leftMs = waitMs; leftMs > 0; leftMs = goAt - performance.now()) {
    if ((await deps.db.tx((tx) => renewDispatch(tx, reserved), idempotent)) === undefined) return false
    await sleep(Math.min(leftMs, renewEveryMs))
  }
  return true
}

function reserveSlotFor(deps: SendDeps, { workspaceId, connection, conversationId }: ReservedSend): Promise<number> {
  const paces = deps.sendRatesOf(connection)
  return deps.db.statement((tx) => reserveSlot(tx, workspaceId, connection.id, conversationId, paces), null, idempotent)
}

async function sendPart(
  deps: SendDeps,
  reserved: ReservedSend,
  part: number,
  message: Outgoing,
  start: SendStart | null,
): Promise<PartOutcome> {
  const deadline = await deps.step(
    'allow',
    async () => deadlineOf(deps, start) ?? (await requestDeadline(deps, reserved)),
  )
  if (deadline === null) {
    const hasNewOwner = await hasOwnerChanged(deps.db.sql, reserved)
    return hasNewOwner ? { outcome: 'stopped', errorCode: 'owner_changed' } : notSent
  }
  const { connector, connection, recipient } = reserved
  const correlator = `${reserved.messageId}:${part}`
  return withTimeout(deps, reserved, () => connector.send(connection, { recipient, message, correlator, deadline }))
}

/** The moment until which a call may start that was allowed with the reservation, while enough of that time is left. */
function deadlineOf(deps: SendDeps, start: SendStart | null): Date | null {
  return start?.isAllowed ? startDeadline(deps, start.askedAt) : null
}

function startDeadline(deps: SendDeps, askedAt: number): Date | null {
  const leftMs = takeoverWaitMs - (performance.now() - askedAt)
  return leftMs > takeoverWaitMs / 2 ? new Date(deps.clock.now().getTime() + leftMs) : null
}

/** The moment until which the call may start; null when it may not. */
async function requestDeadline(deps: SendDeps, dispatch: DispatchKey): Promise<Date | null> {
  for (;;) {
    // Taken before the database's mark is set, so that it runs out before the mark does, whatever clocks there are.
    const askedAt = performance.now()
    const start = await deps.db.statement((tx) => allowStart(tx, dispatch, takeoverWaitMs), null, idempotent)
    if (start === 'refused') return null
    if (start === 'held') {
      await sleep(retryWhenHeldMs)
      continue
    }
    const deadline = startDeadline(deps, askedAt)
    if (deadline !== null) return deadline
  }
}

async function withTimeout(
  deps: SendDeps,
  { messageId }: ReservedSend,
  call: () => Promise<SendResult>,
): Promise<SendResult> {
  const unknown: SendResult = { outcome: 'unknown', errorCode: outcomeUnknown }
  const { promise: late, resolve: giveUp } = Promise.withResolvers<SendResult>()
  // Cleared rather than aborted: an error for each call would be made for nobody.
  const timer = setTimeout(giveUp, maxCallMs, unknown)
  try {
    return await Promise.race([call(), late])
  } catch (error) {
    deps.log.error('connector failed while sending', { messageId }, error)
    return unknown
  } finally {
    clearTimeout(timer)
  }
}

/** Well before a send that nobody has settled is given up. */
const maxUploadMs = 4 * 60_000
const defaultRenewEveryMs = 4_000
/** The platform's id has to live until the message is there. */
const minRemainingMs = 3_600_000

/** What is sent once the platform has its file, or why nothing is. */
type PreparedSend = { parts: Outgoing[] } | { stopped: PartOutcome }

/**
 * Gives the platform the file of a send, unless it has it; `isGone`: it does not know it any more. What it calls the file is
 * kept, so that it is not given twice. No message leaves here, and this may be done again.
 */
async function uploadMedia(
  deps: SendDeps,
  reserved: ReservedSend,
  file: OutgoingFile,
  isGone: boolean,
): Promise<PreparedSend> {
  const { platform } = file
  const isKnown = platform !== null && platform.livesUntil.getTime() > deps.clock.now().getTime() + minRemainingMs
  if (isKnown && !isGone) return { parts: reserved.parts.map((part) => withFile(part, platform.id)) }
  if (isGone) await retryWrite(() => deps.db.tx((tx) => clearPlatformId(tx, reserved.workspaceId, file.id)))
  const uploaded = await upload(deps, reserved, file)
  if (uploaded === null) return { stopped: { outcome: 'stopped', errorCode: 'not_sent' } }
  if (uploaded.outcome !== 'taken') return { stopped: outcomeOf(uploaded) }
  const { platformId, livesUntil } = uploaded
  await storePlatformFile(deps, reserved, file.id, { id: platformId, livesUntil })
  return { parts: reserved.parts.map((part) => withFile(part, platformId)) }
}

/** Null when this process was taken for dead meanwhile, or it took too long. */
async function upload(
  deps: SendDeps,
  { workspaceId, conversationId, messageId, connection }: ReservedSend,
  { id }: OutgoingFile,
): Promise<Uploaded | null> {
  const way = deps.mediaTransportOf(connection.channel)
  const opened = way === undefined ? null : await openUpload(deps, way.limits, workspaceId, id)
  if (way === undefined || opened === null) return { outcome: 'refused', errorCode: 'file_missing' }
  const over = new AbortController()
  const limit = setTimeout(() => over.abort(), maxUploadMs)
  const stopping = new AbortController()
  const alive = renewWhileUploading(deps, { workspaceId, conversationId, messageId }, over, stopping.signal)
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
  connection: ReservedSend['connection'],
  file: FileToUpload,
  signal: AbortSignal,
): Promise<Uploaded | null> {
  const uploaded = await way.upload(connection, file, signal).catch((error: unknown) => {
    log.error('failed to upload a file to the platform', { connectionId: connection.id }, error)
    return { outcome: 'failed', errorCode: 'internal', isDown: false } as const
  })
  return signal.aborted && uploaded.outcome !== 'taken' ? null : uploaded
}

/** Says that this process is at work, and calls the upload off once others take it for dead. */
async function renewWhileUploading(
  { db, log, renewEveryMs = defaultRenewEveryMs }: SendDeps,
  dispatch: { workspaceId: string; conversationId: string; messageId: string },
  over: AbortController,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    const state = await db
      .tx((tx) => renewDispatch(tx, dispatch))
      .catch((error: unknown) => {
        log.warn('failed to renew send lease', { messageId: dispatch.messageId }, error)
        return null
      })
    if (state === undefined) return over.abort()
    await sleep(renewEveryMs, undefined, { signal: stop }).catch(() => {})
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
async function storePlatformFile(
  { db, keyStore, log }: SendDeps,
  { workspaceId, messageId }: ReservedSend,
  id: string,
  platform: { id: string; livesUntil: Date },
): Promise<void> {
  const keyring = await keyStore.keyring(workspaceId)
  await retryWrite(() => db.tx((tx) => storePlatformId({ tx, keyring, workspaceId }, id, platform))).catch(
    (error: unknown) => log.warn("failed to store the platform's media id", { messageId }, error),
  )
}
