import { Type } from 'typebox'
import type { Member } from '../../team/member.ts'
import type { Conversation, InboxDeps, Scope } from '../conversation/conversation.ts'
import { readConversationViews } from '../read/names.ts'
import { TeamConversation } from './inbox-schema.ts'
import { presentTeamConversation } from './present-conversation.ts'

export const inboxPath = '/api/team/v1/workspaces/:workspaceId/inbox'
export const conversationsPath = `${inboxPath}/conversations`

export const conversationResponse = Type.Object({ conversation: TeamConversation })

/** Members can see all connections of their workspace. */
export const scopeOf = ({ workspaceId }: Member): Scope => ({ workspaceId, connectionIds: [] })

/** Returns one conversation as the team sees it. */
export async function presentOne(deps: InboxDeps, workspaceId: string, conversation: Conversation) {
  const shown = await readConversationViews(deps, workspaceId, [conversation])
  return shown.map((each) => presentTeamConversation(each, deps.clock.now()))[0] ?? throwNotFound()
}

function throwNotFound(): never {
  throw new Error('Conversation view not found')
}
