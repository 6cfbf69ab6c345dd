import { type Static, Type } from 'typebox'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'
import { page } from '../../base/schema-types.ts'
import type { TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { closed } from '../../team/team-schema.ts'
import { findLabels } from '../../workspaces/labels.ts'
import { findNonMembers } from '../../workspaces/workspace.ts'
import { leadUserOfMember } from '../api/lead-request.ts'
import { unknownLabels } from '../labels/lead-labels.ts'
import { assigneeIssue } from '../lead/lead.ts'
import { listLeadsOnce } from '../search/list.ts'
import { parseListRequest } from '../search/list-request.ts'
import { type BulkChangeRow, findBulkChange, listBulkChanges, undoUntilOf } from './bulk-changes.ts'
import type { BulkDeps } from './run-bulk-change.ts'
import { BulkChange, type BulkLabels, bulkChangeParams, NewBulkChange, OneBulkChange } from './schema.ts'
import { type BulkRequest, cancelBulkChange, startBulkChange, undoBulkChange } from './start-bulk-change.ts'

const changesPath = '/api/team/v1/workspaces/:workspaceId/lead-bulk-changes'
const changePath = `${changesPath}/:changeId`
const oneChange = { params: bulkChangeParams, answers: { 200: OneBulkChange } }

/** Registers the routes that start, read, cancel and undo bulk changes. */
export function bulkChangeTeamRoutes(app: App, deps: BulkDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Lead bulk changes')
  api.post(changesPath, 'member', {
    operationId: 'beginLeadBulkChange',
    summary: 'Change or delete many leads, in the background',
    description:
      'Send exactly one of `ids` and `filter`, and exactly one of `changes`, `labels`, `sequenceId` and `delete`. Each lead is changed on its own, with its own event and history. Up to 500 leads in `ids` are changed before the response; larger changes run in the background. The audit log records who changed how many leads. A bulk change can be undone for 24 hours. 409 if 5 bulk changes of the workspace are running.',
    body: NewBulkChange,
    answers: { 201: OneBulkChange },
    errors: [409, 422],
    run: async ({ member, body }) => {
      const { workspaceId } = member
      const bulkRequest = parseBulkRequest(body)
      const assignee = 'changes' in bulkRequest ? bulkRequest.changes.assignedTo : null
      if (assignee != null && (await findNonMembers(deps.db.sql, workspaceId, [assignee])).length > 0) {
        throw new InvalidInput([assigneeIssue('changes')])
      }
      if ('labels' in bulkRequest) await checkLabels(deps, workspaceId, bulkRequest.labels)
      if ('filter' in bulkRequest && bulkRequest.filter.conditions !== undefined) {
        // Rejects conditions that cannot be evaluated for this many leads now, instead of in the worker.
        const request = { sort: { by: 'createdAt', order: 'asc' }, limit: 1, page: 1, cursor: null } as const
        await listLeadsOnce(deps, leadUserOfMember(member), { ...request, filter: bulkRequest.filter })
      }
      return respondWith(deps, startBulkChange(deps, member, bulkRequest))
    },
  })
  api.get(changesPath, 'member', {
    operationId: 'listLeadBulkChanges',
    summary: 'List bulk changes of leads',
    description: 'The newest 50, newest first. Deleted after 90 days.',
    query: Type.Object({}, closed),
    answers: { 200: Type.Object({ bulkChanges: Type.Array(BulkChange, page) }) },
    run: async ({ member }) => {
      const rows = await listBulkChanges(deps.db.sql, member.workspaceId)
      return { bulkChanges: rows.map((row) => present(row, deps.clock.now())) }
    },
  })
  api.get(changePath, 'member', {
    operationId: 'getLeadBulkChange',
    summary: 'Get a bulk change of leads',
    description: 'Progress of the bulk change, or of its undo.',
    ...oneChange,
    query: Type.Object({}, closed),
    run: ({ member, params }) => respondWith(deps, findBulkChange(deps.db.sql, member.workspaceId, params.changeId)),
  })
  cancelAndUndoRoutes(api, deps)
}

function cancelAndUndoRoutes(api: TeamApi, deps: BulkDeps): void {
  api.post(`${changePath}/cancel`, 'member', {
    operationId: 'cancelLeadBulkChange',
    summary: 'Cancel a bulk change of leads',
    description: 'Leads that were already changed stay changed; undo reverts them. 409 if it has ended.',
    ...oneChange,
    errors: [409],
    run: ({ member, params }) => respondWith(deps, cancelBulkChange(deps, member, params.changeId)),
  })
  api.post(`${changePath}/undo`, 'member', {
    operationId: 'undoLeadBulkChange',
    summary: 'Undo a bulk change of leads',
    description:
      'Within 24 hours of its end. Fields that still have the value it set get their former value, and leads that it deleted are restored. Leads changed since are left as they are and counted in `kept`. 409 if it has not ended, was already undone, or the 24 hours are over.',
    ...oneChange,
    errors: [409],
    run: ({ member, params }) => respondWith(deps, undoBulkChange(deps, member, params.changeId, 'selection')),
  })
}

const respondWith = async ({ clock }: BulkDeps, changed: Promise<BulkChangeRow>) => ({
  bulkChange: present(await changed, clock.now()),
})

async function checkLabels({ db }: BulkDeps, workspaceId: string, { addLabelIds = [] }: BulkLabels): Promise<void> {
  const known = await db.tx((tx) => findLabels(tx, workspaceId, addLabelIds))
  if (addLabelIds.some((id) => !known.has(id))) throw unknownLabels('labels.addLabelIds')
}

function parseBulkRequest({
  ids,
  filter,
  changes,
  labels,
  sequenceId,
  delete: deletes,
}: Static<typeof NewBulkChange>): BulkRequest {
  const issues: Issue[] = []
  if ((ids === undefined) === (filter === undefined)) {
    issues.push({ path: '', message: 'must have exactly one of ids and filter' })
  }
  if ([changes, labels, sequenceId, deletes].filter((one) => one !== undefined).length !== 1) {
    issues.push({ path: '', message: 'must have exactly one of changes, labels, sequenceId and delete' })
  }
  if (issues.length > 0) throw new InvalidInput(issues)
  const selection =
    filter === undefined
      ? { ids: [...new Set((ids ?? []).map((id) => id.toLowerCase()))] }
      : { filter: parseListRequest(filter).filter }
  if (labels !== undefined) return { ...selection, labels: parseLabels(labels) }
  if (sequenceId !== undefined) return { ...selection, sequence: { sequenceId: sequenceId.toLowerCase() } }
  if (changes === undefined) return { ...selection, delete: true }
  const { assignedTo } = changes
  return { ...selection, changes: { ...changes, ...(assignedTo && { assignedTo: assignedTo.toLowerCase() }) } }
}

// A label that is both added and removed is removed.
function parseLabels({ addLabelIds = [], removeLabelIds = [] }: BulkLabels): BulkLabels {
  const removed = [...new Set(removeLabelIds.map((id) => id.toLowerCase()))]
  const added = [...new Set(addLabelIds.map((id) => id.toLowerCase()))]
  return { addLabelIds: added.filter((id) => !removed.includes(id)), removeLabelIds: removed }
}

function present(row: BulkChangeRow, now: Date) {
  const { id, kind, changes, state, total, changed, unchanged, failed, undone, kept } = row
  const counts = { total, changed, unchanged, failed, undone, kept }
  return {
    id,
    kind: kind === 'import' ? ('change' as const) : kind,
    changes: kind === 'labels' || kind === 'sequence' ? null : changes,
    sequenceId: kind === 'sequence' ? (changes?.sequenceId ?? null) : null,
    labels: kind === 'labels' ? changes : null,
    state,
    ...counts,
    startedBy: { type: row.actor_type, id: row.actor_id },
    createdAt: row.created_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
    undoUntil: undoUntilOf(row, now),
  }
}
