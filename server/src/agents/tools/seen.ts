import { Type } from 'typebox'
import { uuid } from '../../base/schema-types.ts'
import type { Conversation } from '../../inbox/conversation/conversation.ts'
import { keyIdOf } from '../../inbox/conversation/owner.ts'
import { loadConversation } from '../../inbox/conversation/queries.ts'
import { recordSeen, sendReadReceiptFor } from '../../inbox/read/mark-read.ts'
import type { TypingResult } from '../../inbox/read/typing.ts'
import { type AgentCaller, type AgentDeps, defineTool, idempotentChange, input, output } from '../define-tool.ts'
import { notOwnerError } from '../presenters/conversation.ts'
import { exampleIds } from '../presenters/examples.ts'
import { scopeOf } from '../presenters/viewer.ts'

export const seen = defineTool({
  name: 'seen',
  title: 'Show that you are typing',
  description:
    'Marks the messages that you were shown as read and shows the customer that you are typing, until you answer or 25 seconds have passed. Only in a conversation of yours, when an answer takes you more than a few seconds.',
  scopes: ['inbox.write'],
  http: { method: 'POST', path: '/conversations/:conversation_id/seen' },
  input: input({ conversation_id: uuid('A conversation of yours.') }),
  output: output('Seen', {
    is_typing_shown: Type.Boolean({
      description: 'False while no answer can be sent, such as after the 24-hour window.',
    }),
  }),
  hints: idempotentChange,
  example: {
    input: { conversation_id: exampleIds.conversation },
    output: { is_typing_shown: true, next: ['Call answer. If you need more than 25 seconds, call seen again first.'] },
  },
  run: async (deps, caller, { conversation_id }) => {
    const conversation = await findOwnConversation(deps, caller, conversation_id.toLowerCase())
    const result = await showTyping(deps, caller, conversation)
    if (result === 'not_owner') await findOwnConversation(deps, caller, conversation.id)
    const isTypingShown = result === 'shown' || result === 'recent'
    return { is_typing_shown: isTypingShown, next: [isTypingShown ? answerSoon : notShown] }
  },
})

async function findOwnConversation(deps: AgentDeps, caller: AgentCaller, id: string): Promise<Conversation> {
  const conversation = await loadConversation(deps.inbox, caller, id)
  if (keyIdOf(conversation.owner) !== caller.keyId) throw notOwnerError(conversation)
  return conversation
}

const answerSoon = 'Call answer. If you need more than 25 seconds, call seen again first.'
const notShown = 'No answer can be sent now, so nothing is shown. Call read_conversation: next says what you can do.'

/** Marks what the agent was shown as read, and shows that it is typing. */
async function showTyping(deps: AgentDeps, caller: AgentCaller, conversation: Conversation): Promise<TypingResult> {
  const { newest, seen: shown } = conversation.inbound
  // Messages that it was not shown stay unread.
  const isAllShown = shown === null || shown === newest
  const unreadCount = isAllShown ? conversation.unreadCount : 0
  const state = { ...conversation, unreadCount, inbound: { ...conversation.inbound, newest: shown ?? newest } }
  const read = await recordSeen(deps.inbox, caller.workspaceId, caller.keyId, [state], true)
  return showTypingOrRead(deps, caller, conversation.id, shown ?? newest, read.length > 0)
}

/** Shows that the agent is typing, which also marks the messages read; else sends the read receipt that is `due`. */
export async function showTypingOrRead(
  { inbox, typing }: AgentDeps,
  caller: AgentCaller,
  conversationId: string,
  messageId: string | null,
  isDue: boolean,
): Promise<TypingResult> {
  const scope = scopeOf(caller)
  const result = await typing.show({ keyId: caller.keyId }, scope, conversationId, messageId)
  if (result !== 'shown' && isDue && messageId !== null)
    await sendReadReceiptFor(inbox, scope, conversationId, messageId)
  return result
}
