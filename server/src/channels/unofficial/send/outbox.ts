import type { Db } from '../../../base/db.ts'
import type { KeyStore } from '../../../base/encryption/key-store.ts'
import type { Log } from '../../../base/log.ts'
import type { OpenStoredFile } from '../../media-transport.ts'
import type { SocketState } from '../session/held-session.ts'
import type { Lease } from '../session/session-lease.ts'
import { type ClaimedSend, claimSends, decryptContent, endSends, type SendEnd, storeUploadResult } from './sends.ts'

export interface OutboxDeps {
  db: Db
  keyStore: KeyStore
  log: Log
  openFile: OpenStoredFile
}

/** Open socket of a session that this process holds. */
export interface OpenSessionSocket {
  lease: Lease
  socketState: Pick<SocketState, 'socket' | 'unacknowledged'>
  /** Nothing may be sent once this returns false. */
  isOurs(): boolean
}

/**
 * Sends the session's waiting messages; the network's answers are events of the socket. Returns the started sends: a
 * slow one does not block the others, whose order the inbox controls.
 */
export async function sendWaiting(deps: OutboxDeps, open: OpenSessionSocket): Promise<Promise<void>[]> {
  const started: Promise<void>[] = []
  while (open.isOurs()) {
    // Measured before the claim, so that the time ends before the deadline, whatever the clocks.
    const claimedAt = performance.now()
    const claimed = await deps.db.tx((tx) => claimSends(tx, open.lease))
    if (claimed.length === 0) break
    for (const send of claimed) started.push(sendOne(deps, open, send, claimedAt + send.leftMs))
  }
  return started
}

async function sendOne(deps: OutboxDeps, open: OpenSessionSocket, send: ClaimedSend, endsAt: number): Promise<void> {
  const { lease } = open
  const end = await sendContent(deps, open, send, endsAt)
  if (end === null) return
  // If this fails, the send stays claimed: its sender treats the outcome as unknown, and a later status corrects it.
  await deps.db
    .tx((tx) => endSends(tx, lease, [{ id: send.id, ...end }]))
    .catch((error) =>
      deps.log.warn('failed to persist send result; settling it later', { connectionId: lease.connectionId }, error),
    )
}

const notSent = { state: 'cancelled', errorCode: 'not_sent' } as const

/** Returns null if the result is already stored. */
async function sendContent(
  deps: OutboxDeps,
  { lease, socketState: { socket, unacknowledged }, isOurs }: OpenSessionSocket,
  { id, content }: ClaimedSend,
  endsAt: number,
): Promise<Omit<SendEnd, 'id'> | null> {
  const { keyStore, log } = deps
  const { workspaceId, connectionId } = lease
  try {
    const job = await keyStore.withKeyring(workspaceId, (keyring) => decryptContent(keyring, connectionId, id, content))
    const mayLeave = () => isOurs() && performance.now() < endsAt
    if (!mayLeave()) return notSent
    if ('read' in job) {
      if (job.typing !== 'paused') await socket.markRead(job.jid, job.read)
      if (job.typing !== undefined) await socket.setTyping(job.jid, job.typing === 'composing')
      return { state: 'accepted', errorCode: null }
    }
    if ('given' in job) return null
    if ('give' in job) return await uploadFile(deps, lease, socket, { id, fileId: job.give })
    unacknowledged.add(id)
    await socket.send({ ...job, id }, mayLeave)
    return { state: 'sent', errorCode: null }
  } catch (error) {
    unacknowledged.delete(id)
    log.warn('linked session failed to send a message', { connectionId }, error)
    return notSent
  }
}

async function uploadFile(
  { db, keyStore, openFile }: OutboxDeps,
  lease: OpenSessionSocket['lease'],
  socket: OpenSessionSocket['socketState']['socket'],
  { id, fileId }: { id: string; fileId: string },
): Promise<Omit<SendEnd, 'id'> | null> {
  const file = await openFile(lease.workspaceId, fileId)
  if (file === null) return { state: 'refused', errorCode: 'file_missing' }
  const given = await socket.upload(file)
  const keyring = await keyStore.keyring(lease.workspaceId)
  await db.tx((tx) => storeUploadResult(tx, keyring, lease, id, given))
  return null
}
