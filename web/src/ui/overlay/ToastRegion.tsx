import { useNotifications } from '@mantine/notifications'
import { Suspense, useRef } from 'react'
import { prefetchedComponent } from './lazy.ts'

const ToastList = prefetchedComponent(() => import('./ToastList.tsx'))

/** Where notices stand, from the first one on. */
export function ToastRegion() {
  const wereAny = useRef(false)
  const { notifications } = useNotifications()
  wereAny.current ||= notifications.length > 0
  return (
    wereAny.current && (
      <Suspense>
        <ToastList />
      </Suspense>
    )
  )
}
