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

/** The open socket of a session that is ours. */
export interface OpenLine {
  lease: Lease
  line: Pick<Line, 'socket' | 'awaited'>
  /** Nothing may leave any more once this is false. */
  isOurs(): boolean
}

/**
 * Hands to the network what waits for this session; the network's answers are events of the socket. Returns what it has
 * begun: one that is slow to leave does not hold up the others, whose order is the inbox's to keep.
 */
export async function sendWaiting(deps: OutboxDeps, open: OpenLine): Promise<Promise<void>[]> {
  const begun: Promise<void>[] = []
  while (open.isOurs()) {
    // Before the claim, so that it runs out before the deadline does, whatever clocks there are.
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
  // What is not noted stays claimed: its sender takes it for unknown, and a status of it repairs that.
  await deps.db
    .tx((tx) => endSends(tx, lease, [{ id: send.id, ...end }]))
    .catch((error) =>
      deps.log.warn('failed to persist send result; settling it later', { connectionId: lease.connectionId }, error),
    )
}

const notSent = { state: 'cancelled', errorCode: 'not_sent' } as const

/** Null when its end is noted already. */
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
