import type { Db } from '../../../base/db.ts'
import type { KeyStore } from '../../../base/encryption/key-store.ts'
import type { Log } from '../../../base/log.ts'
import type { OpenOurFile } from '../../media-transport.ts'
import type { Line } from '../session/held-session.ts'
import type { Lease } from '../session/session-lease.ts'
import { type ClaimedSend, claimSends, endFile, endSends, openContent, type SendEnd } from './sends.ts'

export interface OutboxDeps {
  db: Db
  keyStore: KeyStore
  log: Log
  openFile: OpenOurFile
}

/** Open socket of a session that this process holds. */
export interface OpenLine {
  lease: Lease
  line: Pick<Line, 'socket' | 'awaited'>
  /** Nothing may be sent once this returns false. */
  isOurs(): boolean
}

/**
 * Sends the session's waiting messages; the network's answers are events of the socket. Returns the started sends: a
 * slow one does not block the others, whose order the inbox controls.
 */
export async function sendWaiting(deps: OutboxDeps, open: OpenLine): Promise<Promise<void>[]> {
  const begun: Promise<void>[] = []
  while (open.isOurs()) {
    // Measured before the claim, so that the time ends before the deadline, whatever the clocks.
    const askedAt = performance.now()
    const claimed = await deps.db.tx((tx) => claimSends(tx, open.lease))
    if (claimed.length === 0) break
    for (const send of claimed) begun.push(sendOne(deps, open, send, askedAt + send.leftMs))
  }
  return begun
}

async function sendOne(deps: OutboxDeps, open: OpenLine, send: ClaimedSend, endsAt: number): Promise<void> {
  const { lease } = open
  const end = await hand(deps, open, send, endsAt)
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
async function hand(
  deps: OutboxDeps,
  { lease, line: { socket, awaited }, isOurs }: OpenLine,
  { id, content }: ClaimedSend,
  endsAt: number,
): Promise<Omit<SendEnd, 'id'> | null> {
  const { keyStore, log } = deps
  const { workspaceId, connectionId } = lease
  try {
    const job = await keyStore.withKeyring(workspaceId, (keyring) => openContent(keyring, connectionId, id, content))
    const mayLeave = () => isOurs() && performance.now() < endsAt
    if (!mayLeave()) return notSent
    if ('read' in job) {
      await socket.markRead(job.jid, job.read)
      return { state: 'accepted', errorCode: null }
    }
    if ('given' in job) return null
    if ('give' in job) return await giveFile(deps, lease, socket, { id, fileId: job.give })
    awaited.add(id)
    await socket.send({ ...job, id }, mayLeave)
    return { state: 'sent', errorCode: null }
  } catch (error) {
    awaited.delete(id)
    log.warn('linked session failed to send a message', { connectionId }, error)
    return notSent
  }
}

async function giveFile(
  { db, keyStore, openFile }: OutboxDeps,
  lease: OpenLine['lease'],
  socket: OpenLine['line']['socket'],
  { id, fileId }: { id: string; fileId: string },
): Promise<Omit<SendEnd, 'id'> | null> {
  const file = await openFile(lease.workspaceId, fileId)
  if (file === null) return { state: 'refused', errorCode: 'file_missing' }
  const given = await socket.upload(file)
  const keyring = await keyStore.keyring(lease.workspaceId)
  await db.tx((tx) => endFile(tx, keyring, lease, id, given))
  return null
}
