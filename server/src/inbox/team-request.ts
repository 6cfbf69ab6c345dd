import { Type } from 'typebox'
import type { Member } from '../base/member.ts'
import { postman } from '../base/route.ts'
import { teamRoute } from '../base/team-schema.ts'
import type { Scope } from './conversation.ts'
import { TeamConversation } from './team-schema.ts'

export const conversationsPath = '/api/team/v1/workspaces/:workspaceId/inbox/conversations'

export const oneConversation = Type.Object({ conversation: TeamConversation })

/** Members see every connection of their workspace. */
export const scopeOf = ({ workspaceId }: Member): Scope => ({ workspaceId, connectionIds: [] })

/** What the schemas of the routes of one conversation share. */
export const conversationRoute = { ...teamRoute, ...postman({ path: { id: '{{conversation_id}}' } }) }
