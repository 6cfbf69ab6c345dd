import { setTimeout as sleep } from 'node:timers/promises'
import { idempotent } from '../../base/db.ts'
import type { OutgoingMessage, RefusalEffect, SendResult } from '../../channels/connector.ts'
import type { FileToUpload, MediaTransport, UploadResult } from '../../channels/media-transport.ts'
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

/** Upper limit for connectors that do not time out earlier themselves. */
const maxCallMs = 25_000
/** How long a send waits for earlier ones of its conversation, so that its caller can still get the response. */
const maxTurnMs = 25_000
const pollMs = 250
/** Poll interval while a change of owner is pending. */
const retryWhenHeldMs = 50
const renewEveryMs = 5000

export interface Refusal {
  effect: RefusalEffect
  errorCode: string
}

export type AcceptedPart = Extract<SendResult, { outcome: 'accepted' }>

export interface CallResult {
  /** The accepted only part, not recorded yet. Null if everything is recorded. */
  accepted: AcceptedPart | null
  /** Why the platform refused a part; null if it did not. */
  refusal: Refusal | null
  /** Whether the platform accepted the first part. */
  hasAcceptedPart: boolean
}

/**
 * Sends a reserved message to the platform, part by part, outside of any transaction. The result of each part is stored
 * before the next is sent; anything but acceptance ends the send. The acceptance of an only part is recorded with the
 * settlement.
 */
export async function callPlatform(deps: SendDeps, reserved: ReservedSend): Promise<CallResult> {
  const prepared = await prepareParts(deps, reserved, false)
  if ('stopped' in prepared) return recordEnd(deps, reserved, 1, prepared.stopped)
  let isNext = await deps.step('awaitTurn', async () => reserved.turn === 1 || awaitTurn(deps, reserved))
  for (const [index, outgoing] of prepared.parts.entries()) {
    const start = index === 0 ? reserved.start : null
    isNext = isNext && (await deps.step('awaitRate', () => awaitRate(deps, reserved, start)))
    const sent = isNext ? await deps.step('call', () => sendPart(deps, reserved, index + 1, outgoing, start)) : notSent
    const result = isFileGone(reserved, sent) ? await resendWithFile(deps, reserved) : sent
    if (result.outcome !== 'accepted') return recordEnd(deps, reserved, index + 1, result)
    if (prepared.parts.length === 1) return { accepted: result, refusal: null, hasAcceptedPart: true }
    await deps.step('record', () => recordResult(deps, reserved, index + 1, result))
  }
  return { accepted: null, refusal: null, hasAcceptedPart: true }
}

/** Records the result that ended a send at this part. */
async function recordEnd(deps: SendDeps, reserved: ReservedSend, part: number, result: PartOutcome) {
  await deps.step('record', () => recordResult(deps, reserved, part, result))
  return { accepted: null, refusal: result.outcome === 'refused' ? result : null, hasAcceptedPart: part > 1 }
}

/** Returns the parts to send, after uploading their file to the platform. */
async function prepareParts(deps: SendDeps, reserved: ReservedSend, isGone: boolean): Promise<PreparedSend> {
  const { file, parts } = reserved
  return file === null ? { parts } : deps.step('upload', () => uploadMedia(deps, reserved, file, isGone))
}

const isFileGone = ({ file }: ReservedSend, result: PartOutcome): boolean =>
  file !== null && result.outcome === 'refused' && result.isFileGone === true

/**
 * Uploads the file again and retries: the platform may lose a file early, and this refusal proves that nothing was
 * sent. Done once, and only for sends with a file, which have one part.
 */
async function resendWithFile(deps: SendDeps, reserved: ReservedSend): Promise<PartOutcome> {
  const prepared = await prepareParts(deps, reserved, true)
  if ('stopped' in prepared) return prepared.stopped
  const [outgoing] = prepared.parts
  const canSend = outgoing !== undefined && (await deps.step('awaitRate', () => awaitRate(deps, reserved, null)))
  return canSend ? deps.step('call', () => sendPart(deps, reserved, 1, outgoing, null)) : notSent
}

const notSent: PartOutcome = { outcome: 'stopped', errorCode: 'not_sent' }

// Returns false if earlier sends take too long, for example because the platform hangs, or if the lease of this send
// has expired: later sends may have overtaken it, so it must not send any more.
async function awaitTurn(deps: SendDeps, reserved: ReservedSend): Promise<boolean> {
  const waitMs = deps.maxTurnMs ?? maxTurnMs
  let deadlineMs = performance.now() + waitMs
  for (;;) {
    const woken = deps.wakeups.next(reserved.conversationId, pollMs)
    const state = await deps.db.tx((tx) => renewDispatch(tx, reserved), idempotent)
    if (state === undefined) return false
    if (!state.waits) return true
    // Uploads take time and have a limit of their own.
    if (state.isBehindFile) deadlineMs = performance.now() + waitMs
    if (performance.now() >= deadlineMs) return false
    await woken
  }
}

async function awaitRate(deps: SendDeps, reserved: ReservedSend, start: SendStart | null): Promise<boolean> {
  const waitMs = start === null ? await reserveSlotFor(deps, reserved) : start.waitMs
  const dueAt = performance.now() + waitMs
  for (let leftMs = waitMs; leftMs > 0; leftMs = dueAt - performance.now()) {
    if ((await deps.db.tx((tx) => renewDispatch(tx, reserved), idempotent)) === undefined) return false
    await sleep(Math.min(leftMs, renewEveryMs))
  }
  return true
}

