import { useCallback, useEffect, useRef } from 'react'
import { type Lead, type LeadQuery, useBoard } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useIsPhone } from '../../ui/use-is-phone.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { LeadActions } from '../fields/change.ts'
import styles from './Board.module.css'
import { BoardColumn } from './BoardColumn.tsx'
import { ColumnChooser } from './ColumnChooser.tsx'

interface BoardProps {
  query: LeadQuery
  people: People
  actions: LeadActions
  openId: string | undefined
  open(lead: Lead): void
  onTotal(total: number | undefined): void
}

/** Leads by status. Move cards by dragging, or by Shift and an arrow key. */
export function Board({ query, people, actions, openId, open, onTotal }: BoardProps) {
  const workspaceId = useWorkspaceId()
  const board = useBoard(workspaceId, query)
  const box = useRef<HTMLElement>(null)
  const isPhone = useIsPhone()
  const requested = query.status?.split(',')
  const heads = board.data?.filter(({ status }) => requested === undefined || requested.includes(status))
  // The server's counts support filters but not search.
  const total = query.search === undefined ? heads?.reduce((sum, { count }) => sum + count, 0) : undefined
  useEffect(() => onTotal(total), [onTotal, total])
  const statuses = heads?.map(({ status }) => status).join(',') ?? ''
  const step = useCallback(
    (lead: Lead, by: number) => {
      const all = statuses.split(',')
      const to = all[all.indexOf(lead.status) + by]
      if (to !== undefined) void actions.move(lead, to).then(() => focusCard(lead.id))
    },
    [statuses, actions],
  )
  return (
    <QueryBoundary query={board}>
      {() => (
        <div className={styles.stage}>
          {isPhone && heads !== undefined && <ColumnChooser heads={heads} board={box} />}
          <section ref={box} className={styles.board} aria-label={t.leads.board} aria-description={t.leads.boardHelp}>
            {heads?.map((head) => (
              <BoardColumn
                key={head.status}
                head={head}
                query={query}
                people={people}
                actions={actions}
                openId={openId}
                open={open}
                step={step}
              />
            ))}
          </section>
        </div>
      )}
    </QueryBoundary>
  )
}

const focusCard = (id: string) => document.getElementById(`card-${id}`)?.focus()
