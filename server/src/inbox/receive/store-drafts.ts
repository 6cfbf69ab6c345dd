import { pipelineCommit } from '../../base/db.ts'
import { recordEvents } from '../../events/record.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { type ConversationUpdate, insertConversations, storeConversations } from '../conversation/batch-queries.ts'
import { recordActivities } from '../conversation/commit-change.ts'
import type { ChangeTx } from '../conversation/conversation.ts'
import type { ExternalIndexOf } from '../conversation/encrypted-conversation.ts'
import { addEchoPart, insertMessages } from '../conversation/message-queries.ts'
import { storeConversation } from '../conversation/queries.ts'
import { withGoal } from '../goals/goal-state.ts'
import { insertAttachments } from '../media/media-queries.ts'
import { recordRoutes } from '../routing/assign.ts'
import type { Route } from '../routing/routing.ts'
import type { ConversationDraft } from './conversation-draft.ts'
import type { ReceiveContext, WorkspaceReceiveContext } from './receiver.ts'

/**
 * Writes drafts in one round trip with the commit. None changes an owner, which would wait for calls. Where people are
 * assigned, the commit follows: it publishes whom that has notified.
 */
export async function storeDrafts(
  context: WorkspaceReceiveContext,
  drafts: readonly ConversationDraft[],
  indexOf: ExternalIndexOf,
): Promise<void> {
  const changed = drafts.filter(isChanged)
  if (changed.length === 0) return
  const store = () => write(context, changed, indexOf, (changes) => storeConversations(context, changes))
  await (changed.some(isRouted) ? store() : pipelineCommit(context.tx, store))
}

/** Writes one draft, including changes of owner. */
export async function storeDraft(context: ReceiveContext, draft: ConversationDraft): Promise<void> {
  if (!isChanged(draft)) return
  await write(context, [draft], undefined, async ([change]) => {
    if (change !== undefined) await storeConversation(context, change.after)
  })
  for (const message of draft.tracked) await addEchoPart(context, message)
}

// A draft of a new conversation may remain without a message if its messages turn out to be known.
const isChanged = ({ before, conversation, messages }: ConversationDraft): boolean =>
  messages.length > 0 || (before !== null && before !== conversation)

const isRouted = (draft: ConversationDraft): draft is ConversationDraft & { route: Route } =>
  draft.route !== null && draft.route.teamId !== null

async function write(
  context: WorkspaceReceiveContext,
  received: readonly ConversationDraft[],
  indexOf: ExternalIndexOf | undefined,
  store: (changes: readonly ConversationUpdate[]) => Promise<void>,
): Promise<void> {
  const { tx, keyring, workspaceId, now, service } = context
  const drafts = received.map((draft) => ({ ...draft, conversation: withGoal(draft.conversation, service) }))
  const newConversations = drafts.flatMap(({ before, conversation }) => (before === null ? [conversation] : []))
  const changes = drafts.flatMap(({ before, conversation }) =>
    before === null || before === conversation ? [] : [{ before, after: conversation }],
  )
  const messages = drafts.flatMap((draft) => draft.messages)
  const events = drafts.flatMap((draft) => draft.events)
  const routed = drafts.filter(isRouted).map(({ conversation: { id }, route }) => ({ conversationId: id, route }))
  await Promise.all([
    insertConversations(context, newConversations),
    store(changes),
    insertMessages(context, messages, indexOf),
    insertAttachments(context, messages),
    recordAll(context, drafts),
    routed.length === 0 ? null : recordRoutes(context, routed),
    recordEvents(tx, keyring, workspaceId, events, now),
  ])
}

async function recordAll(work: ChangeTx, drafts: readonly ConversationDraft[]): Promise<void> {
  const entries = drafts.flatMap(({ conversation, activities }) =>
    activities.map((activity) => ({ conversation, ...activity })),
  )
  const byReason = Map.groupBy(entries, ({ reason }) => reason)
  await Promise.all(
    [...byReason].map(([reason, items]) => recordActivities(work, items, { actor: systemActor, reason })),
  )
}
