import { ActionIcon, Popover, TextInput, Tooltip } from '@mantine/core'
import { IconFilter, IconSearch, IconX } from '@tabler/icons-react'
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { t } from '../text/index.ts'
import { useKeys } from '../ui/keys.ts'
import type { InboxSearch } from './filters.ts'
import styles from './ListPane.module.css'

// Its fields are heavy, and most days go by without them.
const FilterPanel = lazy(() => import('./FilterPanel.tsx'))

interface ListHeaderProps {
  workspaceId: string
  search: InboxSearch
  filterBy(search: InboxSearch): void
}

export function ListHeader({ workspaceId, search, filterBy }: ListHeaderProps) {
  const [isSearching, setSearching] = useState(search.search !== undefined)
  const [isFiltering, setFiltering] = useState(false)
  useKeys(
    t.inbox.title,
    useMemo(() => [{ keys: '/', label: t.inbox.openSearch, run: () => setSearching(true) }], []),
  )
  return (
    <header className={styles.header}>
      {isSearching ? (
        <>
          <h1 className="mantine-visually-hidden">{t.inbox.title}</h1>
          <SearchField search={search} filterBy={filterBy} close={() => setSearching(false)} />
        </>
      ) : (
        <>
          <h1 className={styles.title}>{t.inbox.title}</h1>
          <Tooltip label={`${t.inbox.openSearch} (/)`}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t.inbox.openSearch}
              onClick={() => setSearching(true)}
            >
              <IconSearch size={18} stroke={1.6} />
            </ActionIcon>
          </Tooltip>
        </>
      )}
      <Popover opened={isFiltering} onChange={setFiltering} position="bottom-end" width={300} shadow="md" trapFocus>
        <Popover.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            title={t.inbox.filter}
            aria-label={t.inbox.filter}
            aria-haspopup="dialog"
            aria-expanded={isFiltering}
            onClick={() => setFiltering(!isFiltering)}
          >
            <IconFilter size={18} stroke={1.6} />
          </ActionIcon>
        </Popover.Target>
        <Popover.Dropdown aria-label={t.inbox.filter}>
          <Suspense>
            <FilterPanel workspaceId={workspaceId} search={search} filterBy={filterBy} />
          </Suspense>
        </Popover.Dropdown>
      </Popover>
    </header>
  )
}

const typingMs = 200

interface SearchFieldProps {
  search: InboxSearch
  filterBy(search: InboxSearch): void
  close(): void
}

function SearchField({ search, filterBy, close }: SearchFieldProps) {
  const [term, setTerm] = useState(search.search ?? '')
  const apply = useRef((_: string) => {})
  apply.current = (text) => {
    const { search: before = '', ...rest } = search
    if (text !== before) filterBy(text === '' ? rest : { ...rest, search: text })
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
    <TextInput
      className={styles.search}
      data-autofocus
      autoFocus
      type="search"
      aria-label={t.inbox.openSearch}
      placeholder={t.inbox.search}
      maxLength={100}
      value={term}
      onChange={(event) => setTerm(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') end()
      }}
      leftSection={<IconSearch size={16} stroke={1.6} />}
      rightSection={
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t.common.close} onClick={end}>
          <IconX size={16} />
        </ActionIcon>
      }
    />
  )
}
