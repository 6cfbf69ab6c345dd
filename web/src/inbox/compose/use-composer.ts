import { useEffect, useRef, useState } from 'react'
import { useInbox } from '../queries.ts'
import type { Conversation } from '../types.ts'
import { maxReply } from './limits.ts'
import { type Outgoing, resumeSends, send } from './send.ts'
import { setDraft, setRefusal, useWriting, writingOf } from './store.ts'
import { useNote } from './use-note.ts'
import { useSeen } from './use-seen.ts'
import { useTyping } from './use-typing.ts'
import { useWindow } from './use-window.ts'

/** What stands where one writes: a field, the line of an agent's conversation, or templates. */
export type Surface = 'reply' | 'note' | 'agent' | 'template'

/** All that the composer knows and does, apart from how it looks. */
export function useComposer(workspaceId: string, conversation: Conversation, onSent?: () => void) {
  const { id, windowExpiresAt } = conversation
  const inbox = useInbox()
  const { draft, refusal, isTaking } = useWriting(workspaceId, id)
  const [wantsTemplate, setWantsTemplate] = useState(false)
  const fieldRef = useRef<HTMLTextAreaElement>(null)
  const windowState = useWindow(windowExpiresAt)
  const seen = useSeen(workspaceId, id, draft.mode === 'reply' ? draft.reply : '')
  const tellTyping = useTyping(id)
  const note = useNote(workspaceId, id)
  const isClosed = windowState.state === 'closed' || refusal?.reason === 'WINDOW_CLOSED'
  const isNote = draft.mode === 'note'

  useEffect(() => resumeSends(inbox), [inbox])
  // The customer has written: what was refused for their silence can be sent now.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the window moves
  useEffect(() => {
    if (writingOf(workspaceId, id).refusal?.reason === 'WINDOW_CLOSED') setRefusal(workspaceId, id, null)
  }, [windowExpiresAt])

  const letGo = (outgoing: Outgoing) => {
    void send(inbox, id, outgoing)
    onSent?.()
  }
  const sendText = () => {
    // From the store and not from what is drawn: the second click of two finds it empty.
    const text = writingOf(workspaceId, id).draft.reply.trim()
    if (text === '' || text.length > maxReply) return
    setDraft(workspaceId, id, { reply: '' })
    letGo({ reply: { kind: 'text', text }, text, ifLastMessageId: seen.lastId() })
  }
  const surface: Surface = isNote
    ? 'note'
    : conversation.owner !== 'human' && !isTaking
      ? 'agent'
      : isClosed || wantsTemplate
        ? 'template'
        : 'reply'
  return {
    draft,
    refusal,
    fieldRef,
    windowState,
    seen,
    surface,
    isClosed,
    letGo,
    value: isNote ? draft.note : draft.reply,
    isSending: isNote && note.isAdding,
    submit: isNote ? note.add : sendText,
    change: (text: string) => {
      seen.mark()
      setDraft(workspaceId, id, isNote ? { note: text } : { reply: text })
      tellTyping()
    },
    wantTemplate: setWantsTemplate,
  }
}
