import { randomUUID } from 'node:crypto'
import type { SessionConnection } from '../../connection/connection.ts'
import type { FileToUpload, Uploaded } from '../../media-way.ts'
import { ask, type SessionConnectorDeps, wakerOf } from './connector.ts'
import { cancelSend, type NewSessionSend, readStanding, takeGiven } from './sends.ts'

type Deps = Omit<SessionConnectorDeps, 'ackMs' | 'elapsedMs'>

const defaultPollMs = 500
/** The holder has to begin within this time. */
const beginWithinMs = 20_000
/** The network keeps files for some weeks, and what it said of one is used at once. */
const givenLivesMs = 86_400_000

/** Has whichever process holds the session's socket give the network a file. */
export async function giveToNetwork(
  deps: Deps,
  { workspaceId, id: connectionId }: SessionConnection,
  file: Pick<FileToUpload, 'id'>,
  signal: AbortSignal,
): Promise<Uploaded> {
  const send: NewSessionSend = {
    workspaceId,
    connectionId,
    id: randomUUID(),
    kind: 'file',
    correlator: null,
    content: { give: file.id },
    leftMs: () => beginWithinMs,
  }
  if (!(await ask(deps, send))) return failed('session_not_held')
  const { pollMs = defaultPollMs } = deps
  const news = wakerOf(deps.db, send.id)
  try {
    for (;;) {
      const woken = news.nextWithin(pollMs)
      const end = await endOf(deps, send, signal)
      if (end !== null) return end
      await woken
    }
  } finally {
    news.stop()
  }
}

const failed = (errorCode: string): Uploaded => ({ outcome: 'failed', errorCode, isDown: false })

async function endOf({ db, vault, clock }: Deps, send: NewSessionSend, signal: AbortSignal): Promise<Uploaded | null> {
  const standing = await readStanding(db.sql, send)
  if (standing === undefined) return failed('session_lost')
  switch (standing.state) {
    case 'accepted': {
      const keyring = await vault.keyring(send.workspaceId)
      const platformId = await db.tx((tx) => takeGiven(tx, keyring, send))
      if (platformId === null) return failed('session_lost')
      return { outcome: 'taken', platformId, livesUntil: new Date(clock.now().getTime() + givenLivesMs) }
    }
    case 'refused':
      return { outcome: 'refused', errorCode: standing.errorCode ?? 'unknown' }
    case 'cancelled':
      return failed(standing.errorCode ?? 'not_sent')
    case 'waiting': {
      const isOver = standing.isOver || !standing.isHeld || signal.aborted
      return isOver && (await db.tx((tx) => cancelSend(tx, send))) ? failed('session_not_open') : null
    }
    case 'claimed':
    case 'sent':
      return standing.isHeld && !signal.aborted ? null : failed('session_lost')
    default:
      return standing.state satisfies never
  }
}
