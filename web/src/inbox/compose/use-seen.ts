import { useRef } from 'react'
import { me } from '../../session/session.ts'
import { newestMessageId, writtenSince } from './seen.ts'
import { useKnownThread } from './use-sending-agent.ts'

interface Seen {
  /** To be called whenever something is typed: what is shown then has been seen. */
  mark(): void
  /** The newest message that had been seen when the last letter was typed. */
  lastId(): string | null
  newestId(): string | null
  /** Who has written since the text was begun; null when nobody has. */
  movedBy: string | null
}

/** What the writer of a text has seen of the thread, so that nothing is answered that they have not read. */
export function useSeen(workspaceId: string, id: string, text: string): Seen {
  const thread = useKnownThread(workspaceId, id)
  const last = useRef<string | null>(null)
  const begun = useRef<string | null>(null)
  const newestId = () => (thread === undefined ? null : newestMessageId(thread))
  if (text.trim() === '') begun.current = null
  const since = begun.current
  return {
    mark: () => {
      last.current = newestId()
      begun.current ??= last.current
    },
    lastId: () => last.current ?? newestId(),
    newestId,
    movedBy: since === null || thread === undefined ? null : writtenSince(thread.items, since, me().id),
  }
}
