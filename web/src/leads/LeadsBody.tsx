import { Suspense } from 'react'
import { withTexts } from '../text/index.ts'
import { later } from '../ui/overlay/later.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { isFiltered, withoutFilters } from './fields/address.ts'
import { useLeadVerbs } from './fields/change.ts'
import type { FieldContext } from './fields/columns.tsx'
import styles from './LeadsPage.module.css'
import { LeadTable } from './table/LeadTable.tsx'
import type { Columns } from './table/use-columns.ts'
import type { Selection } from './table/use-selection.ts'
import type { LeadsPlace } from './use-leads-place.ts'

const LeadPanel = later(() => withTexts(async () => ({ default: (await import('./panel/LeadPanel.tsx')).LeadPanel })))
const BulkBar = later(() => withTexts(async () => ({ default: (await import('./BulkBar.tsx')).BulkBar })))
const Board = later(() => withTexts(async () => ({ default: (await import('./board/Board.tsx')).Board })))
const Trash = later(() => withTexts(async () => ({ default: (await import('./Trash.tsx')).Trash })))

interface BodyProps {
  place: LeadsPlace
  context: FieldContext
  columns: Columns
  selection: Selection
  onTotal(total: number | undefined): void
  create(): void
}

/** The list in the view that was chosen, with the open lead beside it. */
export function LeadsBody({ place, context, columns, selection, onTotal, create }: BodyProps) {
  const workspaceId = useWorkspaceId()
  const { address, goTo, query, open } = place
  const verbs = useLeadVerbs(workspaceId)
  const view = address.view ?? 'table'
  const list = { workspaceId, query, verbs, openId: address.lead, open, onTotal }
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
        {view === 'trash' && <Trash verbs={verbs} />}
      </Suspense>
      <Suspense>
        {address.lead !== undefined && view !== 'trash' && (
          <LeadPanel
            key={address.lead}
            id={address.lead}
            known={place.known}
            context={context}
            verbs={verbs}
            open={open}
            close={place.close}
          />
        )}
      </Suspense>
      <Suspense>
        {view === 'table' && selection.ids.size > 0 && (
          <BulkBar selection={selection} context={context} verbs={verbs} open={open} />
        )}
      </Suspense>
    </div>
  )
}
