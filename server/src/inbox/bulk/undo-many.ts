import type { Tx } from '../../base/db.ts'
import type { TeamActor } from '../../team/member.ts'
import { findNonMembers } from '../../workspace/workspace.ts'
import { touched } from '../conversation/change.ts'
import type { Conversation, InboxDeps } from '../conversation/conversation.ts'
import { lockNamed } from '../conversation/many-queries.ts'
import { applyPatch } from '../ownership/update.ts'
import { commitAll, recordOfMany } from './change-many.ts'
import { type Former, type ManyChanges, undoingOf } from './undo-rules.ts'

export interface UndoOfMany {
  batchId: string
  changes: ManyChanges
  former: readonly Former[]
}

export interface ManyUndone {
  conversations: Conversation[]
  /** How many are not wholly as before: somebody changed them since, or they are gone. */
  left: number
}

/** Brings conversations back to what they were before a change of many; what was done to them since stays. */
export async function undoMany(
  { db, vault, clock }: Pick<InboxDeps, 'db' | 'vault' | 'clock'>,
  workspaceId: string,
  actor: TeamActor,
  { batchId, changes, former }: UndoOfMany,
): Promise<ManyUndone> {
  return vault.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const now = clock.now()
      const formerById = new Map(former.map((one) => [one.id, one]))
      const known = await whatIsKnown(tx, workspaceId, former)
      const locked = await lockNamed(tx, keyring, workspaceId, [...formerById.keys()])
      let left = former.length - locked.length
      const changed = locked.map((before) => {
        const was = formerById.get(before.id)
        const undone = was && putBack(before, was, changes, actor, known, now)
        if (undone === undefined || undone.isLeft) left++
        return { before, after: undone?.conversation ?? before }
      })
      await commitAll(tx, keyring, workspaceId, actor, changed, now)
      await recordOfMany(tx, workspaceId, actor, 'conversations.bulk_undone', batchId, changed, now)
      return { conversations: changed.map(({ after }) => after), left }
    }),
  )
}

/** Who is a member still, and which labels are there. */
interface Known {
  isGone(userId: string | null | undefined): boolean
  labels: ReadonlySet<string>
}

async function whatIsKnown(tx: Tx, workspaceId: string, former: readonly Former[]): Promise<Known> {
  const users = [...new Set(former.flatMap(({ assignedTo }) => assignedTo ?? []))]
  const gone = new Set(await findNonMembers(tx, workspaceId, users))
  const rows = await tx<{ id: string }[]>`
    select id
    from labels
    where workspace_id = ${workspaceId}
      and id = any (${[...new Set(former.flatMap(({ removed }) => removed))]}::uuid[])
    for key share`
  return {
    isGone: (userId) => userId != null && gone.has(userId),
    labels: new Set(rows.map(({ id }) => id)),
  }
}

function putBack(
  before: Conversation,
  former: Former,
  changes: ManyChanges,
  actor: TeamActor,
  known: Known,
  now: Date,
): { conversation: Conversation; isLeft: boolean } {
  const { patch, unreadCount, isReleased, isLeft } = undoingOf(before, former, changes)
  const { assignedTo, labels, ...rest } = patch
  const isWithoutMember = known.isGone(assignedTo)
  const wanted = {
    ...rest,
    ...(assignedTo !== undefined && !isWithoutMember && { assignedTo }),
    ...(labels && { labels: { add: labels.add.filter((id) => known.labels.has(id)), remove: labels.remove } }),
  }
  let { conversation } = applyPatch(before, wanted, actor, now)
  if (unreadCount !== undefined) conversation = touched({ ...conversation, unreadCount }, now)
  if (isReleased && !isWithoutMember) conversation = touched({ ...conversation, held: false }, now)
  return { conversation, isLeft: isLeft || isWithoutMember }
}
