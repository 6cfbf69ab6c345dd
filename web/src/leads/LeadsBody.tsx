import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { BulkBar } from './BulkBar.tsx'
import { Board } from './board/Board.tsx'
import { isFiltered, withoutFilters } from './fields/address.ts'
import { useLeadVerbs } from './fields/change.ts'
import type { FieldContext } from './fields/columns.tsx'
import styles from './LeadsPage.module.css'
import { LeadPanel } from './panel/LeadPanel.tsx'
import { Trash } from './Trash.tsx'
import { LeadTable } from './table/LeadTable.tsx'
import type { Columns } from './table/use-columns.ts'
import type { Selection } from './table/use-selection.ts'
import type { LeadsPlace } from './use-leads-place.ts'

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
      {view === 'board' && <Board {...list} people={context.people} />}
      {view === 'trash' && <Trash verbs={verbs} />}
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
      {view === 'table' && selection.ids.size > 0 && (
        <BulkBar selection={selection} context={context} verbs={verbs} open={open} />
      )}
    </div>
  )
}
