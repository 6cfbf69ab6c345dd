/** What people are told of. What of it is told by whom, the rooms say that record it. */
export const noticeKinds = ['mention', 'assigned', 'handover', 'waiting', 'connection'] as const
export type NoticeKind = (typeof noticeKinds)[number]

/** Nothing is told at all without the bell; the others are beside it. */
export const noticeWays = ['bell', 'sound', 'browser', 'push'] as const
export type NoticeWay = (typeof noticeWays)[number]

export type Ways = Record<NoticeKind, Record<NoticeWay, boolean>>

const all = { bell: true, sound: true, browser: true, push: true }

/** As it is for who has chosen nothing. Browser and push ask the browser first, so that nobody is surprised by them. */
export const usualWays: Ways = {
  mention: all,
  assigned: all,
  handover: all,
  waiting: { ...all, sound: false },
  connection: all,
}

/** What was stored, with the usual for a kind that is newer. */
export function waysOf(stored: Partial<Ways> | null): Ways {
  return { ...usualWays, ...stored }
}

/** With what a page sounds. */
export const noticeTones = ['chime', 'drop', 'knock'] as const
export type NoticeTone = (typeof noticeTones)[number]
