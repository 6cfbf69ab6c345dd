import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { ApiError } from '../../api/api-error.ts'
import { useConnections } from '../../data/connections.ts'
import { addNote } from '../../data/inbox/actions.ts'
import type { Inbox } from '../../data/inbox/inbox.ts'
import { useCachedThread, useInbox } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { useUploadLimits } from '../../data/inbox/uploads.ts'
import { readMembers } from '../../data/team/members.ts'
import { useWorkspace } from '../../data/workspace.ts'
import { privateStorage } from '../../session/private-storage.ts'
import { currentUser } from '../../session/session.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { type Attachment, type Attachments, captionTarget, unsentAttachments } from '../attach/attachment.ts'
import { loadedFileSender, loadFileSender } from '../attach/file-sender.ts'
import { attachmentsOf, useTray } from '../attach/tray-store.ts'
import { presenceSenderOf } from '../parts/presence.tsx'
import { quotedMessageOf, setQuotedMessage, withQuote } from '../quote/quoted-message.ts'
import { composeStateOf, maxNote, maxReply, setDraft, setRefusal, useComposeState } from './drafts.ts'
import { newestMessageId, newMessageAuthor } from './new-messages.ts'
import { type Obstacle, obstacleOf } from './obstacle.ts'
import { noteKeyFor, type OutgoingMessage, removeNoteKey } from './pending-sends.ts'
import { useResponseWindow } from './response-window.ts'
import { refusalReporter, resumeSends, send } from './send.ts'
import { findMentions } from './typeahead.ts'

/** What the composer shows: a field, the bar of an agent's conversation, or templates. */
export type Surface = 'reply' | 'note' | 'agent' | 'template'

export type ComposerState = ReturnType<typeof useComposer>

/** Returns the state and actions of the composer. */
export function useComposer(conversation: Conversation, onSent: () => void) {
  const { id, windowExpiresAt } = conversation
  const inbox = useInbox()
  const { workspaceId } = inbox
  const obstacle = useObstacle(workspaceId, conversation)
  const { draft, refusal, isTakingOver } = useComposeState(workspaceId, id)
  const [wantsTemplate, setWantsTemplate] = useState(false)
  const fieldRef = useRef<HTMLTextAreaElement>(null)
  const windowState = useResponseWindow(windowExpiresAt)
  const seen = useReadState(workspaceId, id, draft.mode === 'reply' ? draft.reply : '')
  const note = useNote(inbox, id)
  const isClosed = windowState.state === 'closed' || refusal?.reason === 'WINDOW_CLOSED'
  const isNote = draft.mode === 'note'
  const isHeld = useKeepsField(isClosed, draft.reply)
  const files = useFiles(inbox, conversation)
  const max = isNote ? maxNote : files.lead === null ? maxReply : files.captionLength

  useEffect(() => resumeSends(inbox), [inbox])
  // The customer has written: messages refused because of the closed window can be sent now.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs only when the window changes
  useEffect(() => {
    if (composeStateOf(workspaceId, id).refusal?.reason === 'WINDOW_CLOSED') setRefusal(workspaceId, id, null)
  }, [windowExpiresAt])

  const sendOutgoing = (outgoing: OutgoingMessage) => {
    presenceSenderOf(id)?.stopTyping()
    void send(inbox, id, outgoing)
    onSent()
  }
  const submitReply = () => {
    if (obstacle === null && !isClosed) sendTextAndFiles({ inbox, id, max, seen, sendOutgoing, onSent })
  }
  const surface: Surface = isNote
    ? 'note'
    : conversation.owner !== 'human' && !isTakingOver
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
    sendOutgoing,
    value: isNote ? draft.note : draft.reply,
    isSending: isNote && note.isAdding,
    submit: isNote ? note.add : submitReply,
    files,
    max,
    hasContent: (isNote ? draft.note : draft.reply).trim() !== '' || (!isNote && files.waiting > 0),
    change: (text: string) => {
      seen.mark()
      setDraft(workspaceId, id, isNote ? { note: text } : { reply: text })
      // Continuing the text closes the templates.
      if (isHeld) setWantsTemplate(false)
      if (text.trim() === '') presenceSenderOf(id)?.stopTyping()
      else presenceSenderOf(id)?.startTyping(surface === 'reply')
    },
    insert: (text: string) => {
      seen.mark()
      insertIntoReply(workspaceId, id, fieldRef.current, text)
    },
    wantTemplate: setWantsTemplate,
  }
}

/** Inserts a text where the caret is, and continues there. */
function insertIntoReply(workspaceId: string, id: string, field: HTMLTextAreaElement | null, text: string): void {
  const { reply } = composeStateOf(workspaceId, id).draft
  const caret = field?.selectionStart ?? reply.length
  const before = reply.slice(0, caret)
  const gap = before === '' || /\s$/.test(before) ? '' : ' '
  flushSync(() => setDraft(workspaceId, id, { reply: before + gap + text + reply.slice(caret) }))
  const end = caret + gap.length + text.length
  field?.focus()
  field?.setSelectionRange(end, end)
}

interface SendTextAndFilesInput {
  inbox: Inbox
  id: string
  /** In characters, of the current text. */
  max: number
  seen: ReadState
  sendOutgoing(outgoing: OutgoingMessage): void
  onSent(): void
}

