import { unprocessable } from '../../base/errors.ts'
import type { LeadDeps, LeadUser } from '../lead/lead.ts'
import { resolved } from './arranged/conditions.ts'
import { arePlain, plainCondition } from './arranged/plain.ts'
import { filterCondition, type LeadFilter } from './list-filter.ts'

export interface BoardColumn {
  status: string
  count: number
  estimatedValue: number
  actualValue: number
  value: number
}

/**
 * How many leads have each status, and what they are worth, exactly. The statuses of the workspace come first, in its
 * order and also when empty; those that only the API has given follow by name.
 */
export async function readBoard(
  { db, clock }: LeadDeps,
  { workspaceId }: LeadUser,
  filter: LeadFilter,
): Promise<BoardColumn[]> {
  const conditions = resolved(filter.conditions ?? { match: 'all', list: [] }, clock.now())
  if (!arePlain(conditions)) {
    throw unprocessable('The board counts no leads by texts and custom fields: look at these in the table', {
      code: 'NOT_ON_BOARD',
    })
  }
  const [workspace, rows] = await Promise.all([
    db.sql<{ lead_statuses: string[] }[]>`
      select lead_statuses
      from workspaces
      where id = ${workspaceId}`,
    db.sql<BoardColumn[]>`
      select l.status,
        count(*)::integer as count,
        coalesce(sum(l.estimated_value), 0) as "estimatedValue",
        coalesce(sum(l.actual_value), 0) as "actualValue",
        coalesce(sum(coalesce(l.actual_value, l.estimated_value)), 0) as value
      from leads l
      where ${filterCondition(db.sql, workspaceId, filter)}
        ${plainCondition(db.sql, workspaceId, conditions)}
      group by l.status`,
  ])
  return inOrder(workspace[0]?.lead_statuses ?? [], rows)
}

function inOrder(statuses: readonly string[], rows: readonly BoardColumn[]): BoardColumn[] {
  const byStatus = new Map(rows.map((row) => [row.status, row]))
  const own = statuses.map((status) => byStatus.get(status) ?? emptyColumn(status))
  const others = rows.filter(({ status }) => !statuses.includes(status))
  return [...own, ...others.sort((a, b) => (a.status < b.status ? -1 : 1))]
}

const emptyColumn = (status: string): BoardColumn => ({
  status,
  count: 0,
  estimatedValue: 0,
  actualValue: 0,
  value: 0,
})
