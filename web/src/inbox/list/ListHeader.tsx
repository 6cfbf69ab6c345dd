import { ActionIcon } from '@mantine/core'
import { IconFilter, IconSearch, IconSquareCheck } from '@tabler/icons-react'
import { type KeyboardEvent, Suspense, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { t, withTexts } from '../../text/index.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { prefetchedComponent, useIsPageReady } from '../../ui/overlay/lazy.ts'
import { Tip } from '../../ui/overlay/Tip.tsx'
import { SearchField } from '../../ui/page/SearchField.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { startTouchSelection } from '../parts/selection.ts'
import { StartButton } from '../start/StartButton.tsx'
import { TakeNextButton } from '../start/TakeNextButton.tsx'
import { type FilterBy, type InboxSearch, resultsAttribute } from './filters.ts'
import styles from './ListPane.module.css'

const MentionsButton = prefetchedComponent(() => withTexts(() => import('../mentions/MentionsButton.tsx')))
// Heavy and rarely used.
const FilterDropdown = prefetchedComponent(() => import('./FilterDropdown.tsx'))

interface ListHeaderProps {
  search: InboxSearch
  filterBy: FilterBy
  open(id: string): void
}

export function ListHeader({ search, filterBy, open }: ListHeaderProps) {
  const [isSearching, setSearching] = useState(search.search !== undefined)
  const [isFilterOpen, setFilterOpen] = useState(false)
  const dropdown = useDropdown(isFilterOpen, setFilterOpen)
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
          <ActionIcon
            className={styles.byTouch}
            variant="subtle"
            color="gray"
            aria-label={t.inbox.bulk.select}
            onClick={startTouchSelection}
          >
            <IconSquareCheck size={18} stroke={1.6} />
          </ActionIcon>
          {isPageReady && (
            <Suspense>
              <MentionsButton />
            </Suspense>
          )}
          <Tip label={`${t.inbox.openSearch} (/)`}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t.inbox.openSearch}
              onClick={() => setSearching(true)}
            >
              <IconSearch size={18} stroke={1.6} />
            </ActionIcon>
          </Tip>
        </>
      )}
      <ActionIcon
        {...dropdownButtonProps(dropdown, 'dialog')}
        variant="subtle"
        color="gray"
        title={t.inbox.filter}
        aria-label={t.inbox.filter}
      >
        <IconFilter size={18} stroke={1.6} />
      </ActionIcon>
      <DropdownContent dropdown={dropdown}>
        <FilterDropdown dropdown={dropdown} search={search} filterBy={filterBy} />
      </DropdownContent>
      <TakeNextButton open={open} />
      <StartButton open={open} />
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

interface InboxSearchFieldProps {
  search: InboxSearch
  filterBy: FilterBy
  close(): void
}

function InboxSearchField({ search, filterBy, close }: InboxSearchFieldProps) {
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
