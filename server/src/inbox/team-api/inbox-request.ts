import { Type } from 'typebox'
import { forbidden, unavailable } from '../../base/errors.ts'
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

/** Throws 403 and 503 unless the workspace can use its inbox. */
export function requireInbox({ workspace }: Member): void {
  if (!workspace.inboxEnabled) throw forbidden('The plan of this workspace does not include the inbox')
  if (!workspace.inboxAvailable) {
    throw unavailable('The inbox is not available for this workspace at the moment', { code: 'CHAT_INBOX_UNAVAILABLE' })
  }
}

function throwNotFound(): never {
  throw new Error('Conversation view not found')
}
