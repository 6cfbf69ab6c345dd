import { type Static, Type } from 'typebox'
import { isUuid } from '../../base/id.ts'
import { type App, nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, text, uuid } from '../../base/schema-types.ts'
import type { TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import type { ConversationDeps } from '../api/lead-detail-routes.ts'
import { leadPathParams, leadsPath, leadUserOfMember, ofLead } from '../api/lead-request.ts'
import { maxCustomFields, maxKeyLength } from '../lead/custom-fields.ts'
import { makeLeadReader } from '../lead/find-lead.ts'
import { listStatusChanges } from '../lead/history.ts'
import { type LeadUser, leadFieldNames } from '../lead/lead.ts'
import { presentDetail } from '../lead/present.ts'
import { LeadDetail, NoQuery } from '../lead/schema.ts'
import { otherEmails, otherPhones, phonesOf } from '../lead/search-lines.ts'
import { type MergeResult, mergeLeads } from './merge.ts'
import type { MergeDeps, MergeRow } from './merge-records.ts'
import { decryptSnapshot, findMergedInto, listMerges, mergeNotFound } from './merge-records.ts'
import { maxContacts } from './plan-merge.ts'
import { undoMerge } from './undo.ts'

const mergeChoice = oneOf(['kept', 'other'], {
  title: 'MergeChoice',
  description:
    'Lead whose value is kept. Default: the value of the kept lead, or that of the other if it is empty. A chosen value is kept even if it is empty.',
})

const { notes: _, ...plainFields } = Object.fromEntries(
  leadFieldNames.map((name) => [name, Type.Optional(mergeChoice)]),
) as Record<(typeof leadFieldNames)[number], ReturnType<typeof Type.Optional<typeof mergeChoice>>>

export const NewMerge = Type.Object(
  {
    otherId: idSchema('The lead to merge into the lead in the path; it is then deleted.'),
    fields: Type.Optional(
      Type.Object(
        {
          ...plainFields,
          notes: Type.Optional(
            oneOf(['kept', 'other', 'both'], {
              description: 'Default: `both`, one after the other, if they differ and fit into 10,000 characters.',
            }),
          ),
        },
        { ...closed, title: 'MergeFields', description: 'Choices by field name.' },
      ),
    ),
    customFields: Type.Optional(
      Type.Record(Type.String({ maxLength: maxKeyLength }), oneOf(['kept', 'other', 'none']), {
        maxProperties: 2 * maxCustomFields,
        description: `Choices by field key. \`none\` drops the field, which is necessary if the two leads have more than ${maxCustomFields} together.`,
      }),
    ),
  },
  {
    ...closed,
    title: 'NewLeadMerge',
    example: { otherId: '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e', fields: { email: 'other', notes: 'both' } },
  },
)
export type NewMerge = Static<typeof NewMerge>

export const LeadMerge = titled('LeadMerge', {
  id: idSchema('The merge.'),
  keptId: idSchema('The lead that was kept.'),
  otherId: idSchema('The lead that was merged into it.'),
  otherName: nullable(text(600, 'Name of the other lead; null once the merge can no longer be undone.')),
  statusChanges: count('Number of status changes moved to the kept lead.'),
  submissions: count('Number of form submissions moved to the kept lead.'),
  mergedBy: Type.Object({ type: oneOf(['user', 'token']), id: uuid('Id of the user or token.') }),
  mergedAt: timestamp('When they were merged.'),
  undoUntil: nullable(timestamp('Until when it can be undone; null if it cannot.')),
  undoneAt: nullable(timestamp('When it was undone.')),
  left: Type.Array(text(60, 'The name of a field, `customFields.` and a key, or `other` for the other lead itself.'), {
    maxItems: leadFieldNames.length + 3 * maxCustomFields,
    description: 'For an undo: values left as they are because they were changed after the merge.',
  }),
})

export const MergeDone = titled('LeadMergeDone', { merge: LeadMerge, lead: LeadDetail })

const contacts = (description: string, maxLength: number) =>
  Type.Array(Type.String({ maxLength }), { maxItems: maxContacts, description })

export const LeadMerges = titled('LeadMerges', {
  merges: Type.Array(LeadMerge, { maxItems: 100, description: 'Merges that were not undone, newest first.' }),
  otherPhones: contacts('Additional phones by which the lead is found.', 20),
  otherEmails: contacts('Additional e-mails by which the lead is found.', 254),
})

const MergedInto = titled('LeadMergedInto', {
  leadId: idSchema('The lead it was merged into, directly or through further merges.'),
  name: nullable(text(600, 'Name of the merged lead; null once the merge can no longer be undone.')),
  mergedAt: timestamp('When it was merged.'),
})

export const MergePreview = titled('LeadMergePreview', {
  kept: LeadDetail,
  other: LeadDetail,
  conversations: count('Number of conversations to be moved to the kept lead.'),
  submissions: count('Number of form submissions to be moved.'),
  statusChanges: count('Number of status changes to be moved.'),
})

export const PreviewQuery = Type.Object({ otherId: idSchema('The lead that would be merged into it.') }, closed)

const mergeParams = Type.Object({ ...workspaceParams, mergeId: idSchema('The merge.') })

type Deps = MergeDeps & ConversationDeps

/** Registers the routes to preview, perform, list and undo merges of two leads. */
export function mergeTeamRoutes(app: App, deps: Deps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Lead merges')
  const readLead = makeLeadReader(deps)
  api.get(`${leadsPath}/:identifier/merge`, 'member', {
    operationId: 'previewLeadMerge',
    summary: 'Preview a merge of two leads',
    description: 'Returns both leads, and how much would be moved to the kept one. Writes nothing.',
    params: leadPathParams,
    query: PreviewQuery,
    answers: { 200: MergePreview },
    run: async ({ member, params, query }) => {
      const user = leadUserOfMember(member)
      const { workspaceId } = user
      const kept = await readLead(user, params.identifier)
      const other = await readLead(user, query.otherId)
      const known = await deps.conversationsOf(workspaceId, phonesOf(kept))
      const found = await deps.conversationsOf(workspaceId, phonesOf(other))
      return {
        kept: presentDetail(kept),
        other: presentDetail(other),
        conversations: found.filter(({ id }) => !known.some((one) => one.id === id)).length,
        submissions: await deps.countLeadSubmissions(deps.db.sql, workspaceId, other.id),
        statusChanges: (await listStatusChanges(deps.db.sql, workspaceId, other.id)).length,
      }
    },
  })
  api.post(`${leadsPath}/:identifier/merge`, 'member', {
    operationId: 'mergeLeads',
    summary: 'Merge two leads',
    description:
      'Merges another lead into the lead in the path: the chosen values, its history, submissions, labels, import records and conversations. The other lead is deleted: its id and uniqueCode return 404 and its externalRef becomes available, unless they were chosen. Its phones and e-mails then find the kept lead, in upserts and search too. Emits `lead.deleted` and `lead.updated`. A merge can be undone for 30 days. A repeated request returns the existing merge.',
    ...ofLead,
    body: NewMerge,
    answers: { 200: MergeDone },
    errors: [409],
    run: async ({ member, params, body }) => {
      const user = leadUserOfMember(member)
      const { otherId, fields = {}, customFields = {} } = body
      const choices = { fields, customFields }
      return present(deps, user, await mergeLeads(deps, user, params.identifier, otherId.toLowerCase(), choices))
    },
  })
  mergedRoutes(api, deps)
}

function mergedRoutes(api: TeamApi, deps: Deps): void {
  const readLead = makeLeadReader(deps)
  api.get(`${leadsPath}/:identifier/merges`, 'member', {
    operationId: 'listLeadMerges',
    summary: 'List the merges into a lead',
    description: 'At most 100 merges, and the additional phones and e-mails of the lead.',
    ...ofLead,
    answers: { 200: LeadMerges },
    run: async ({ member, params }) => {
      const user = leadUserOfMember(member)
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
    summary: 'Find the lead that another was merged into',
    description:
      'For the id of a merged lead, which itself returns 404. Returns 404 if the lead was not merged, the merge was undone, or the kept lead is deleted.',
    ...ofLead,
    answers: { 200: MergedInto },
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
      'Within 30 days. Restores the other lead with its history, submissions and conversations, and the former values of the kept lead, except values changed since, which `left` lists. Emits `lead.updated` and `lead.restored`. 409 if the 30 days are over, the kept lead is deleted, or a third lead has taken the externalRef or uniqueCode. A repeated request returns the first result.',
    params: mergeParams,
    query: NoQuery,
    answers: { 200: MergeDone },
    errors: [409],
    run: async ({ member, params }) => {
      const user = leadUserOfMember(member)
      return present(deps, user, await undoMerge(deps, user, params.mergeId.toLowerCase()))
    },
  })
}

const present = async (deps: MergeDeps, { workspaceId }: LeadUser, { merge, lead }: MergeResult) => ({
  merge: await presentMerge(deps, workspaceId, merge),
  lead: presentDetail(lead),
})

async function presentMerge({ keyStore, clock }: MergeDeps, workspaceId: string, row: MergeRow) {
  const { former, undo_until: undoUntil } = row
  const keyring = await keyStore.keyring(workspaceId)
  return {
    id: row.id,
    keptId: row.kept_id,
    otherId: row.merged_id,
    otherName: former === null ? null : decryptSnapshot(keyring, row.id, former).name,
    statusChanges: row.changes_count,
    submissions: row.submissions_count,
    mergedBy: { type: row.actor_type, id: row.actor_id },
    mergedAt: row.merged_at.toISOString(),
    undoUntil: undoUntil !== null && undoUntil > clock.now() ? undoUntil.toISOString() : null,
    undoneAt: row.undone_at?.toISOString() ?? null,
    left: row.left_fields ?? [],
  }
}
