import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { addNote } from '../../data/inbox/actions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { readMembers } from '../../data/team/members.ts'
import { privateStorage } from '../../session/private-storage.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { presenceSenderOf } from '../parts/presence.tsx'
import { composeStateOf, maxNote, setDraft } from './drafts.ts'
import { noteKeyFor, removeNoteKey } from './pending-sends.ts'
import { findMentions } from './typeahead.ts'

const adding = new Set<string>()

/** Adds the note with its mentions. The text stays in the field until it is saved. */
export function useNote(workspaceId: string, id: string): { add(): void; isAdding: boolean } {
  const inbox = useInbox()
  const queries = useQueryClient()
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
