import { useNotifications } from '@mantine/notifications'
import { Suspense, useRef } from 'react'
import { later } from './later.ts'

const NoticeList = later(() => import('./NoticeList.tsx'))

/** Where notices stand, from the first one on. */
export function NoticePlace() {
  const wereAny = useRef(false)
  const { notifications } = useNotifications()
  wereAny.current ||= notifications.length > 0
  return (
    wereAny.current && (
      <Suspense>
        <NoticeList />
      </Suspense>
    )
  )
}
