import { api } from '../../api/client.ts'
import { refetchQueries } from '../../api/refetch.ts'
import { changeThread, galleriesKey, threadKey } from './cache.ts'
import { readThread } from './calls.ts'
import type { Inbox } from './inbox.ts'
import { mapMessages, replaceItems, type Thread } from './thread-rules.ts'
import type { Media } from './types.ts'

const retryPath = '/api/team/v1/workspaces/{workspaceId}/inbox/media/{mediaId}/retry'

/** Address of a file. Every request is authorized by the session. */
export const fileAddress = (workspaceId: string, mediaId: string): string =>
  `/api/team/v1/workspaces/${workspaceId}/inbox/media/${mediaId}`

/** Address of the thumbnail, if the file has one. */
export const previewAddress = (workspaceId: string, mediaId: string): string =>
  `${fileAddress(workspaceId, mediaId)}/preview`

/** Retries the download of a file. */
export async function retryFileDownload(inbox: Inbox, id: string, mediaId: string): Promise<void> {
  const { state } = await api.POST(retryPath, { workspaceId: inbox.workspaceId, mediaId })
  updateFileState(inbox, id, mediaId, state)
}

/**
 * Shows the state of a file. For a downloaded file, refetches its message first, since size, type and preview come with
 * it.
 */
export function updateFileState(inbox: Inbox, id: string, mediaId: string, state: Media['state']): void {
  changeThread(inbox, id, (thread) =>
    mapMessages(thread, (message) => {
      if (message.media?.id !== mediaId || message.media.state === state || state === 'here') return message
      return { ...message, media: { ...message.media, state } }
    }),
  )
  const gallery = galleriesKey(inbox.workspaceId, id)
  void refetchQueries(inbox.queries, gallery)
}

const around = 10

/** Refetches a message if the thread contains it. */
export async function refetchMessage(inbox: Inbox, id: string, messageId: string): Promise<void> {
  const { queries, workspaceId } = inbox
  const known = queries.getQueryData<Thread>(threadKey(workspaceId, id))?.items ?? []
  if (!known.some((item) => item.id === messageId)) return
  const page = await readThread(workspaceId, id, { aroundMessage: messageId, limit: around })
  changeThread(inbox, id, (thread) =>
    replaceItems(
      thread,
      page.items.filter((item) => item.id === messageId),
    ),
  )
}
