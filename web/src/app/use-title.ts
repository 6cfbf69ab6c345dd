import { useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { t } from '../text/index.ts'
import { useRailBadge } from '../ui/rail-badges.ts'
import { rooms } from './rooms.ts'

/** The tab tells where one is, and how much in the inbox is unread. */
export function useTitle(): void {
  const unread = useRailBadge('inbox')
  const path = useLocation({ select: ({ pathname }) => pathname.split('/')[3] })
  useEffect(() => {
    const room = rooms.find((one) => one.path === path)
    const place = room === undefined ? t.common.product : `${room.title()} · ${t.common.product}`
    document.title = unread === null ? place : `(${unread.count}) ${place}`
  }, [unread, path])
}
