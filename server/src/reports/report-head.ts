import { forbidden, invalid } from '../base/errors.ts'
import { isUuid } from '../base/id.ts'
import { costScopeOf } from '../inbox/costs/read-costs.ts'
import { periodOf } from '../team/day-period.ts'
import { type Member, roleCovers } from '../team/member.ts'
import { findWorkspace } from '../workspaces/workspace.ts'
import type { CollectDeps } from './collect-facts.ts'
import { type ReportScope, readCountState } from './read-report.ts'
import { maxDays, type ReportQuery } from './report-schema.ts'

const dayMs = 86_400_000

export const isAdmin = ({ role }: Pick<Member, 'role'>): boolean => roleCovers(role, 'admin')

/** What every report begins with, and what it reads. */
export async function readHead(
  { db: { sql }, clock }: Pick<CollectDeps, 'db' | 'clock'>,
  member: Pick<Member, 'workspaceId' | 'role' | 'userId'>,
  query: ReportQuery,
) {
  const { workspaceId } = member
  const now = clock.now()
  const [workspace, state, costs] = await Promise.all([
    findWorkspace(sql, workspaceId),
    readCountState(sql, workspaceId),
    isAdmin(member) ? costScopeOf(sql, workspaceId, undefined) : null,
  ])
  const timeZone = workspace?.hours?.timeZone ?? 'UTC'
  const period = periodOf(query, { days: query.days, timeZone, maxDays, now })
  const length = (Date.parse(period.to) - Date.parse(period.from)) / dayMs + 1
  const beforeFrom = new Date(Date.parse(period.from) - length * dayMs).toISOString().slice(0, 10)
  const scope: ReportScope = { ...period, workspaceId, beforeFrom, filter: filterOf(query, member) }
  const head = {
    ...{ ...period, beforeFrom, timeZone },
    countedAt: state.countedAt?.toISOString() ?? null,
    isComplete: !state.isRebuilding,
    currency: workspace?.currency ?? null,
    costCurrency: costs?.currency ?? null,
  }
  return { head, scope, hasCosts: costs !== null }
}

/** Saved reports name them too, and are not checked when they are saved. */
const sourceShape = /^[a-z0-9_-]{1,36}$/

/** Throws 400 for a value that the dimension cannot have, and 403 for the numbers of other people. */
function filterOf({ dimension, value }: ReportQuery, member: Pick<Member, 'role' | 'userId'>): ReportScope['filter'] {
  if (dimension === undefined) return null
  if (value === undefined) throw invalid('value', 'must name the value of the dimension', 'query')
  if (dimension === 'source' && !sourceShape.test(value)) throw invalid('value', 'must be a source', 'query')
  if (dimension !== 'source' && !isUuid(value)) throw invalid('value', 'must be an id', 'query')
  if (dimension === 'person' && value !== member.userId && !isAdmin(member)) {
    throw forbidden('Only admins can see the numbers of other people. Use your own id as value.')
  }
  return { dimension, id: value }
}