function reserveSlotFor(deps: SendDeps, { workspaceId, connection, conversationId }: ReservedSend): Promise<number> {
  const rates = deps.sendRatesOf(connection)
  return deps.db.statement((tx) => reserveSlot(tx, workspaceId, connection.id, conversationId, rates), null, idempotent)
}

async function sendPart(
  deps: SendDeps,
  reserved: ReservedSend,
  part: number,
  message: OutgoingMessage,
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

/** Returns the start deadline of a call that was allowed with the reservation, if enough time is left. */
function deadlineOf(deps: SendDeps, start: SendStart | null): Date | null {
  return start?.isAllowed ? startDeadline(deps, start.requestedAt) : null
}

function startDeadline(deps: SendDeps, askedAt: number): Date | null {
  const leftMs = takeoverWaitMs - (performance.now() - askedAt)
  return leftMs > takeoverWaitMs / 2 ? new Date(deps.clock.now().getTime() + leftMs) : null
}

/** Returns the start deadline of the call; null if it is not allowed. */
async function requestDeadline(deps: SendDeps, dispatch: DispatchKey): Promise<Date | null> {
  for (;;) {
    // Measured before the database sets its deadline, so that ours passes first, regardless of clocks.
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

async function withTimeout(deps: SendDeps, { messageId }: ReservedSend, call: () => Promise<SendResult>) {
  const unknown: SendResult = { outcome: 'unknown', errorCode: outcomeUnknown }
  const { promise: timeout, resolve: resolveTimeout } = Promise.withResolvers<SendResult>()
  // Cleared, not aborted: aborting would create an unused error for each call.
  const timer = setTimeout(resolveTimeout, maxCallMs, unknown)
  try {
    return await Promise.race([call(), timeout])
  } catch (error) {
    deps.log.error('connector failed while sending', { messageId }, error)
    return unknown
  } finally {
    clearTimeout(timer)
  }
}

/** Well below the time after which an unsettled send counts as failed. */
const maxUploadMs = 4 * 60_000
const defaultRenewEveryMs = 4_000
/** The platform's id must remain valid until the message is sent. */
const minRemainingMs = 3_600_000

/** Parts with their uploaded file, or the reason not to send. */
type PreparedSend = { parts: OutgoingMessage[] } | { stopped: PartOutcome }

/**
 * Uploads the file of a send to the platform unless it has a valid id; `isGone` means that the platform no longer knows
 * it. Stores the id, so that the file is not uploaded twice. Sends no message, so it can be repeated.
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

/** Returns null if the lease has expired, or on timeout. */
async function upload(
  deps: SendDeps,
  { workspaceId, conversationId, messageId, connection }: ReservedSend,
  { id }: OutgoingFile,
): Promise<UploadResult | null> {
  const transport = deps.mediaTransportOf(connection.channel)
  const opened = transport === undefined ? null : await openUpload(deps, transport.limits, workspaceId, id)
  if (transport === undefined || opened === null) return { outcome: 'refused', errorCode: 'file_missing' }
  const controller = new AbortController()
  const limit = setTimeout(() => controller.abort(), maxUploadMs)
  const stopping = new AbortController()
  const renewal = renewWhileUploading(deps, { workspaceId, conversationId, messageId }, controller, stopping.signal)
  try {
    return await uploadTo(deps, transport, connection, opened, controller.signal)
  } finally {
    clearTimeout(limit)
    stopping.abort()
    await renewal
  }
}

async function uploadTo(
  { log }: SendDeps,
  transport: MediaTransport,
  connection: ReservedSend['connection'],
  file: FileToUpload,
  signal: AbortSignal,
): Promise<UploadResult | null> {
  const uploaded = await transport.upload(connection, file, signal).catch((error: unknown) => {
    log.error('failed to upload a file to the platform', { connectionId: connection.id }, error)
    return { outcome: 'failed', errorCode: 'internal', isDown: false } as const
  })
  return signal.aborted && uploaded.outcome !== 'taken' ? null : uploaded
}

/** Renews the lease of the send, and aborts the upload if the lease was lost. */
async function renewWhileUploading(
  { db, log, renewEveryMs = defaultRenewEveryMs }: SendDeps,
  dispatch: { workspaceId: string; conversationId: string; messageId: string },
  controller: AbortController,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    const state = await db
      .tx((tx) => renewDispatch(tx, dispatch))
      .catch((error: unknown) => {
        log.warn('failed to renew send lease', { messageId: dispatch.messageId }, error)
        return null
      })
    if (state === undefined) return controller.abort()
    await sleep(renewEveryMs, undefined, { signal: stop }).catch(() => {})
  }
}

function outcomeOf(uploaded: Exclude<UploadResult, { outcome: 'taken' }>): PartOutcome {
  const { errorCode } = uploaded
  if (uploaded.outcome === 'refused') return { outcome: 'refused', errorCode, effect: 'none' }
  return uploaded.isDown
    ? { outcome: 'refused', errorCode, effect: 'connection_unavailable' }
    : { outcome: 'unreachable', errorCode }
}

/** Stores the platform's id to avoid a second upload. A failure does not stop the send. */
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
