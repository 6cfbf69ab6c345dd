import {
  enqueueAction,
  type HeldSession,
  isHeld,
  type SessionWorkerDeps,
  type SocketState,
} from '../session/held-session.ts'
import { type ClaimedSend, claimSends, decryptContent, endSends, type SendEnd, storeUploadResult } from './sends.ts'

/** The open socket of a session that this process holds. Nothing may be sent once `isOurs` returns false. */
interface OpenSession extends Pick<HeldSession, 'lease'> {
  socketState: SocketState
  isOurs(): boolean
}

/** Sends waiting messages, if the socket is open; the network's answers are events of the socket. */
export function sendWaitingMessages(deps: SessionWorkerDeps, held: HeldSession): void {
  enqueueAction(deps, held, async () => {
    const { socketState, lease, sending } = held
    if (socketState === null || !socketState.isOpen) return
    const isOurs = () => isHeld(held) && held.socketState === socketState && socketState.isOpen
    while (isOurs()) {
      // Measured before the claim, so that the time ends before the deadline, whatever the clocks.
      const claimedAt = performance.now()
      const claimed = await deps.db.tx((tx) => claimSends(tx, lease))
      if (claimed.length === 0) return
      // A slow send does not block the others, whose order the inbox controls.
      for (const send of claimed) {
        const work = sendOne(deps, { lease, socketState, isOurs }, send, claimedAt + send.leftMs)
        sending.add(work)
        work.finally(() => sending.delete(work))
      }
    }
  })
}

async function sendOne(deps: SessionWorkerDeps, open: OpenSession, send: ClaimedSend, endsAt: number): Promise<void> {
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
  deps: SessionWorkerDeps,
  { lease, socketState: { socket, unacknowledged }, isOurs }: OpenSession,
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
  { db, keyStore, openFile }: SessionWorkerDeps,
  lease: HeldSession['lease'],
  socket: SocketState['socket'],
  { id, fileId }: { id: string; fileId: string },
): Promise<Omit<SendEnd, 'id'> | null> {
  const file = await openFile(lease.workspaceId, fileId)
  if (file === null) return { state: 'refused', errorCode: 'file_missing' }
  const given = await socket.upload(file)
  const keyring = await keyStore.keyring(lease.workspaceId)
  await db.tx((tx) => storeUploadResult(tx, keyring, lease, id, given))
  return null
}
