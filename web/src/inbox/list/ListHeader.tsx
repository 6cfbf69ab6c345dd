import { IconFilter, IconMessagePlus, IconPlayerTrackNext, IconSearch, IconSquareCheck } from '@tabler/icons-react'
import { type KeyboardEvent, Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { cacheConversation } from '../../data/inbox/cache.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { takeNext } from '../../data/team/routing.ts'
import { useWorkspace } from '../../data/workspace.ts'
import { t, withTexts } from '../../text/index.ts'
import { prefetchedComponent, useIsPageReady } from '../../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../../ui/overlay/shortcuts-blocked.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { SearchField } from '../../ui/page/SearchField.tsx'
import { type Shortcut, useShortcuts } from '../../ui/shortcuts.ts'
import { useCreate } from '../../ui/use-create.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { IconButton, IconDropdown } from '../parts/IconButton.tsx'
import { useInboxContext } from '../parts/inbox-context.ts'
import { startTouchSelection } from '../parts/selection.ts'
import { type FilterProps, resultsAttribute } from './filters.ts'
import styles from './ListPane.module.css'

const MentionsButton = prefetchedComponent(() => withTexts(() => import('../mentions/MentionsButton.tsx')))
// Heavy and rarely used.
const FilterPanel = prefetchedComponent(() => import('./FilterPanel.tsx'))
const NewConversation = prefetchedComponent(() => withTexts(() => import('../start/NewConversation.tsx')))

export function ListHeader({ search, filterBy }: FilterProps) {
  const [isSearching, setSearching] = useState(search.search !== undefined)
  const isPageReady = useIsPageReady()
  useShortcuts(
    t.inbox.title,
    useMemo(() => [{ keys: '/', label: t.inbox.openSearch, run: () => setSearching(true) }], []),
  )
  return (
    <header className={styles.header}>
      {isSearching ? (
        <InboxSearchField search={search} filterBy={filterBy} close={() => setSearching(false)} />
      ) : (
        <>
          <span className={styles.title} aria-hidden="true">
            {t.inbox.title}
          </span>
          <IconButton
            icon={IconSquareCheck}
            stroke={1.6}
            label={t.inbox.bulk.select}
            title={undefined}
            className={styles.byTouch}
            onClick={startTouchSelection}
          />
          {isPageReady && (
            <Suspense>
              <MentionsButton />
            </Suspense>
          )}
          <IconButton
            icon={IconSearch}
            stroke={1.6}
            label={t.inbox.openSearch}
            tip={`${t.inbox.openSearch} (/)`}
            onClick={() => setSearching(true)}
          />
        </>
      )}
      <IconDropdown
        icon={IconFilter}
        stroke={1.6}
        label={t.inbox.filter}
        content={(dropdown) => <FilterPanel dropdown={dropdown} search={search} filterBy={filterBy} />}
      />
      <TakeNextButton />
      <StartButton />
    </header>
  )
}

const typingMs = 200

/** Moves the focus from the field to the results. */
function focusResults(event: KeyboardEvent): void {
  const first = document.querySelector<HTMLElement>(`[${resultsAttribute}] a`)
  if (first === null) return
  event.preventDefault()
  first.focus()
}

function InboxSearchField({ search, filterBy, close }: FilterProps & { close(): void }) {
  const urlTerm = search.search ?? ''
  const [term, setTerm] = useState(urlTerm)
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  // A search cleared elsewhere empties the field, except while someone types in it.
  useEffect(() => {
    if (document.activeElement !== field.current) setTerm(urlTerm)
  }, [urlTerm])
  const apply = useRef((_: string) => {})
  apply.current = (text) => {
    if (text === urlTerm) return
    filterBy(({ search: _, ...before }) => (text === '' ? before : { ...before, search: text }))
  }
  useEffect(() => {
    const timer = setTimeout(() => apply.current(term.trim()), typingMs)
    return () => clearTimeout(timer)
  }, [term])
  const end = () => {
    apply.current('')
    close()
  }
  return (
    <SearchField
      ref={field}
      aria-label={t.inbox.openSearch}
      placeholder={t.inbox.search}
      maxLength={100}
      value={term}
      onChange={(event) => setTerm(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') end()
        if (event.key === 'ArrowDown') focusResults(event)
      }}
      end={{ label: t.common.close, run: end }}
    />
  )
}

/** Assigns me the customer who has waited the longest and opens the conversation, also by `Q`. */
function TakeNextButton() {
  const inbox = useInbox()
  const { open } = useInboxContext()
  const isBusy = useRef(false)
  const take = useCallback(async () => {
    // A second click before the answer would take another one.
    if (isBusy.current) return
    isBusy.current = true
    try {
      const conversation = await takeNext(inbox.workspaceId)
      if (conversation === null) return showToast(t.inbox.nobodyWaits)
      cacheConversation(inbox, conversation)
      open(conversation.id)
    } catch (error) {
      showError(error)
    } finally {
      isBusy.current = false
    }
  }, [inbox, open])
  useShortcuts(
    t.inbox.title,
    useMemo(() => [{ keys: 'q', label: t.inbox.takeNext, run: () => void take() }], [take]),
  )
  const label = t.inbox.takeNext
  return (
    <IconButton
      icon={IconPlayerTrackNext}
      stroke={1.6}
      label={label}
      tip={`${label} (Q)`}
      onClick={() => void take()}
    />
  )
}

const noKeys: readonly Shortcut[] = []

/** Starts a conversation, also by `C` and the command palette. Hidden from people who may not send. */
function StartButton() {
  const { open } = useInboxContext()
  const { data: workspace } = useWorkspace(useWorkspaceId())
  const maySend = workspace === undefined || (workspace.inboxEnabled && workspace.inboxAvailable)
  const [isStarting, setStarting] = useCreate()
  const keys = useMemo(() => [{ keys: 'c', label: t.inbox.start, run: () => setStarting(true) }], [setStarting])
  useShortcuts(t.inbox.title, maySend ? keys : noKeys)
  if (!maySend) return null
  return (
    <>
      <IconButton
        icon={IconMessagePlus}
        stroke={1.6}
        label={t.inbox.start}
        tip={`${t.inbox.start} (C)`}
        onClick={() => setStarting(true)}
      />
      {isStarting && (
        <Suspense fallback={<ShortcutsBlocked />}>
          <NewConversation open={open} close={() => setStarting(false)} />
        </Suspense>
      )}
    </>
  )
}
