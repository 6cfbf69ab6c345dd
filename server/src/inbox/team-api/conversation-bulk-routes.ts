import { type Static, Type } from 'typebox'
import { nullable, timestamp, titled } from '../../base/route.ts'
import { count, uuid } from '../../base/schema-types.ts'
import { readIsoTime } from '../../base/time.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { changeMany, maxAtOnce } from '../bulk/change-many.ts'
import { undoMany } from '../bulk/undo-many.ts'
import type { Former, ManyChanges } from '../bulk/undo-rules.ts'
import type { Conversation, InboxDeps } from '../conversation/conversation.ts'
import { showConversations } from '../read/show.ts'
import { readSnooze } from './conversation-change-routes.ts'
import { conversationsPath } from './inbox-request.ts'
import { statusToSet, TeamConversation } from './inbox-schema.ts'
import { presentTeamConversation } from './present-conversation.ts'

const labels = (description: string) => Type.Array(uuid(), { maxItems: 20, description, example: [] })
const batchId = uuid('Made by the caller: requests of one selection share it, and are one line of the audit log.')

const ChangesOfMany = Type.Partial(
  Type.Object({
    status: statusToSet,
    snoozedUntil: nullable(
      timestamp('With the status `snoozed`: when a timer opens them. Null: when the customer writes.'),
    ),
    assignedTo: nullable(idSchema('A member of the workspace; null for nobody.')),
    addLabelIds: labels('Labels that they get beside those that they have.'),
    removeLabelIds: labels('Labels that they lose.'),
    read: Type.Boolean({ description: 'True: read. False: unread from the newest customer message on.' }),
  }),
  {
    ...closed,
    minProperties: 1,
    title: 'ManyChanges',
    description: 'What is to become of each of them.',
    example: { status: 'resolved' },
  },
)
type ChangesOfMany = Static<typeof ChangesOfMany>

const FormerConversation = titled('FormerConversation', {
  id: idSchema('The conversation.'),
  status: statusToSet,
  snoozedUntil: nullable(timestamp('When a timer was to open it.')),
  assignedTo: nullable(idSchema('The member it was assigned to.')),
  held: Type.Boolean({ description: 'People had it.' }),
  unreadCount: count('Customer messages that were unread.', { example: 1 }),
  added: labels('Labels that the change gave it.'),
  removed: labels('Labels that the change took from it.'),
})

type FormerConversation = Static<typeof FormerConversation>

const former = Type.Array(FormerConversation, {
  maxItems: maxAtOnce,
  description: 'Those that changed, as they were: what an undo takes.',
})
const conversations = Type.Array(TeamConversation, {
  maxItems: maxAtOnce,
  description: 'All that are there, as they are now.',
})

const ChangeOfMany = Type.Object(
  {
    batchId,
    ids: Type.Array(idSchema('A conversation.'), { minItems: 1, maxItems: maxAtOnce }),
    changes: ChangesOfMany,
  },
  closed,
)

const ManyChanged = Type.Object({ conversations, former })

const UndoOfMany = Type.Object(
  { batchId, changes: ChangesOfMany, former: Type.Array(FormerConversation, { minItems: 1, maxItems: maxAtOnce }) },
  closed,
)

const ManyUndone = Type.Object({
  conversations,
  left: count('How many are not wholly as before: somebody changed them since, or they are gone.', { example: 0 }),
})

/** What is done to many conversations at once, and its undo. */
export function bulkRoutes(api: TeamApi, deps: InboxDeps): void {
  const show = async (workspaceId: string, conversations: readonly Conversation[]) =>
    (await showConversations(deps, workspaceId, conversations)).map((one) =>
      presentTeamConversation(one, deps.clock.now()),
    )
  api.post(`${conversationsPath}/bulk`, 'member', {
    operationId: 'changeConversations',
    summary: 'Change many conversations alike',
    description: `At most ${maxAtOnce} in a request, all or none of which take effect; more go in several of one \`batchId\`. What is not there is passed over.`,
    body: ChangeOfMany,
    answers: { 200: ManyChanged },
    run: async ({ member, body }) => {
      const { workspaceId, actor } = member
      const { batchId, ids, changes } = body
      const { status, snoozedUntil } = readSnooze(changes, 'changes.snoozedUntil', deps.clock.now())
      const wish = { ...changesOf(changes), ...(status && { status, snoozedUntil }) }
      const done = await changeMany(deps, workspaceId, actor, { batchId, ids: ids.map(lower), changes: wish })
      return {
        conversations: await show(workspaceId, done.conversations),
        former: done.former.map((one) => ({ ...one, snoozedUntil: one.snoozedUntil?.toISOString() ?? null })),
      }
    },
  })
  api.post(`${conversationsPath}/bulk-undo`, 'member', {
    operationId: 'undoConversationChanges',
    summary: 'Undo a change of many conversations',
    description:
      'Takes what the change was and the `former` that it answered. Each thing goes back alone, and only where it still is as the change left it.',
    body: UndoOfMany,
    answers: { 200: ManyUndone },
    run: async ({ member, body }) => {
      const { workspaceId, actor } = member
      const { batchId, changes, former } = body
      const done = await undoMany(deps, workspaceId, actor, {
        batchId,
        changes: { ...changesOf(changes), ...statusOf(changes) },
        former: former.map(readFormer),
      })
      return { conversations: await show(workspaceId, done.conversations), left: done.left }
    },
  })
}

const lower = (id: string): string => id.toLowerCase()
const timeOf = (text: string | null | undefined): Date | null => (text == null ? null : readIsoTime(text))

function readFormer(one: FormerConversation): Former {
  return {
    ...one,
    id: lower(one.id),
    snoozedUntil: timeOf(one.snoozedUntil),
    assignedTo: one.assignedTo?.toLowerCase() ?? null,
    added: one.added.map(lower),
    removed: one.removed.map(lower),
  }
}

function changesOf({ assignedTo, addLabelIds, removeLabelIds, read }: ChangesOfMany): ManyChanges {
  const isLabelled = addLabelIds !== undefined || removeLabelIds !== undefined
  const labels = { add: (addLabelIds ?? []).map(lower), remove: (removeLabelIds ?? []).map(lower) }
  return {
    ...(assignedTo !== undefined && { assignedTo: assignedTo?.toLowerCase() ?? null }),
    ...(isLabelled && { labels }),
    ...(read !== undefined && { read }),
  }
}

const statusOf = ({ status, snoozedUntil }: ChangesOfMany): ManyChanges =>
  status === undefined ? {} : { status, snoozedUntil: timeOf(snoozedUntil) }
