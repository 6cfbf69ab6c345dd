import { ActionIcon } from '@mantine/core'
import { IconFilter, IconSearch, IconSquareCheck } from '@tabler/icons-react'
import { type KeyboardEvent, Suspense, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { t, withTexts } from '../../text/index.ts'
import { useKeys } from '../../ui/keys.ts'
import { Dropped, dropButton, useDrop } from '../../ui/overlay/drop.tsx'
import { later, useStanding } from '../../ui/overlay/later.ts'
import { Tip } from '../../ui/overlay/Tip.tsx'
import { SearchField } from '../../ui/page/SearchField.tsx'
import { chooseByTouch } from '../parts/selection.ts'
import { StartButton } from '../start/StartButton.tsx'
import { type FilterBy, foundMark, type InboxSearch } from './filters.ts'
import styles from './ListPane.module.css'

const MentionsButton = later(() => withTexts(() => import('../mentions/MentionsButton.tsx')))
// Its fields are heavy, and most days go by without them.
const FilterDrop = later(() => import('./FilterDrop.tsx'))

interface ListHeaderProps {
  search: InboxSearch
  filterBy: FilterBy
  open(id: string): void
}

export function ListHeader({ search, filterBy, open }: ListHeaderProps) {
  const [isSearching, setSearching] = useState(search.search !== undefined)
  const [isFiltering, setFiltering] = useState(false)
  const drop = useDrop(isFiltering, setFiltering)
  const isStanding = useStanding()
  useKeys(
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
            onClick={chooseByTouch}
          >
            <IconSquareCheck size={18} stroke={1.6} />
          </ActionIcon>
          {isStanding && (
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
        {...dropButton(drop, 'dialog')}
        variant="subtle"
        color="gray"
        title={t.inbox.filter}
        aria-label={t.inbox.filter}
      >
        <IconFilter size={18} stroke={1.6} />
      </ActionIcon>
      <Dropped drop={drop}>
        <FilterDrop drop={drop} search={search} filterBy={filterBy} />
      </Dropped>
      <StartButton open={open} />
    </header>
  )
}

const typingMs = 200

/** From the field into what it has found. */
function toFound(event: KeyboardEvent): void {
  const first = document.querySelector<HTMLElement>(`[${foundMark}] a`)
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
  const asked = search.search ?? ''
  const [term, setTerm] = useState(asked)
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  // What takes the search away elsewhere empties the field, but nothing takes words from under who types.
  useEffect(() => {
    if (document.activeElement !== field.current) setTerm(asked)
  }, [asked])
  const apply = useRef((_: string) => {})
  apply.current = (text) => {
    if (text === asked) return
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
        if (event.key === 'ArrowDown') toFound(event)
      }}
      end={{ label: t.common.close, run: end }}
    />
  )
}
