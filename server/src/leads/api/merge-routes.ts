import { isUuid } from '../../base/id.ts'
import type { App } from '../../base/route.ts'
import type { TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { listStatusChanges } from '../lead/history.ts'
import { leadReader } from '../lead/identify.ts'
import { presentDetail } from '../lead/present.ts'
import { NoQuery } from '../lead/schema.ts'
import { otherEmails, otherPhones } from '../lead/search-lines.ts'
import { type Merged, mergeLeads } from '../merge/merge.ts'
import {
  findMergedInto,
  listMerges,
  type MergeDeps,
  type MergeRow,
  mergeNotFound,
  openFormer,
} from '../merge/merges.ts'
import * as schema from '../merge/schema.ts'
import { undoMerge } from '../merge/undo.ts'
import { type ConversationDeps, phonesOf } from './lead-detail-routes.ts'
import { leadsPath, leadUserOf, ofLead } from './lead-request.ts'

type Deps = MergeDeps & ConversationDeps

/** Two leads that are one person: what a merge would do, the merge, its undo. */
export function mergeTeamRoutes(app: App, deps: Deps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Lead merges')
  const readLead = leadReader(deps)
  api.get(`${leadsPath}/:identifier/merge`, 'member', {
    operationId: 'previewLeadMerge',
    summary: 'See what merging two leads would do',
    description: 'Both leads, and how much of the other goes to the one that is kept. Writes nothing.',
    params: ofLead,
    query: schema.PreviewQuery,
    answers: { 200: schema.MergePreview },
    run: async ({ member, params, query }) => {
      const user = leadUserOf(member)
      const { workspaceId } = user
      const kept = await readLead(user, params.identifier)
      const other = await readLead(user, query.otherId)
      const known = await deps.conversationsOf(workspaceId, phonesOf(kept))
      const found = await deps.conversationsOf(workspaceId, phonesOf(other))
      return {
        kept: presentDetail(kept),
        other: presentDetail(other),
        conversations: found.filter(({ id }) => !known.some((one) => one.id === id)).length,
        submissions: await deps.countSubmissionsOf(deps.db.sql, workspaceId, other.id),
        statusChanges: (await listStatusChanges(deps.db.sql, workspaceId, other.id)).length,
      }
    },
  })
  api.post(`${leadsPath}/:identifier/merge`, 'member', {
    operationId: 'mergeLeads',
    summary: 'Merge two leads',
    description:
      'Into the lead of the address goes another one: the values that are chosen, its history, its submissions, its labels, the marks of its imports, and its conversations. The other is deleted: its id and uniqueCode answer 404, and its externalRef is free, unless they were chosen. Whoever comes by its phone or e-mail is found as the kept lead, by upserts and search too. Emits `lead.deleted` and `lead.updated`. It can be undone for 30 days. A repeat answers the merge that stands.',
    params: ofLead,
    query: NoQuery,
    body: schema.NewMerge,
    answers: { 200: schema.MergeDone },
    errors: [409],
    run: async ({ member, params, body }) => {
      const user = leadUserOf(member)
      const { otherId, fields = {}, customFields = {} } = body
      const choices = { fields, customFields }
      return present(deps, await mergeLeads(deps, user, params.identifier, otherId.toLowerCase(), choices))
    },
  })
  mergedRoutes(api, deps)
}

/** What was merged, and its undo. */
function mergedRoutes(api: TeamApi, deps: Deps): void {
  const readLead = leadReader(deps)
  api.get(`${leadsPath}/:identifier/merges`, 'member', {
    operationId: 'listLeadMerges',
    summary: 'List what was merged into a lead',
    description: 'And the phones and e-mails that it has thereby. At most 100 merges.',
    params: ofLead,
    query: NoQuery,
    answers: { 200: schema.LeadMerges },
    run: async ({ member, params }) => {
      const user = leadUserOf(member)
      const lead = await readLead(user, params.identifier)
      const rows = await listMerges(deps.db.sql, user.workspaceId, lead.id)
      return {
        merges: await Promise.all(rows.map((row) => presentMerge(deps, user.workspaceId, row))),
        otherPhones: otherPhones(lead),
        otherEmails: otherEmails(lead),
      }
    },
  })
  api.get(`${leadsPath}/:identifier/merged-into`, 'member', {
    operationId: 'findLeadMergedInto',
    summary: 'Find the lead that a merged one went into',
    description:
      'For the id of a lead that answers 404 since it was merged. 404 too for one that was not, or whose merge was undone, and when the lead that was kept is deleted.',
    params: ofLead,
    query: NoQuery,
    answers: { 200: schema.MergedInto },
    run: async ({ member, params }) => {
      const { workspaceId } = member
      const id = params.identifier.toLowerCase()
      const found = isUuid(id) ? await findMergedInto(deps.db.sql, workspaceId, id) : null
      if (found === null) throw mergeNotFound()
      const { otherName: name, mergedAt } = await presentMerge(deps, workspaceId, found.merge)
      return { leadId: found.leadId, name, mergedAt }
    },
  })
  api.post('/api/team/v1/workspaces/:workspaceId/lead-merges/:mergeId/undo', 'member', {
    operationId: 'undoLeadMerge',
    summary: 'Undo a merge of leads',
    description:
      'Within 30 days. The other lead comes back with its history, submissions and conversations; the kept one gets back what it had, but for what somebody changed since, which `left` names. Emits `lead.updated` and `lead.restored`. 409 when the days are over, the kept lead is deleted, or a third lead has taken the externalRef or uniqueCode. A repeat answers what the first one did.',
    params: schema.mergeParams,
    query: NoQuery,
    answers: { 200: schema.MergeDone },
    errors: [409],
    run: async ({ member, params }) => {
      const user = leadUserOf(member)
      return present(deps, await undoMerge(deps, user, params.mergeId.toLowerCase()))
    },
  })
}

const present = async (deps: MergeDeps, { merge, lead, workspaceId }: Merged) => ({
  merge: await presentMerge(deps, workspaceId, merge),
  lead: presentDetail(lead),
})

async function presentMerge({ vault, clock }: MergeDeps, workspaceId: string, row: MergeRow) {
  const { former, undo_until: undoUntil } = row
  const keyring = await vault.keyring(workspaceId)
  return {
    id: row.id,
    keptId: row.kept_id,
    otherId: row.merged_id,
    otherName: former === null ? null : openFormer(keyring, row.id, former).name,
    statusChanges: row.changes_count,
    submissions: row.submissions_count,
    mergedBy: { type: row.actor_type, id: row.actor_id },
    mergedAt: row.merged_at.toISOString(),
    undoUntil: undoUntil !== null && undoUntil > clock.now() ? undoUntil.toISOString() : null,
    undoneAt: row.undone_at?.toISOString() ?? null,
    left: row.left_fields ?? [],
  }
}
