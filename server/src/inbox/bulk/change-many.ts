import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { type NewNotice, recordNotices } from '../../notices/record.ts'
import { addUpAudit } from '../../team/audit.ts'
import type { TeamActor } from '../../team/member.ts'
import { touched } from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import type { Conversation, InboxDeps } from '../conversation/conversation.ts'
import { lockNamed } from '../conversation/many-queries.ts'
import { openMessageId } from '../conversation/message.ts'
import { findNewestInbound } from '../conversation/message-queries.ts'
import { applyPatch, checkAssignee, checkLabels } from '../ownership/update.ts'
import { tellPlatform } from '../read/read.ts'
import { type Former, formerOf, type ManyChanges } from './undo-rules.ts'

/** Of one request; whoever has chosen more sends several under one `batchId`. */
export const maxAtOnce = 50

export interface ChangeOfMany {
  /** What tells the requests of one selection: they are one line of the audit log. */
  batchId: string
  ids: readonly string[]
  changes: ManyChanges
}

export interface ManyChanged {
  /** All that are there, as they are now. */
  conversations: Conversation[]
  /** Those that changed, as they were. */
  former: Former[]
}

/**
 * Changes conversations alike, all of them or none. What is so already changes nothing, and what is not there is passed
 * over. Whom they are given to is told. The platform is told what was read after the commit. Throws 400 for a stranger to
 * be assigned and for unknown labels.
 */
export async function changeMany(
  deps: InboxDeps,
  workspaceId: string,
  actor: TeamActor,
  { batchId, ids, changes }: ChangeOfMany,
): Promise<ManyChanged> {
  const { changed, read } = await deps.vault.withKeyring(workspaceId, (keyring) =>
    deps.db.tx(async (tx) => {
      const now = deps.clock.now()
      if (changes.labels !== undefined) await checkLabels(tx, workspaceId, changes.labels.add, 'changes.addLabelIds')
      if (changes.assignedTo) await checkAssignee(tx, workspaceId, changes.assignedTo, 'changes.assignedTo')
      const befores = await lockNamed(tx, keyring, workspaceId, ids)
      const newest = await newestInbounds(tx, keyring, workspaceId, changes.read === undefined ? [] : befores)
      const changed = befores.map((before) => ({ before, after: changedBy(before, changes, actor, newest, now) }))
      await commitAll(tx, keyring, workspaceId, actor, changed, now)
      await recordNotices(tx, workspaceId, noticesOf(changed, actor, batchId), now)
      await recordOfMany(tx, workspaceId, actor, 'conversations.bulk_changed', batchId, changed, now)
      return { changed, read: changed.flatMap((one) => readOf(one, newest)) }
    }),
  )
  for (const { conversation, externalId } of read) await tellPlatform(deps, workspaceId, conversation, externalId)
  return {
    conversations: changed.map(({ after }) => after),
    former: changed.filter(isChanged).map(({ before, after }) => formerOf(before, after)),
  }
}

interface Changed {
  before: Conversation
  after: Conversation
}

const isChanged = ({ before, after }: Changed): boolean => before !== after

function changedBy(
  before: Conversation,
  { read, ...patch }: ManyChanges,
  actor: TeamActor,
  newest: ReadonlyMap<string, string>,
  now: Date,
): Conversation {
  const { conversation } = applyPatch(before, patch, actor, now)
  if (read === true && before.unreadCount > 0) return touched({ ...conversation, unreadCount: 0 }, now)
  // From the newest customer message on: where there is none, there is nothing to read.
  const isRead = read === false && before.unreadCount === 0 && newest.has(before.id)
  return isRead ? touched({ ...conversation, unreadCount: 1 }, now) : conversation
}

/** As many at once as an open page shows; the bell has them all. */
const mostPushed = 3

/** Whom conversations are given to is told of each, and once: also when a change is undone and made again. */
function noticesOf(changed: readonly Changed[], actor: TeamActor, batchId: string): NewNotice[] {
  const given = changed.filter(({ before, after }) => after.assignedTo !== before.assignedTo)
  return given.flatMap(({ after: { id, assignedTo } }, n): NewNotice[] => {
    if (assignedTo === null) return []
    const cause = `${batchId} ${id}`
    return [{ kind: 'assigned', cause, userId: assignedTo, conversationId: id, isPushed: n < mostPushed, actor }]
  })
}

/** The platform's ids of the newest customer messages, by conversation. */
async function newestInbounds(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  conversations: readonly Conversation[],
): Promise<Map<string, string>> {
  const rows = await Promise.all(conversations.map(({ id }) => findNewestInbound(tx, workspaceId, id)))
  const ids = rows.map((row) => (row === undefined ? null : openMessageId(keyring, row)))
  return new Map(conversations.flatMap(({ id }, n) => (ids[n] == null ? [] : [[id, ids[n]] as const])))
}

function readOf({ before, after }: Changed, newest: ReadonlyMap<string, string>) {
  const externalId = newest.get(after.id)
  const isRead = before.unreadCount > 0 && after.unreadCount === 0
  return isRead && externalId !== undefined ? [{ conversation: after, externalId }] : []
}

export async function commitAll(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  actor: TeamActor,
  changed: readonly Changed[],
  now: Date,
): Promise<void> {
  const cause = { actor, reason: null }
  await Promise.all(
    changed
      .filter(isChanged)
      .map(({ before, after }) =>
        commitChange(tx, keyring, workspaceId, before, { conversation: after, events: [] }, cause, now),
      ),
  )
}

export async function recordOfMany(
  tx: Tx,
  scopeId: string,
  actor: TeamActor,
  action: 'conversations.bulk_changed' | 'conversations.bulk_undone',
  batchId: string,
  changed: readonly Changed[],
  now: Date,
): Promise<void> {
  const count = changed.filter(isChanged).length
  if (count > 0) await addUpAudit(tx, { scopeId, actor, action, target: `batch:${batchId}` }, count, now)
}
