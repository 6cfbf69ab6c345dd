import { useState } from 'react'
import { complain } from '../../ui/notices.tsx'
import { addNote } from '../actions.ts'
import { useMembers } from '../lookups.ts'
import { useInbox } from '../queries.ts'
import { maxNote } from './limits.ts'
import { mentionedIn } from './mentions.ts'
import { setDraft, writingOf } from './store.ts'

const adding = new Set<string>()

/** Adds the note that was typed, for whom it names. It stays in the field until it is kept. */
export function useNote(workspaceId: string, id: string): { add(): void; isAdding: boolean } {
  const inbox = useInbox()
  const members = useMembers(workspaceId)
  const [isAdding, setAdding] = useState(false)
  const add = async () => {
    const typed = writingOf(workspaceId, id).draft.note
    const text = typed.trim()
    if (text === '' || text.length > maxNote || adding.has(id)) return
    adding.add(id)
    setAdding(true)
    try {
      await addNote(inbox, id, text, mentionedIn(text, members))
      // What was typed on meanwhile stays.
      const { note } = writingOf(workspaceId, id).draft
      setDraft(workspaceId, id, { note: note.startsWith(typed) ? note.slice(typed.length) : note })
    } catch (error) {
      complain(error)
    } finally {
      adding.delete(id)
      setAdding(false)
    }
  }
  return { add: () => void add(), isAdding }
}
