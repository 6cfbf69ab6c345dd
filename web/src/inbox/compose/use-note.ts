import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../../api/failure.ts'
import { addNote } from '../../data/inbox/actions.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { readMembers } from '../../data/team/members.ts'
import { privateStorage } from '../../session/private-storage.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { presenceIn } from '../parts/presence.tsx'
import { maxNote, setDraft, writingOf } from './drafts.ts'
import { dropNoteKey, noteKeyFor } from './kept-sends.ts'
import { mentionedIn } from './typeahead.ts'

const adding = new Set<string>()

/** Adds the note that was typed, for whom it names. It stays in the field until it is kept. */
export function useNote(workspaceId: string, id: string): { add(): void; isAdding: boolean } {
  const inbox = useInbox()
  const queries = useQueryClient()
  const [isAdding, setAdding] = useState(false)
  const add = async () => {
    const typed = writingOf(workspaceId, id).draft.note
    const text = typed.trim()
    if (text === '' || text.length > maxNote || adding.has(id)) return
    adding.add(id)
    setAdding(true)
    try {
      presenceIn(id)?.rest()
      const named = text.includes('@') ? mentionedIn(text, await readMembers(queries, workspaceId)) : []
      await addNote(inbox, id, text, named, noteKeyFor(privateStorage, workspaceId, id, text))
      dropNoteKey(privateStorage, workspaceId, id)
      // What was typed on meanwhile stays.
      const { note } = writingOf(workspaceId, id).draft
      setDraft(workspaceId, id, { note: note.startsWith(typed) ? note.slice(typed.length) : note })
    } catch (error) {
      if (isAnswer(error)) dropNoteKey(privateStorage, workspaceId, id)
      complain(error)
    } finally {
      adding.delete(id)
      setAdding(false)
    }
  }
  return { add: () => void add(), isAdding }
}

// After any other failure nobody knows whether the note was added: it is tried again under its key.
const isAnswer = (error: unknown): boolean => error instanceof Failure && error.status >= 400 && error.status < 500
