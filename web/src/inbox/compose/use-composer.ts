import { useEffect, useRef, useState } from 'react'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { presenceIn } from '../parts/presence.tsx'
import type { Outgoing } from './kept-sends.ts'
import { maxReply } from './limits.ts'
import { resumeSends, send } from './send.ts'
import { setDraft, setRefusal, useWriting, writingOf } from './store.ts'
import { useNote } from './use-note.ts'
import { useObstacle } from './use-obstacle.ts'
import { useSeen } from './use-seen.ts'
import { useWindow } from './use-window.ts'

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
