import { Suspense, useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import { useCounts } from '../../data/inbox/queries.ts'
import { type View, views } from '../../data/inbox/types.ts'
import { t, withTexts } from '../../text/index.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { SkipLink } from '../../ui/SkipLink.tsx'
import { ShortcutsQueued } from '../../ui/shortcuts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { clearSelection, useIsSelecting } from '../parts/selection.ts'
import { ConversationRows } from './ConversationRows.tsx'
import { type FilterProps, filterOf, isNarrowed } from './filters.ts'
import { ListHeader } from './ListHeader.tsx'
import styles from './ListPane.module.css'

const SearchResults = prefetchedComponent(() => withTexts(() => import('./SearchResults.tsx')))
const FilterChips = prefetchedComponent(() => import('./FilterChips.tsx'))
const BulkBar = prefetchedComponent(() => withTexts(() => import('../bulk/BulkBar.tsx')))

export function ListPane({ search, filterBy, openId }: FilterProps & { openId: string | undefined }) {
  const filter = useMemo(() => filterOf(search), [search])
  const isChoosing = useIsSelecting()
  // Rows that are no longer visible must not be changed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the filter changes
  useEffect(() => clearSelection, [filter])
  const views = (view: typeof filter.view) =>
    filterBy(({ view: _, ...before }) => (view === 'all' ? before : { ...before, view }))
  return (
    <section className={styles.pane} aria-label={t.inbox.conversations}>
      {openId !== undefined && <SkipLink to="thread">{t.inbox.skipToThread}</SkipLink>}
      <ListHeader search={search} filterBy={filterBy} />
      <ViewTabs view={filter.view} choose={views} />
      {isChoosing && (
        <Suspense fallback={<ShortcutsQueued />}>
          <BulkBar filter={filter} />
        </Suspense>
      )}
      {isNarrowed(search) && (
        <Suspense>
          <FilterChips search={search} filterBy={filterBy} />
        </Suspense>
      )}
      {filter.search === undefined ? (
        <ConversationRows
          filter={filter}
          isNarrowed={isNarrowed(search)}
          openId={openId}
          clear={() => filterBy(({ view }) => (view === undefined ? {} : { view }))}
        />
      ) : (
        <Suspense>
          <SearchResults filter={filter} term={filter.search} openId={openId} />
        </Suspense>
      )}
    </section>
  )
}

function ViewTabs({ view, choose }: { view: View; choose(view: View): void }) {
  const workspaceId = useWorkspaceId()
  const { data: counts } = useCounts(workspaceId)
  const tabs = useRef<HTMLDivElement>(null)
  const shown = counts && views.map((one) => countOf(counts[one].open))
  // Large counts leave no room for all tabs, and load after the current tab has been scrolled into view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the view or the width of the counts changes
  useLayoutEffect(() => {
    tabs.current?.querySelector('[aria-pressed="true"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [view, shown?.join()])
  return (
    <div ref={tabs} className={styles.tabs} role="toolbar" aria-label={t.inbox.view}>
      {views.map((one, n) => (
        <button key={one} type="button" className={styles.tab} aria-pressed={one === view} onClick={() => choose(one)}>
          {t.inbox.views[one]}
          {shown !== undefined && <span className={styles.count}>{shown[n]}</span>}
        </button>
      ))}
    </div>
  )
}

/** The server counts up to this number. */
const maxCounted = 500

const countOf = (open: number) => (open < maxCounted ? formatNumber(open) : `${formatNumber(maxCounted)}+`)
