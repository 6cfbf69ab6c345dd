import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import { notFound } from '../../base/errors.ts'
import { tellOfMedia } from '../conversation/team-news.ts'
import { tellComing } from './fetch-queries.ts'
import type { MediaState } from './media.ts'

interface Row {
  conversationId: string
  messageId: string | null
  state: MediaState
  isBeingFetched: boolean
}

/**
 * Has a file that did not come tried again now, as if for the first time. Returns where it stands then: what is here, or is
 * being fetched, stays as it is. Throws 404 for an id that is no file of a message of the workspace.
 */
export async function retryMedia(
  { db, clock }: { db: Db; clock: Clock },
  workspaceId: string,
  mediaId: string,
): Promise<MediaState> {
  const now = clock.now()
  return db.tx(async (tx) => {
    const row = await lockRow(tx, workspaceId, mediaId, now)
    if (row === undefined)
      throw notFound('No message of the workspace has a file with this id. Take an id from the conversation.')
    const { conversationId, messageId, state, isBeingFetched } = row
    if (state === 'here' || isBeingFetched) return state
    await tx`
      update media
      set state = 'coming',
        failure = null,
        tries = 0,
        due_at = ${now},
        lease_until = null,
        updated_at = ${now}
      where workspace_id = ${workspaceId}
        and id = ${mediaId}`
    tellOfMedia(tx, { workspaceId, conversationId, messageId, mediaId, state: 'coming' })
    tellComing(tx, workspaceId)
    return 'coming'
  })
}

async function lockRow(tx: Tx, workspaceId: string, mediaId: string, now: Date): Promise<Row | undefined> {
  const [row] = await tx<Row[]>`
    select conversation_id as "conversationId", message_id as "messageId", state,
      lease_until is not null and lease_until > ${now} as "isBeingFetched"
    from media
    where workspace_id = ${workspaceId}
      and id = ${mediaId}
      and message_id is not null
    for no key update`
  return row
}