/** Sends the text and the files: the text as caption of the first file that can have one, otherwise after the files. */
function sendTextAndFiles({ inbox, id, max, seen, sendOutgoing, onSent }: SendTextAndFilesInput): void {
  const { workspaceId } = inbox
  // Reads the stores instead of rendered values, so that a second click finds nothing to send.
  const text = composeStateOf(workspaceId, id).draft.reply.trim()
  const waiting = unsentAttachments(attachmentsOf(workspaceId, id))
  if (text.length > max || (text === '' && waiting.length === 0)) return
  const [quoted, isCaption] = [quotedMessageOf(id), captionTarget(waiting) !== null]
  const seenId = text === '' ? seen.newestId() : seen.lastId()
  setDraft(workspaceId, id, { reply: '' })
  setQuotedMessage(id, null)
  if (waiting.length > 0) {
    const submission = { text: isCaption ? text : '', seenId, quotedId: quoted?.id ?? null }
    loadedFileSender()?.submitFiles(inbox, id, refusalReporter(inbox, id), submission)
    onSent()
  }
  if (text === '' || isCaption) return
  // With files, the first file carries the quote.
  const answered = waiting.length > 0 ? null : quoted
  const reply = withQuote({ kind: 'text', text }, answered)
  sendOutgoing({ reply, text, ifLastMessageId: seenId, ...(answered === null ? {} : { quoted: answered }) })
}

/** Returns the files to be sent with the text. */
function useFiles(inbox: Inbox, conversation: Conversation) {
  const { id } = conversation
  const { workspaceId } = inbox
  const limits = useUploadLimits(workspaceId, conversation)
  const { attachments, rejected } = useTray(workspaceId, id)
  return {
    limits,
    /** Longest caption of the channel; no limit until loaded. */
    captionLength: limits?.captionLength ?? maxReply,
    /** The file that the text belongs to. */
    lead: captionTarget(attachments),
    waiting: unsentAttachments(attachments).length,
    isShown: attachments.length + rejected.length > 0,
    take: (files: readonly File[]) => {
      if (limits !== undefined) loadFileSender().then(({ addFiles }) => addFiles(inbox, id, limits, files), showError)
    },
    add: (one: Attachment) => void loadFileSender().then(({ addRecording }) => addRecording(inbox, id, one), showError),
    /** Text and captions stay with their files in any order. */
    arrange: (change: (before: Attachments) => Attachments) => {
      const text = composeStateOf(workspaceId, id).draft.reply
      const captionText = loadedFileSender()?.arrangeFiles(inbox, id, refusalReporter(inbox, id), { change, text })
      if (captionText !== undefined) setDraft(workspaceId, id, { reply: captionText })
    },
    retry: (one: Attachment) => loadedFileSender()?.retryFile(inbox, id, refusalReporter(inbox, id), one.id),
  }
}

/** Keeps text started before the window closed in its field, so that no letter is lost or runs a shortcut. */
function useKeepsField(isClosed: boolean, text: string): boolean {
  const [isHeld, setHeld] = useState(false)
  const keepsField = isClosed && (isHeld || text.trim() !== '')
  if (keepsField !== isHeld) setHeld(keepsField)
  return keepsField
}

/** Returns why nothing can be sent now; null if unknown or if sending is possible. */
function useObstacle(workspaceId: string, { connectionId }: Conversation): Obstacle | null {
  const { data: workspace } = useWorkspace(workspaceId)
  const { data: connections } = useConnections(workspaceId)
  if (workspace === undefined || connections === undefined) return null
  const connection = connections.find(({ id }) => id === connectionId)
  return obstacleOf(workspace, connection, Date.now())
}

interface ReadState {
  /** Call on each input: what is shown then counts as seen. */
  mark(): void
  /** Newest message at the last input. */
  lastId(): string | null
  newestId(): string | null
  /** Who has written since the text was started; null if nobody has. */
  newMessageBy: string | null
}

/** Tracks what the writer has seen of the thread, so that nobody answers messages that they have not read. */
function useReadState(workspaceId: string, id: string, text: string): ReadState {
  const thread = useCachedThread(workspaceId, id)
  const last = useRef<string | null>(null)
  const initial = useRef<string | null>(null)
  const newestId = () => (thread === undefined ? null : newestMessageId(thread))
  if (text.trim() === '') initial.current = null
  const since = initial.current
  return {
    mark: () => {
      last.current = newestId()
      initial.current ??= last.current
    },
    lastId: () => last.current ?? newestId(),
    newestId,
    newMessageBy:
      since === null || thread === undefined ? null : newMessageAuthor(thread.items, since, currentUser().id),
  }
}

const adding = new Set<string>()

/** Adds the note with its mentions. The text stays in the field until it is saved. */
function useNote(inbox: Inbox, id: string): { add(): void; isAdding: boolean } {
  const { workspaceId, queries } = inbox
  const [isAdding, setAdding] = useState(false)
  const add = async () => {
    const typed = composeStateOf(workspaceId, id).draft.note
    const text = typed.trim()
    if (text === '' || text.length > maxNote || adding.has(id)) return
    adding.add(id)
    setAdding(true)
    try {
      presenceSenderOf(id)?.stopTyping()
      const named = text.includes('@') ? findMentions(text, await readMembers(queries, workspaceId)) : []
      await addNote(inbox, id, text, named, noteKeyFor(privateStorage, workspaceId, id, text))
      removeNoteKey(privateStorage, workspaceId, id)
      // Keeps what was typed meanwhile.
      const { note } = composeStateOf(workspaceId, id).draft
      setDraft(workspaceId, id, { note: note.startsWith(typed) ? note.slice(typed.length) : note })
    } catch (error) {
      if (isClientError(error)) removeNoteKey(privateStorage, workspaceId, id)
      showError(error)
    } finally {
      adding.delete(id)
      setAdding(false)
    }
  }
  return { add: () => void add(), isAdding }
}

// After any other error the note may have been added: a retry uses the same key.
const isClientError = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500
