import { setTimeout as sleep } from 'node:timers/promises'
import type { Outgoing } from '../../channels/connector.ts'
import type { FileToUpload, MediaWay, Uploaded } from '../../channels/media-way.ts'
import { stayAlive } from '../conversation/dispatches.ts'
import { forgetPlatformId, openUpload, storePlatformId } from '../media/sent-media.ts'
import { type FileToGive, withFile } from './check-named.ts'
import { persist } from './persist.ts'
import type { Reserved } from './reserve.ts'
import type { PartOutcome, SendDeps } from './send-deps.ts'

/** Well before a send that nobody has settled is given up. */
const maxUploadMs = 4 * 60_000
const usualAliveEveryMs = 4_000
/** The platform's id has to live until the message is there. */
const leftToLiveMs = 3_600_000

/** What is sent once the platform has its file, or why nothing is. */
export type Given = { parts: Outgoing[] } | { stopped: PartOutcome }

/**
 * Gives the platform the file of a send, unless it has it; `isGone`: it does not know it any more. What it calls the file is
 * kept, so that it is not given twice. No message leaves here, and this may be done again.
 */
export async function giveFile(deps: SendDeps, reserved: Reserved, file: FileToGive, isGone: boolean): Promise<Given> {
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
  await persist(() => db.tx((tx) => storePlatformId(tx, keyring, workspaceId, id, platform))).catch((error: unknown) =>
    log.warn('how the platform calls a file is not kept', { messageId }, error),
  )
}
