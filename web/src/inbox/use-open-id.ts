import { useParams, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { useFlushBeforeShortcut } from '../ui/shortcuts.ts'

/**
 * Returns the open conversation. The router renders a new address with a delay, longer under load, which skips
 * conversations that are passed quickly by keyboard. Shortcuts that act on the open conversation render it at once.
 */
export function useOpenId(workspaceId: string): string | undefined {
  const { history } = useRouter()
  const { conversationId: drawn } = useParams({ strict: false })
  // Ahead of the router until it has rendered the address.
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

/** Keeps the open conversation while an address outside the inbox has not been rendered yet. */
function conversationAt(pathname: string, workspaceId: string, openId: string | undefined): string | undefined {
  const [, , workspace, page, id = ''] = pathname.split('/')
  if (workspace !== workspaceId || page !== 'inbox') return openId
  return id === '' ? undefined : id
}
