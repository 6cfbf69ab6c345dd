import { Suspense } from 'react'
import { isFiltered, withoutFilters } from '../shared/lead-view/address.ts'
import { withTexts } from '../text/index.ts'
import { prefetchedComponent } from '../ui/overlay/lazy.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { useLeadActions } from './fields/change.ts'
import type { FieldContext } from './fields/columns.tsx'
import styles from './LeadsPage.module.css'
import { LeadTable } from './table/LeadTable.tsx'
import type { Columns } from './table/use-columns.ts'
import type { Selection } from './table/use-selection.ts'
import type { LeadsLocation } from './use-leads-location.ts'

const LeadPanel = prefetchedComponent(() =>
  withTexts(async () => ({ default: (await import('./panel/LeadPanel.tsx')).LeadPanel })),
)
const BulkBar = prefetchedComponent(() => withTexts(async () => ({ default: (await import('./BulkBar.tsx')).BulkBar })))
const Board = prefetchedComponent(() => withTexts(async () => ({ default: (await import('./board/Board.tsx')).Board })))
const Trash = prefetchedComponent(() => withTexts(async () => ({ default: (await import('./Trash.tsx')).Trash })))

interface BodyProps {
  location: LeadsLocation
  context: FieldContext
  columns: Columns
  selection: Selection
  onTotal(total: number | undefined): void
  create(): void
}

/** The list in the chosen view, with the open lead beside it. */
export function LeadsBody({ location, context, columns, selection, onTotal, create }: BodyProps) {
  const workspaceId = useWorkspaceId()
  const { address, goTo, query, open } = location
  const actions = useLeadActions(workspaceId)
  const view = address.view ?? 'table'
  const list = { workspaceId, query, actions, openId: address.lead, open, onTotal }
  return (
    <div className={styles.body}>
      {view === 'table' && (
        <LeadTable
          {...list}
          context={context}
          columns={columns}
          selection={selection}
          sort={{ now: address.sort ?? '-createdAt', to: (sort) => goTo((before) => ({ ...before, sort })) }}
          isFiltered={isFiltered(address)}
          clearFilters={() => goTo(withoutFilters)}
          create={create}
        />
      )}
      <Suspense>
        {view === 'board' && <Board {...list} people={context.people} />}
        {view === 'trash' && <Trash actions={actions} />}
      </Suspense>
      <Suspense>
        {address.lead !== undefined && view !== 'trash' && (
          <LeadPanel
            key={address.lead}
            id={address.lead}
            known={location.known}
            context={context}
            actions={actions}
            open={open}
            close={location.close}
          />
        )}
      </Suspense>
      <Suspense>
        {view === 'table' && selection.ids.size > 0 && (
          <BulkBar selection={selection} context={context} actions={actions} open={open} />
        )}
      </Suspense>
    </div>
  )
}
