import { notifyManager } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { cacheConversation } from './cache.ts'
import type { Inbox } from './inbox.ts'
import type { BulkChanges, Conversation, PreviousState } from './types.ts'

/** Result of a bulk change of conversations, needed to undo it. */
export interface BulkResult {
  batchId: string
  changes: BulkChanges
  former: readonly PreviousState[]
  /** Number of processed conversations; fewer than selected if there is an `error`. */
  done: number
  error: unknown
}

const path = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations/bulk'
// Large enough to be quick, small enough to show progress.
const batchSize = 25

/** Changes conversations in batches. If the connection fails, completed batches stay changed and can be undone. */
export async function changeConversations(
  inbox: Inbox,
  ids: readonly string[],
  changes: BulkChanges,
  onProgress: (done: number) => void,
): Promise<BulkResult> {
  const batchId = crypto.randomUUID()
  const former: PreviousState[] = []
  for (let done = 0; done < ids.length; done += batchSize) {
    if (ids.length > batchSize) onProgress(done)
    try {
      const body = { batchId, ids: ids.slice(done, done + batchSize), changes }
      const response = await api.POST(path, { workspaceId: inbox.workspaceId, body })
      former.push(...response.former)
      cacheAll(inbox, response.conversations)
    } catch (error) {
      return { batchId, changes, former, done, error }
    }
  }
  return { batchId, changes, former, done: ids.length, error: null }
}

/** Resolves to the number of conversations kept because they changed since. Rejects if the undo did not complete. */
export async function undoConversations(inbox: Inbox, { batchId, changes, former }: BulkResult): Promise<number> {
  let left = 0
  for (let done = 0; done < former.length; done += batchSize) {
    const body = { batchId, changes, former: former.slice(done, done + batchSize) }
    const response = await api.POST(`${path}-undo`, { workspaceId: inbox.workspaceId, body })
    left += response.left
    cacheAll(inbox, response.conversations)
  }
  return left
}

function cacheAll(inbox: Inbox, conversations: readonly Conversation[]): void {
  notifyManager.batch(() => {
    for (const row of conversations) cacheConversation(inbox, row)
  })
}
