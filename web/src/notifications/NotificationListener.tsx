import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react'
import { useLive, useOnStreamOpen } from '../api/live.ts'
import {
  defaultTone,
  loadNotificationPreferences,
  markNotificationsRead,
  type Notification,
  pushKey,
  refetchNotifications,
  useNotifications,
} from '../data/notifications.ts'
import { isBrowserEnabled, renewSubscription, showBrowserNotification } from '../data/team/push.ts'
import { playSound, unlockAudioOnGesture } from '../shared/sound.ts'
import { t } from '../text/index.ts'
import { setRailBadge } from '../ui/rail-badges.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { hasVisibleUnread, newNotifications, type ViewState } from './notification-rules.ts'
import { customerLabel, notificationPath, notificationText } from './notification-texts.ts'

const eventNames = ['team.notices']

/** Shows the number of unread notifications and alerts of new ones, on every page. Loaded after the page. */
export default function NotificationListener() {
  const workspaceId = useWorkspaceId()
  const viewState = useViewState()
  useLiveNotifications(workspaceId)
  useUnreadBadge(workspaceId)
  useMarkSeen(workspaceId, viewState)
  useAlerts(workspaceId, viewState)
  useBrowserNotifications(workspaceId)
  useEffect(unlockAudioOnGesture, [])
  return null
}

/** Events of the app alone are not repeated after a break: refetches instead. */
function useLiveNotifications(workspaceId: string): void {
  const queries = useQueryClient()
  const refetch = useCallback(() => void refetchNotifications(queries, workspaceId), [queries, workspaceId])
  useLive(eventNames, refetch)
  useOnStreamOpen(refetch)
}

function useUnreadBadge(workspaceId: string): void {
  const unread = useNotifications(workspaceId).data?.unread ?? 0
  useEffect(() => {
    setRailBadge('notifications', { count: unread, tone: 'accent', label: t.notifications.unread({ count: unread }) })
    // Badge of the installed app.
    if ('setAppBadge' in navigator) void navigator.setAppBadge(unread).catch(() => {})
    return () => setRailBadge('notifications', null)
  }, [unread])
}

function useViewState(): ViewState {
  const conversationId = useLocation({
    select: ({ pathname }) => {
      const [, , , page, id] = pathname.split('/')
      return page === 'inbox' && id !== undefined && id !== '' ? id : null
    },
  })
  return { conversationId, isVisible: useSyncExternalStore(onVisibilityChange, isSeen) }
}

function onVisibilityChange(changed: () => void): () => void {
  const ending = new AbortController()
  const options = { signal: ending.signal }
  document.addEventListener('visibilitychange', changed, options)
  window.addEventListener('focus', changed, options)
  window.addEventListener('blur', changed, options)
  return () => ending.abort()
}

const isSeen = (): boolean => document.visibilityState === 'visible' && document.hasFocus()

/** Marks notifications of the open conversation as read. */
function useMarkSeen(workspaceId: string, viewState: ViewState): void {
  const { notifications = [] } = useNotifications(workspaceId).data ?? {}
  const { conversationId } = viewState
  const hasUnread = hasVisibleUnread(notifications, viewState)
  useEffect(() => {
    if (hasUnread && conversationId !== null)
      void markNotificationsRead(workspaceId, { conversationId }).catch(() => {})
  }, [workspaceId, hasUnread, conversationId])
}

function useAlerts(workspaceId: string, { conversationId, isVisible }: ViewState): void {
  const queries = useQueryClient()
  const { data } = useNotifications(workspaceId)
  const known = useRef<{ workspaceId: string; to: string } | null>(null)
  useEffect(() => {
    if (data === undefined) return
    const newest = data.notifications[0]?.createdAt ?? ''
    // Notifications from before the page was opened do not alert.
    const before = known.current?.workspaceId === workspaceId ? known.current.to : newest
    known.current = { workspaceId, to: newest > before ? newest : before }
    const newOnes = newNotifications(data.notifications, before, { conversationId, isVisible })
    if (newOnes.length > 0 && !data.isMuted) void alertUser(queries, workspaceId, newOnes, isVisible).catch(() => {})
  }, [queries, data, conversationId, isVisible, workspaceId])
}

async function alertUser(
  queries: QueryClient,
  workspaceId: string,
  newOnes: readonly Notification[],
  isVisible: boolean,
): Promise<void> {
  const { ways, tone = defaultTone } = await loadNotificationPreferences(queries, workspaceId)
  const withSound = newOnes.findLast(({ kind }) => ways[kind].sound)
  if (withSound !== undefined) void playSound(withSound.id, tone)
  if (isVisible) return
  for (const one of newOnes.filter(({ kind }) => ways[kind].browser)) {
    const shown = { title: notificationText(one), body: customerLabel(one), url: notificationPath(workspaceId, one) }
    await showBrowserNotification(workspaceId, { id: one.id, ...shown })
  }
}

/** Follows clicks on system notifications, and renews the push subscription in this session. */
function useBrowserNotifications(workspaceId: string): void {
  const navigate = useNavigate()
  const queries = useQueryClient()
  useEffect(() => {
    if (!isBrowserEnabled(workspaceId)) return
    void pushKey(queries, workspaceId)
      .then((key) => renewSubscription(workspaceId, key))
      .catch(() => {})
  }, [queries, workspaceId])
  useEffect(() => {
    if (!('serviceWorker' in navigator)) return
    const onMessage = ({ data }: MessageEvent) => {
      if (typeof data?.open === 'string' && data.open.startsWith('/w/')) void navigate({ to: data.open })
    }
    navigator.serviceWorker.addEventListener('message', onMessage)
    return () => navigator.serviceWorker.removeEventListener('message', onMessage)
  }, [navigate])
}
