import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { saveDraft, type TemplateContent, type TemplateDraft } from '../data/team/templates.ts'

export type SaveState = 'saved' | 'waiting' | 'failed' | 'conflict'

export interface DraftEditor {
  content: TemplateContent
  change(changes: Partial<TemplateContent>): void
  /** The draft as it was last saved, with its problems. */
  draft: TemplateDraft
  state: SaveState
  /** Saves what is not saved yet; rejects if that fails. */
  flush(): Promise<TemplateDraft>
  /** Takes a draft that the server has changed, such as by an upload. */
  accept(draft: TemplateDraft): void
}

const debounceMs = 500

/** Keeps a draft on the server while it is written: one save at a time, each of the newest content. */
export function useDraftEditor(workspaceId: string, opened: TemplateDraft): DraftEditor {
  const [content, setContent] = useState(opened.content)
  const [draft, setDraft] = useState(opened)
  const [state, setState] = useState<SaveState>('saved')
  const newest = useRef({ content: opened.content, saved: opened })
  const running = useRef<Promise<TemplateDraft> | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)

  const flush = useCallback(async (): Promise<TemplateDraft> => {
    clearTimeout(timer.current)
    while (running.current !== null) await running.current.catch(() => {})
    const { content: current, saved } = newest.current
    if (current === saved.content) return saved
    setState('waiting')
    running.current = saveDraft(workspaceId, saved.id, { content: current, version: saved.version })
    try {
      // The server returns equal content: the same object shows that nothing has changed since.
      const after = { ...(await running.current), content: current }
      newest.current.saved = after
      setDraft(after)
      setState(newest.current.content === current ? 'saved' : 'waiting')
      return after
    } catch (error) {
      setState(error instanceof ApiError && error.code === 'DRAFT_CHANGED' ? 'conflict' : 'failed')
      throw error
    } finally {
      running.current = null
    }
  }, [workspaceId])

  const change = (changes: Partial<TemplateContent>) => {
    const changed = { ...newest.current.content, ...changes }
    newest.current.content = changed
    setContent(changed)
    setState((before) => (before === 'conflict' ? before : 'waiting'))
    clearTimeout(timer.current)
    timer.current = setTimeout(() => void flush().catch(() => {}), debounceMs)
  }
  const accept = (changed: TemplateDraft) => {
    const after = { ...changed, content: newest.current.saved.content }
    newest.current.saved = after
    setDraft(after)
  }
  // A reload within the delay would lose the last words.
  useEffect(() => {
    if (state === 'saved') return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [state])
  // Leaving the page saves at once.
  useEffect(() => () => void flush().catch(() => {}), [flush])
  return { content, change, draft, state, flush, accept }
}
