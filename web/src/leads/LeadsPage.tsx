import { Suspense, useCallback, useMemo, useState } from 'react'
import { useLeadFields } from '../data/lead-fields.ts'
import { useLeadsLive } from '../data/leads-live.ts'
import { usePeople } from '../data/people.ts'
import { useCurrency, useStatuses } from '../data/workspace.ts'
import { t, withTexts } from '../text/index.ts'
import { useKeys } from '../ui/keys.ts'
import { KeysHeld } from '../ui/overlay/keys-held.ts'
import { later, useStanding } from '../ui/overlay/later.ts'
import { useIsPhone } from '../ui/use-is-phone.ts'
import { useMaking } from '../ui/use-making.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import type { ColumnChoice } from './fields/column-choice.ts'
import { withFieldColumns } from './fields/field-columns.ts'
import type { GoTo } from './fields/use-address.ts'
import { FilterBar } from './filters/FilterBar.tsx'
import { LeadsBody } from './LeadsBody.tsx'
import { LeadsHeader } from './LeadsHeader.tsx'
import { useColumns } from './table/use-columns.ts'
import { useSelection } from './table/use-selection.ts'
import { useLeadsPlace } from './use-leads-place.ts'
import { ViewTabs } from './views/ViewTabs.tsx'

const NewLeadPanel = later(() =>
  withTexts(async () => ({ default: (await import('./NewLeadPanel.tsx')).NewLeadPanel })),
)
const BulkStrip = later(() => withTexts(() => import('./bulk/BulkStrip.tsx')))

const phoneColumns: ColumnChoice = { shown: ['name', 'status'], widths: { name: 218, status: 130 } }

/** Everyone who asked or may buy: as a table, as a board, and what was thrown away. */
export function LeadsPage() {
  const workspaceId = useWorkspaceId()
  const isStanding = useStanding()
  const place = useLeadsPlace()
  const { address, goTo, open } = place
  const [people, statuses] = [usePeople(workspaceId), useStatuses(workspaceId)]
  const fields = useLeadFields(workspaceId)
  const currency = useCurrency(workspaceId)
  const context = useMemo(() => ({ people, statuses, fields, currency }), [people, statuses, fields, currency])
  const chosen = useColumns(workspaceId, address, goTo)
  const columns = { ...chosen, choice: useMemo(() => withFieldColumns(chosen.choice, fields), [chosen.choice, fields]) }
  const isPhone = useIsPhone()
  const selection = useSelection()
  const [total, setTotal] = useState<number | undefined>(undefined)
  const [isMaking, setMaking] = useMaking()
  const create = useCallback(() => setMaking(true), [setMaking])
  useLeadsLive(workspaceId)
  usePageKeys({ create, goTo, close: place.close, clear: selection.clear })

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
      {isStanding && (
        <Suspense>
          <BulkStrip people={people} />
        </Suspense>
      )}
      <LeadsBody
        {...{ place, context, selection, create }}
        columns={isPhone ? { ...columns, choice: phoneColumns } : columns}
        onTotal={setTotal}
      />
      <Suspense fallback={<KeysHeld />}>
        {isMaking && (
          <NewLeadPanel
            context={context}
            close={() => setMaking(false)}
            open={(lead) => {
              setMaking(false)
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
  useKeys(
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
