import type { Db } from '../base/db.ts'
import { noticesTopic } from './record.ts'

/** What each frame tells the pages that are open, for the description of the stream. */
export const noticeFrames = { 'team.notices': '`{}`: what you were told of is new, or read: list it anew' }

/** What tells the browsers of this node. */
interface Pages {
  isFollowed(workspaceId: string): boolean
  tell(workspaceId: string, news: { name: string; data: object; userId?: string }): void
}

/** Tells the pages of people whose notices changed, whichever node changed them. Returns how to stop. */
export function tellOfNews(db: Pick<Db, 'onNews'>, pages: Pages): () => void {
  return db.onNews(noticesTopic, (news) => {
    const [workspaceId = '', userId = ''] = news.split(' ')
    if (pages.isFollowed(workspaceId)) pages.tell(workspaceId, { name: 'team.notices', data: {}, userId })
  })
}
