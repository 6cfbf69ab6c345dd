import { Type } from 'typebox'
import { pickLeadSettings } from '../../base/lead-settings.ts'
import type { Member } from '../../team/member.ts'
import { workspaceParams } from '../../team/team-schema.ts'
import type { LeadUser } from '../lead/lead.ts'
import { Identifier } from '../lead/schema.ts'

export const leadsPath = '/api/team/v1/workspaces/:workspaceId/leads'
export const workspacePathParams = Type.Object(workspaceParams)
export const leadPathParams = Type.Object({ ...workspaceParams, ...Identifier.properties })

/** Returns the lead caller for a member, who sees leads unmasked. */
export function leadUserOfMember(member: Member): LeadUser {
  return {
    ...pickLeadSettings(member.workspace),
    workspaceId: member.workspaceId,
    masked: false,
    actor: member.actor,
  }
}
