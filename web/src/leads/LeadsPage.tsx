import { Suspense, useCallback, useMemo, useState } from 'react'
import { useLeadFields } from '../data/lead-fields.ts'
import { useLiveLeads } from '../data/leads-live.ts'
import { usePeople } from '../data/people.ts'
import { useCurrency, useStatuses } from '../data/workspace.ts'
import { t, withTexts } from '../text/index.ts'
import { prefetchedComponent, useIsPageReady } from '../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../ui/overlay/shortcuts-blocked.ts'
import { useShortcuts } from '../ui/shortcuts.ts'
import { useCreate } from '../ui/use-create.ts'
import { useIsPhone } from '../ui/use-is-phone.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import type { ColumnChoice } from './fields/column-choice.ts'
import { withFieldColumns } from './fields/field-columns.ts'
import type { GoTo } from './fields/use-address.ts'
import { FilterBar } from './filters/FilterBar.tsx'
import { LeadsBody } from './LeadsBody.tsx'
import { LeadsHeader } from './LeadsHeader.tsx'
import { useColumns } from './table/use-columns.ts'
import { useSelection } from './table/use-selection.ts'
import { useLeadsLocation } from './use-leads-location.ts'
import { ViewTabs } from './views/ViewTabs.tsx'

const NewLeadPanel = prefetchedComponent(() =>
  withTexts(async () => ({ default: (await import('./NewLeadPanel.tsx')).NewLeadPanel })),
)
const BulkStrip = prefetchedComponent(() => withTexts(() => import('./bulk/BulkStrip.tsx')))

const phoneColumns: ColumnChoice = { shown: ['name', 'status'], widths: { name: 218, status: 130 } }

/** Leads as a table or board, and the trash. */
export function LeadsPage() {
  const workspaceId = useWorkspaceId()
  const isPageReady = useIsPageReady()
  const location = useLeadsLocation()
  const { address, goTo, open } = location
  const [people, statuses] = [usePeople(workspaceId), useStatuses(workspaceId)]
  const fields = useLeadFields(workspaceId)
  const currency = useCurrency(workspaceId)
  const context = useMemo(() => ({ people, statuses, fields, currency }), [people, statuses, fields, currency])
  const chosen = useColumns(workspaceId, address, goTo)
  const columns = { ...chosen, choice: useMemo(() => withFieldColumns(chosen.choice, fields), [chosen.choice, fields]) }
  const isPhone = useIsPhone()
  const selection = useSelection()
  const [total, setTotal] = useState<number | undefined>(undefined)
  const [isCreating, setCreating] = useCreate()
  const create = useCallback(() => setCreating(true), [setCreating])
  useLiveLeads(workspaceId)
  usePageKeys({ create, goTo, close: location.close, clear: selection.clear })

  const view = address.view ?? 'table'
  return (
    <>
      <LeadsHeader
        address={address}
        goTo={goTo}
        columns={view === 'table' && !isPhone ? columns : null}
        create={create}
      />
      {view !== 'trash' && <ViewTabs address={address} goTo={goTo} choice={columns.choice} />}
      {view !== 'trash' && <FilterBar address={address} goTo={goTo} context={context} total={total} />}
      {isPageReady && (
        <Suspense>
          <BulkStrip people={people} />
        </Suspense>
      )}
      <LeadsBody
        {...{ location, context, selection, create }}
        columns={isPhone ? { ...columns, choice: phoneColumns } : columns}
        onTotal={setTotal}
      />
      <Suspense fallback={<ShortcutsBlocked />}>
        {isCreating && (
          <NewLeadPanel
            context={context}
            close={() => setCreating(false)}
            open={(lead) => {
              setCreating(false)
              open(lead)
            }}
          />
        )}
      </Suspense>
    </>
  )
}

interface PageKeys {
  create(): void
  goTo: GoTo
  close(): void
  clear(): void
}

function usePageKeys({ create, goTo, close, clear }: PageKeys): void {
  const keys = t.leads.keys
  useShortcuts(
    keys.group,
    useMemo(
      () => [
        { keys: 'c', label: keys.create, run: create },
        { keys: '/', label: keys.search, run: () => document.getElementById('lead-search')?.focus() },
        {
          keys: 'b',
          label: keys.board,
          run: () => goTo(({ view, ...before }) => (view === 'board' ? before : { ...before, view: 'board' as const })),
        },
        {
          keys: 'Escape',
          label: keys.close,
          run: () => {
            clear()
            close()
          },
        },
      ],
      [create, goTo, close, clear, keys],
    ),
  )
}
