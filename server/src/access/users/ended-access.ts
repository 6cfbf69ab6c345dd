import { announce, type Tx } from '../../base/db.ts'

/** Tells every process, once the transaction commits, that somebody may do less than before, or is to be asked anew. */
export const endedAccessTopic = 'standing'

/** Somebody whose requests go on: a browser that follows a workspace. */
export interface Follower {
  workspaceId: string
  userId: string | null
  sessionId: string | null
  tokenId: string | null
}

/** The person's role in this workspace has changed, or is gone. */
export const announceMember = (tx: Tx, workspaceId: string, userId: string): void =>
  announce(tx, endedAccessTopic, `member ${workspaceId} ${userId}`)

/** Every session of the person has ended. */
export const announceUser = (tx: Tx, userId: string): void => announce(tx, endedAccessTopic, `user ${userId}`)

export const announceSession = (tx: Tx, sessionId: string): void =>
  announce(tx, endedAccessTopic, `session ${sessionId}`)

export const announceToken = (tx: Tx, tokenId: string): void => announce(tx, endedAccessTopic, `token ${tokenId}`)

/** Whether an announcement is about this one. */
export function concerns(news: string, { workspaceId, userId, sessionId, tokenId }: Follower): boolean {
  const [what, id, who] = news.split(' ')
  switch (what) {
    case 'member':
      return id === workspaceId && who === userId
    case 'user':
      return id === userId
    case 'session':
      return id === sessionId
    case 'token':
      return id === tokenId
    default:
      return false
  }
}
