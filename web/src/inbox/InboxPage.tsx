import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Suspense, useCallback, useMemo, useState } from 'react'
import { neighbourOf, useInbox } from '../data/inbox/queries.ts'
import { t } from '../text/index.ts'
import { useKeys } from '../ui/keys.ts'
import { later } from '../ui/overlay/later.ts'
import unseen from '../ui/unseen.module.css'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './InboxPage.module.css'
import { filterOf, type InboxSearch } from './list/filters.ts'
import { ListPane } from './list/ListPane.tsx'

// The rows are what one sees first.
const ThreadPane = later(async () => ({ default: (await import('./ThreadPane.tsx')).ThreadPane }))

/** Three panes: who wrote, what was said, and whom with. On a phone one of them at a time. */
export function InboxPage() {
  const workspaceId = useWorkspaceId()
  const { conversationId } = useParams({ strict: false })
  const search: InboxSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const [showsCustomer, setShowsCustomer] = useState(false)
  const go = useCallback(
    (id: string | undefined, search: true | InboxSearch = true, messageId?: string) =>
      void navigate({
        to: '/w/$workspaceId/inbox/{-$conversationId}',
        params: { workspaceId, conversationId: id },
        search,
        ...(messageId !== undefined && { hash: messageId }),
      }),
    [navigate, workspaceId],
  )
  const open = useCallback((id: string) => go(id), [go])
  const openAt = useCallback((id: string, messageId: string) => go(id, true, messageId), [go])
  const close = useCallback(() => {
    setShowsCustomer(false)
    go(undefined)
  }, [go])
  const goOn = useGoOn(search, go)
  const filterBy = useCallback((next: InboxSearch) => go(conversationId, next), [go, conversationId])
  useKeys(
    t.inbox.title,
    useMemo(() => {
      const back = () => (showsCustomer ? setShowsCustomer(false) : close())
      return conversationId === undefined ? [] : [{ keys: 'Escape', label: t.common.keys.back, run: back }]
    }, [conversationId, showsCustomer, close]),
  )
  return (
    <>
      {/* The list has the title to be seen, and is not always there. */}
      <h1 className={unseen.unseen}>{t.inbox.title}</h1>
      <div className={styles.panes} data-open={conversationId === undefined ? undefined : true}>
        <ListPane search={search} openId={conversationId} open={open} openAt={openAt} filterBy={filterBy} />
        {conversationId === undefined ? (
          <p className={styles.nothing}>{t.inbox.choose}</p>
        ) : (
          <Suspense>
            <ThreadPane
              key={conversationId}
              id={conversationId}
              close={close}
              open={open}
              goOn={goOn}
              showsCustomer={showsCustomer}
              setShowsCustomer={setShowsCustomer}
            />
          </Suspense>
        )}
      </div>
    </>
  )
}

/** Leaves a conversation that is done for the next one of the list; where one pane shows, for the list. */
function useGoOn(search: InboxSearch, go: (id: string | undefined) => void): (id: string) => void {
  const inbox = useInbox()
  return useCallback(
    (id: string) => {
      const isOnePane = window.matchMedia('(max-width: 880px)').matches
      go(isOnePane ? undefined : neighbourOf(inbox, filterOf(search), id))
    },
    [inbox, search, go],
  )
}
