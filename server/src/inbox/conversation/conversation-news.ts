import { announce, type Tx } from '../../base/db.ts'

/** Conversations that look different from now on: the id is the workspace, a blank, and the conversation or nothing. */
export const conversationsTopic = 'conversations'

/** Mentions of a member that are new or read: the id is the workspace, a blank, and the user. */
export const mentionsTopic = 'mentions'

/** Files that have come, or will not: the id is `MediaNews` as JSON. */
export const mediaTopic = 'media'

export interface MediaNews {
  workspaceId: string
  conversationId: string
  messageId: string | null
  mediaId: string
  state: string
}

/** From so many on, whoever shows a list loads it anew. */
const maxTold = 100

/** Lets the pages that show these conversations know, once the transaction has committed. */
export function tellTeam(tx: Tx, workspaceId: string, conversationIds: readonly string[]): void {
  if (conversationIds.length > maxTold) tellTeamOfMany(tx, workspaceId)
  else for (const id of conversationIds) announce(tx, conversationsTopic, `${workspaceId} ${id}`)
}

export function tellTeamOfMany(tx: Tx, workspaceId: string): void {
  announce(tx, conversationsTopic, `${workspaceId} `)
}

export function tellMember(tx: Tx, workspaceId: string, userId: string): void {
  announce(tx, mentionsTopic, `${workspaceId} ${userId}`)
}

/** Lets the pages that show the conversation know that a file looks different from now on. */
export function tellOfMedia(tx: Tx, news: MediaNews): void {
  announce(tx, mediaTopic, JSON.stringify(news))
}
