import { Type } from 'typebox'
import type { TeamApi } from '../../team/team-api.ts'
import { announceLeadLabels } from '../../team/team-news.ts'
import { closed } from '../../team/team-schema.ts'
import { leadsPath, leadUserOf, ofLead } from '../api/lead-request.ts'
import { leadNotFound } from '../lead/errors.ts'
import { findLead } from '../lead/identify.ts'
import type { LeadDeps, LeadUser } from '../lead/lead.ts'
import { lockLead } from '../lead/queries.ts'
import { labelIds, NoQuery } from '../lead/schema.ts'
import { changesNothing, changeTo } from './label-rules.ts'
import { readLabels, writeLabels } from './lead-labels.ts'

const LeadLabels = Type.Object({ labelIds: labelIds('Its labels, which are all of these and no others.') }, closed)

/** The labels of a lead: those of the workspace, as conversations have them. */
export function labelRoutes(api: TeamApi, deps: LeadDeps): void {
  api.put(`${leadsPath}/:identifier/labels`, 'member', {
    operationId: 'setLeadLabels',
    summary: 'Set the labels of a lead',
    description:
      "At most 20 of the workspace's labels. They are seen by the team alone: no event tells of them, and `updatedAt` stays. The history keeps who changed them.",
    params: ofLead,
    query: NoQuery,
    body: LeadLabels,
    answers: { 200: LeadLabels },
    run: async ({ member, params, body }) => {
      const wanted = body.labelIds.map((id) => id.toLowerCase())
      const user = leadUserOf(member)
      return { labelIds: await setLabels(deps, user, params.identifier, wanted) }
    },
  })
}

/**
 * Gives a lead exactly these labels; what it has already is no change. Labels are the team's own: no event tells of them,
 * and the lead's time of change stays. 400 for one that the workspace does not have.
 */
async function setLabels(
  deps: LeadDeps,
  user: LeadUser,
  identifier: string,
  labelIds: readonly string[],
): Promise<string[]> {
  const { workspaceId, actor } = user
  const wanted = [...new Set(labelIds)]
  const keyring = await deps.vault.keyring(workspaceId)
  await deps.db.tx(async (tx) => {
    const { id } = await findLead(tx, keyring, user, identifier)
    if ((await lockLead(tx, workspaceId, id)) === undefined) throw leadNotFound()
    const has = (await readLabels(tx, workspaceId, [id])).get(id) ?? []
    const change = changeTo(id, has, wanted)
    if (changesNothing(change)) return
    await writeLabels(tx, workspaceId, actor, [change], deps.clock.now(), 'labelIds')
    announceLeadLabels(tx, workspaceId, id)
  })
  return wanted
}
