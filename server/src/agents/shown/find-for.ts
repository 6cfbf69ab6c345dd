import type { Caller } from '../../access/keys/caller.ts'
import type { Conversation } from '../../inbox/conversation/conversation.ts'
import { conversationNotFound } from '../../inbox/conversation/errors.ts'
import { findConversation } from '../../inbox/conversation/queries.ts'
import { openConversation } from '../../inbox/conversation/sealed.ts'
import type { AgentDeps } from '../verb.ts'
import { scopeOf } from './sight.ts'

/** The conversation as the key sees it; throws 404. */
export async function findFor({ inbox }: Pick<AgentDeps, 'inbox'>, caller: Caller, id: string): Promise<Conversation> {
  const row = await findConversation(inbox.db.sql, scopeOf(caller), id)
  if (row === undefined) throw conversationNotFound()
  return openConversation(await inbox.vault.keyring(caller.workspaceId), row)
}
