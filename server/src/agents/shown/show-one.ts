import type { Static } from 'typebox'
import type { Conversation } from '../../inbox/conversation/conversation.ts'
import { readNames } from '../../inbox/read/names.ts'
import type { AgentCaller, AgentDeps } from '../verb.ts'
import { type AgentConversation, namesOf, presentConversation, readLabelNames } from './conversation.ts'
import { sightOf } from './sight.ts'

/** A conversation as a verb answers it once it has changed. */
export async function showOne(
  deps: AgentDeps,
  caller: AgentCaller,
  conversation: Conversation,
): Promise<Static<typeof AgentConversation>> {
  const [sight, names, labels] = await Promise.all([
    sightOf(deps, caller),
    readNames(deps.inbox, caller.workspaceId, namesOf([conversation])),
    readLabelNames(deps.inbox.db.sql, caller.workspaceId, [conversation]),
  ])
  return presentConversation(conversation, sight, names, labels)
}
