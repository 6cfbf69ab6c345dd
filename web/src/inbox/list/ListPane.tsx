import { useMemo } from 'react'
import { t } from '../../text/index.ts'
import { ConversationRows } from './ConversationRows.tsx'
import { FilterChips } from './FilterChips.tsx'
import { filterOf, type InboxSearch, isNarrowed } from './filters.ts'
import { ListHeader } from './ListHeader.tsx'
import styles from './ListPane.module.css'
import { ViewTabs } from './ViewTabs.tsx'

export interface ListPaneProps {
  workspaceId: string
  search: InboxSearch
  openId: string | undefined
  open(id: string): void
  filterBy(search: InboxSearch): void
}

export function ListPane({ workspaceId, search, openId, open, filterBy }: ListPaneProps) {
  const filter = useMemo(() => filterOf(search), [search])
  const views = (view: typeof filter.view) => {
    const { view: _, ...rest } = search
    filterBy(view === 'all' ? rest : { ...rest, view })
  }
  return (
    <section className={styles.pane} aria-label={t.inbox.conversations}>
      <ListHeader workspaceId={workspaceId} search={search} filterBy={filterBy} />
      <ViewTabs workspaceId={workspaceId} view={filter.view} choose={views} />
      {isNarrowed(search) && <FilterChips workspaceId={workspaceId} search={search} filterBy={filterBy} />}
      <ConversationRows
        workspaceId={workspaceId}
        filter={filter}
        isNarrowed={isNarrowed(search)}
        openId={openId}
        open={open}
        clear={() => filterBy(search.view === undefined ? {} : { view: search.view })}
      />
    </section>
  )
}
