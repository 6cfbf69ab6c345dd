import { recordOptInEvents } from '../../events/record.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { type ChangeTx, type Conversation, publishConversations } from '../conversation/conversation.ts'
import { conversationRated } from '../conversation/opt-in-events.ts'

/**
 * Stores the score that a customer has chosen, if they were asked in this conversation and have not answered yet: the
 * first answer counts. Runs in the transaction that stores their message.
 */
export async function recordScore(
  work: ChangeTx,
  conversation: Pick<Conversation, 'id' | 'connectionId'>,
  { ratingId, score }: { ratingId: string; score: number },
  messageId: string | null,
): Promise<void> {
  const { tx, workspaceId, now } = work
  const [rated] = await tx<{ scale: number; answeredBy: Actor['type']; answererId: string | null }[]>`
    update satisfaction_ratings
    set status = 'rated',
      score = ${score},
      answer_id = ${messageId},
      rated_at = ${now},
      asked_at = coalesce(asked_at, ${now}),
      next_at = null
    where workspace_id = ${workspaceId}
      and id = ${ratingId}
      and conversation_id = ${conversation.id}
      and status in ('waiting', 'asked')
      and scale >= ${score}
    returning scale, answered_by as "answeredBy", answerer_id as "answererId"`
  if (rated === undefined) return
  const { scale, answeredBy, answererId } = rated
  const answerer = { type: answeredBy, id: answererId }
  await recordOptInEvents(work, [conversationRated(conversation, { score, scale, answerer }, now)])
  publishConversations(tx, workspaceId, [conversation.id])
}
