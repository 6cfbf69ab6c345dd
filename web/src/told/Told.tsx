import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useLive, useOnOpen } from '../api/live.ts'
import {
  markNoticesRead,
  type Notice,
  noticeSettings,
  pushKey,
  readNoticesAgain,
  useNotices,
  usualTone,
} from '../data/notices.ts'
import { isShownHere, renew, showInBrowser } from '../data/team/push.ts'
import { hearFirstGesture, sound } from '../shared/sound.ts'
import { t } from '../text/index.ts'
import { setRailBadge } from '../ui/rail-badges.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { freshOf, isBeingSeen, type Looking } from './told-rules.ts'
import { customerOf, placeOf, sentenceOf } from './words.ts'

const names = ['team.notices']

/** Counts at the bell what is unread, and tells of what is new, on whatever page one is. It may come a moment after the page. */
export default function Told() {
  const workspaceId = useWorkspaceId()
  const looking = useLooking()
  useFresh(workspaceId)
  useCount(workspaceId)
  useSeen(workspaceId, looking)
  useTelling(workspaceId, looking)
  useBrowser(workspaceId)
  useEffect(hearFirstGesture, [])
  return null
}

/** What is sent to the app alone is not sent again after a break: it is read again. */
function useFresh(workspaceId: string): void {
  const queries = useQueryClient()
  const again = useCallback(() => void readNoticesAgain(queries, workspaceId), [queries, workspaceId])
  useLive(names, again)
  useOnOpen(again)
}

function useCount(workspaceId: string): void {
  const unread = useNotices(workspaceId).data?.unread ?? 0
  useEffect(() => {
    setRailBadge('told', { count: unread, tone: 'accent', label: t.told.unread({ count: unread }) })
    // On the icon of the app, where it is installed.
    if ('setAppBadge' in navigator) void navigator.setAppBadge(unread).catch(() => {})
    return () => setRailBadge('told', null)
  }, [unread])
}

function useLooking(): Looking {
  const conversationId = useLocation({
    select: ({ pathname }) => {
      const [, , , room, id] = pathname.split('/')
      return room === 'inbox' && id !== undefined && id !== '' ? id : null
    },
  })
  const [isVisible, setVisible] = useState(isSeen)
  useEffect(() => {
    const look = () => setVisible(isSeen())
    document.addEventListener('visibilitychange', look)
    window.addEventListener('focus', look)
    window.addEventListener('blur', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      window.removeEventListener('focus', look)
      window.removeEventListener('blur', look)
    }
  }, [])
  return { conversationId, isVisible }
}

const isSeen = (): boolean => document.visibilityState === 'visible' && document.hasFocus()

/** What tells of the conversation that is open is read with it. */
function useSeen(workspaceId: string, looking: Looking): void {
  const { notices = [] } = useNotices(workspaceId).data ?? {}
  const { conversationId } = looking
  const isToRead = isBeingSeen(notices, looking)
  useEffect(() => {
    if (isToRead && conversationId !== null) void markNoticesRead(workspaceId, { conversationId }).catch(() => {})
  }, [workspaceId, isToRead, conversationId])
}

function useTelling(workspaceId: string, { conversationId, isVisible }: Looking): void {
  const queries = useQueryClient()
  const { data } = useNotices(workspaceId)
  const known = useRef<{ workspaceId: string; to: string } | null>(null)
  useEffect(() => {
    if (data === undefined) return
    const newest = data.notices[0]?.createdAt ?? ''
    // What was there when the page was opened is no news.
    const before = known.current?.workspaceId === workspaceId ? known.current.to : newest
    known.current = { workspaceId, to: newest > before ? newest : before }
    const fresh = freshOf(data.notices, before, { conversationId, isVisible })
    if (fresh.length > 0 && !data.isQuiet) void tell(queries, workspaceId, fresh, isVisible).catch(() => {})
  }, [queries, data, conversationId, isVisible, workspaceId])
}

async function tell(
  queries: QueryClient,
  workspaceId: string,
  fresh: readonly Notice[],
  isVisible: boolean,
): Promise<void> {
  const { ways, tone = usualTone } = await noticeSettings(queries, workspaceId)
  const loud = fresh.findLast(({ kind }) => ways[kind].sound)
  if (loud !== undefined) void sound(loud.id, tone)
  if (isVisible) return
  for (const one of fresh.filter(({ kind }) => ways[kind].browser)) {
    const shown = { title: sentenceOf(one), body: customerOf(one), url: placeOf(workspaceId, one) }
    await showInBrowser(workspaceId, { id: one.id, ...shown })
  }
}

/** Goes where a notice of the browser leads, and has a browser that was asked told again in this session. */
function useBrowser(workspaceId: string): void {
  const navigate = useNavigate()
  const queries = useQueryClient()
  useEffect(() => {
    if (!isShownHere(workspaceId)) return
    void pushKey(queries, workspaceId)
      .then((key) => renew(workspaceId, key))
      .catch(() => {})
  }, [queries, workspaceId])
  useEffect(() => {
    if (!('serviceWorker' in navigator)) return
    const hear = ({ data }: MessageEvent) => {
      if (typeof data?.open === 'string' && data.open.startsWith('/w/')) void navigate({ to: data.open })
    }
    navigator.serviceWorker.addEventListener('message', hear)
    return () => navigator.serviceWorker.removeEventListener('message', hear)
  }, [navigate])
}
