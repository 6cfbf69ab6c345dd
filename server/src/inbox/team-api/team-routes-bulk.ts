import { Type } from 'typebox'
import { type App, errors } from '../../base/route.ts'
import { readIsoTime } from '../../base/time.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { teamRoute, workspaceParams } from '../../team/team-schema.ts'
import { changeMany, maxAtOnce } from '../bulk/change-many.ts'
import { undoMany } from '../bulk/undo-many.ts'
import type { Former, ManyChanges } from '../bulk/undo-rules.ts'
import type { Conversation, InboxDeps } from '../conversation/conversation.ts'
import { showConversations } from '../read/show.ts'
import * as schema from './team-bulk-schema.ts'
import { presentTeamConversation } from './team-present.ts'
import { conversationsPath } from './team-request.ts'
import { readSnooze } from './team-routes-write.ts'

const shared = { ...teamRoute('Team inbox'), params: Type.Object(workspaceParams) }

/** What is done to many conversations at once, and its undo. */
export function serveTeamBulk(app: App, deps: InboxDeps, guard: TeamGuard): void {
  const show = async (workspaceId: string, conversations: readonly Conversation[]) =>
    (await showConversations(deps, workspaceId, conversations)).map((one) =>
      presentTeamConversation(one, deps.clock.now()),
    )
  app.route({
    method: 'POST',
    url: `${conversationsPath}/bulk`,
    onRequest: guard.member('member'),
    schema: {
      ...shared,
      operationId: 'changeConversations',
      summary: 'Change many conversations alike',
      description: `At most ${maxAtOnce} in a request, all or none of which take effect; more go in several of one \`batchId\`. What is not there is passed over.`,
      body: schema.ChangeOfMany,
      response: { 200: schema.ManyChanged, ...errors(400, 401, 404, 413, 415) },
    },
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      const { batchId, ids, changes } = request.body
      const { status, snoozedUntil } = readSnooze(changes, 'changes.snoozedUntil', deps.clock.now())
      const wish = { ...changesOf(changes), ...(status && { status, snoozedUntil }) }
      const done = await changeMany(deps, workspaceId, actor, { batchId, ids: ids.map(lower), changes: wish })
      return {
        conversations: await show(workspaceId, done.conversations),
        former: done.former.map((one) => ({ ...one, snoozedUntil: one.snoozedUntil?.toISOString() ?? null })),
      }
    },
  })
  app.route({
    method: 'POST',
    url: `${conversationsPath}/bulk-undo`,
    onRequest: guard.member('member'),
    schema: {
      ...shared,
      operationId: 'undoConversationChanges',
      summary: 'Undo a change of many conversations',
      description:
        'Takes what the change was and the `former` that it answered. Each thing goes back alone, and only where it still is as the change left it.',
      body: schema.UndoOfMany,
      response: { 200: schema.ManyUndone, ...errors(400, 401, 404, 413, 415) },
    },
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      const { batchId, changes, former } = request.body
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

function readFormer(one: schema.FormerConversation): Former {
  return {
    ...one,
    id: lower(one.id),
    snoozedUntil: timeOf(one.snoozedUntil),
    assignedTo: one.assignedTo?.toLowerCase() ?? null,
    added: one.added.map(lower),
    removed: one.removed.map(lower),
  }
}

function changesOf({ assignedTo, addLabelIds, removeLabelIds, read }: schema.ManyChanges): ManyChanges {
  const isLabelled = addLabelIds !== undefined || removeLabelIds !== undefined
  const labels = { add: (addLabelIds ?? []).map(lower), remove: (removeLabelIds ?? []).map(lower) }
  return {
    ...(assignedTo !== undefined && { assignedTo: assignedTo?.toLowerCase() ?? null }),
    ...(isLabelled && { labels }),
    ...(read !== undefined && { read }),
  }
}

const statusOf = ({ status, snoozedUntil }: schema.ManyChanges): ManyChanges =>
  status === undefined ? {} : { status, snoozedUntil: timeOf(snoozedUntil) }
