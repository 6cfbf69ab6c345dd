import type { Notice } from '../data/notices.ts'

/** What somebody looks at: the place of the page, and whether anybody sees it. */
export interface Looking {
  /** The conversation that is open; null: none. */
  conversationId: string | null
  isVisible: boolean
}

/** More that come at once are not each worth a sound and a pop-up. */
const mostApart = 3

/** What of the notices came since the newest that was known, unread, and is not being looked at: the oldest first. */
export function freshOf(notices: readonly Notice[], knownTo: string, { conversationId, isVisible }: Looking): Notice[] {
  const seen = (one: Notice) => isVisible && conversationId !== null && one.conversation?.id === conversationId
  return notices
    .filter((one) => one.readAt === null && one.createdAt > knownTo && !seen(one))
    .slice(0, mostApart)
    .toReversed()
}

/** Whether some of it is told of the conversation that somebody looks at: it is read by that. */
export const isBeingSeen = (notices: readonly Notice[], { conversationId, isVisible }: Looking): boolean =>
  isVisible && notices.some((one) => one.readAt === null && one.conversation?.id === (conversationId ?? ''))
