import { useEffect, useRef, useState } from 'react'
import { useConnections } from '../../data/connections.ts'
import { useInbox, useKnownThread } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { useWorkspace } from '../../data/workspace.ts'
import { me } from '../../session/session.ts'
import { presenceIn } from '../parts/presence.tsx'
import { maxReply, setDraft, setRefusal, useWriting, writingOf } from './drafts.ts'
import type { Outgoing } from './kept-sends.ts'
import { type Obstacle, obstacleOf } from './obstacle.ts'
import { resumeSends, send } from './send.ts'
import { useNote } from './use-note.ts'
import { useWindow } from './window.ts'
import { newestMessageId, writtenSince } from './written-since.ts'

/** What stands where one writes: a field, the line of an agent's conversation, or templates. */
export type Surface = 'reply' | 'note' | 'agent' | 'template'

/** All that the composer knows and does, apart from how it looks. */
export function useComposer(workspaceId: string, conversation: Conversation, onSent?: () => void) {
  const { id, windowExpiresAt } = conversation
  const obstacle = useObstacle(workspaceId, conversation)
  const inbox = useInbox()
  const { draft, refusal, isTaking } = useWriting(workspaceId, id)
  const [wantsTemplate, setWantsTemplate] = useState(false)
  const fieldRef = useRef<HTMLTextAreaElement>(null)
  const windowState = useWindow(windowExpiresAt)
  const seen = useSeen(workspaceId, id, draft.mode === 'reply' ? draft.reply : '')
  const note = useNote(workspaceId, id)
  const isClosed = windowState.state === 'closed' || refusal?.reason === 'WINDOW_CLOSED'
  const isNote = draft.mode === 'note'
  const isHeld = useHeld(isClosed, draft.reply)

  useEffect(() => resumeSends(inbox), [inbox])
  // The customer has written: what was refused for their silence can be sent now.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the window moves
  useEffect(() => {
    if (writingOf(workspaceId, id).refusal?.reason === 'WINDOW_CLOSED') setRefusal(workspaceId, id, null)
  }, [windowExpiresAt])

  const letGo = (outgoing: Outgoing) => {
    presenceIn(id)?.rest()
    void send(inbox, id, outgoing)
    onSent?.()
  }
  const sendText = () => {
    // From the store and not from what is drawn: the second click of two finds it empty.
    const text = writingOf(workspaceId, id).draft.reply.trim()
    if (obstacle !== null || isClosed || text === '' || text.length > maxReply) return
    setDraft(workspaceId, id, { reply: '' })
    letGo({ reply: { kind: 'text', text }, text, ifLastMessageId: seen.lastId() })
  }
  const surface: Surface = isNote
    ? 'note'
    : conversation.owner !== 'human' && !isTaking
      ? 'agent'
      : obstacle === null && (isClosed || wantsTemplate)
        ? 'template'
        : 'reply'
  return {
    draft,
    refusal,
    obstacle,
    fieldRef,
    windowState,
    seen,
    surface,
    isClosed,
    hasField: surface === 'reply' || surface === 'note' || (surface === 'template' && isHeld),
    letGo,
    value: isNote ? draft.note : draft.reply,
    isSending: isNote && note.isAdding,
    submit: isNote ? note.add : sendText,
    change: (text: string) => {
      seen.mark()
      setDraft(workspaceId, id, isNote ? { note: text } : { reply: text })
      // Whoever goes on with their text is not at a template any more.
      if (isHeld) setWantsTemplate(false)
      if (text.trim() === '') presenceIn(id)?.rest()
      else presenceIn(id)?.type()
    },
    wantTemplate: setWantsTemplate,
  }
}

/** What was begun when the window closed stays in its field, to be gone on with: no letter is lost, nor taken for a key. */
function useHeld(isClosed: boolean, text: string): boolean {
  const [isHeld, setHeld] = useState(false)
  const holds = isClosed && (isHeld || text.trim() !== '')
  if (holds !== isHeld) setHeld(holds)
  return holds
}

/** Why nothing can be sent now; null while that is not known, and when all is well. */
function useObstacle(workspaceId: string, { connectionId }: Conversation): Obstacle | null {
  const { data: workspace } = useWorkspace(workspaceId)
  const { data: connections } = useConnections(workspaceId)
  if (workspace === undefined || connections === undefined) return null
  const connection = connections.find(({ id }) => id === connectionId)
  return obstacleOf(workspace, connection, Date.now())
}

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
function useSeen(workspaceId: string, id: string, text: string): Seen {
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
