import { useParams, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { useFlushBeforeShortcut } from '../ui/shortcuts.ts'

/**
 * Which conversation is open. The router draws an address a moment after it stands there, or later where much is going on;
 * who opens one conversation after the other by keys is spared those between. A key that acts on what is open has it drawn at once.
 */
export function useOpenId(workspaceId: string): string | undefined {
  const { history } = useRouter()
  const { conversationId: drawn } = useParams({ strict: false })
  // Ahead of the router: from there on by the address, until that is drawn.
  const [ahead, setAhead] = useState<{ id: string | undefined } | null>(null)
  const openId = ahead === null ? drawn : ahead.id
  const addressed = useCallback(
    () => conversationAt(history.location.pathname, workspaceId, openId),
    [history, workspaceId, openId],
  )
  useEffect(() => {
    if (ahead === null) return
    if (ahead.id === drawn) return setAhead(null)
    return history.subscribe(() => setAhead({ id: addressed() }))
  }, [ahead, drawn, history, addressed])
  useFlushBeforeShortcut(
    useCallback(() => {
      const id = addressed()
      if (id !== openId) flushSync(() => setAhead({ id }))
    }, [addressed, openId]),
  )
  return openId
}

/** The address of another room says nothing of it: until that room is drawn, what is open stays. */
function conversationAt(pathname: string, workspaceId: string, openId: string | undefined): string | undefined {
  const [, , workspace, page, id = ''] = pathname.split('/')
  if (workspace !== workspaceId || page !== 'inbox') return openId
  return id === '' ? undefined : id
}
