import { notifyManager } from '@tanstack/react-query'
import { keepConversation } from './cache.ts'
import * as calls from './calls.ts'
import type { Inbox } from './inbox.ts'
import type { Conversation, Former, ManyChanges } from './types.ts'

/** What was done to several conversations, for its undo. */
export interface DoneToMany {
  batchId: string
  changes: ManyChanges
  former: readonly Former[]
  /** How many of them were looked at; fewer than were asked for when `error` is there. */
  done: number
  error: unknown
}

// So many at a time: enough to be quick, few enough to show how far it is.
const atOnce = 25

/** Changes conversations alike, some at a time. What was done when the connection fails stays done, and can be undone. */
export async function changeConversations(
  inbox: Inbox,
  ids: readonly string[],
  changes: ManyChanges,
  tell: (done: number) => void,
): Promise<DoneToMany> {
  const batchId = crypto.randomUUID()
  const former: Former[] = []
  for (let done = 0; done < ids.length; done += atOnce) {
    if (ids.length > atOnce) tell(done)
    try {
      const answer = await calls.changeMany(inbox.workspaceId, {
        batchId,
        ids: ids.slice(done, done + atOnce),
        changes,
      })
      former.push(...answer.former)
      keepAll(inbox, answer.conversations)
    } catch (error) {
      return { batchId, changes, former, done, error }
    }
  }
  return { batchId, changes, former, done: ids.length, error: null }
}

/** Resolves to how many were changed since and stay as they are. Rejects when it could not be undone to the end. */
export async function undoConversations(inbox: Inbox, { batchId, changes, former }: DoneToMany): Promise<number> {
  let left = 0
  for (let done = 0; done < former.length; done += atOnce) {
    const some = former.slice(done, done + atOnce)
    const answer = await calls.undoMany(inbox.workspaceId, { batchId, changes, former: some })
    left += answer.left
    keepAll(inbox, answer.conversations)
  }
  return left
}

function keepAll(inbox: Inbox, conversations: readonly Conversation[]): void {
  notifyManager.batch(() => {
    for (const row of conversations) keepConversation(inbox, row)
  })
}
